internal import ArgumentParser

/// How long an invitation is open: a number with `s` or `m`; without either it is minutes. From 10
/// seconds to 10 minutes, as notes-security(7) allows.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
  var seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let units: [Character: Double] = ["s": 1, "m": 60]
    let unit = argument.last.flatMap { units[$0] }
    guard let number = Double(unit == nil ? argument : String(argument.dropLast())),
      (10...600).contains(number * (unit ?? 60))
    else { return nil }
    seconds = number * (unit ?? 60)
  }

  var description: String {
    seconds.truncatingRemainder(dividingBy: 60) == 0
      ? "\(Int(seconds / 60))m" : "\(Int(seconds))s"
  }
}
