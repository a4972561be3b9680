import Synchronization
import TestSupport
import Testing

/// Interrupts every call of a run, or with many of them a choice, two at a time; `NOTES_FAULTS=all`
/// leaves none out, `NOTES_FAULTS=2/5` is the second of five parts of all, and `NOTES_FAULTS_LIST`
/// tells all that was found.
struct Sweep {
  /// What is run.
  let subject: String
  /// Its calls that change the file system: `KIND PATH`.
  let calls: [String]
  let faults: [Fault]
  /// How many interruptions at the most.
  let budget: Int
  /// What those have in common for which `interrupt` says so.
  let trait: String

  func run(_ interrupt: @escaping @Sendable (_ point: Int, Fault) throws -> Bool) {
    let began = Moment.now
    var random = SplitMix64.reported(for: subject)
    let all = faults.flatMap { fault in
      (1...calls.count).compactMap { point -> (point: Int, fault: Fault)? in
        // Torn differs from killed only in writes.
        fault == .torn && !calls[point - 1].contains("write ") ? nil : (point, fault)
      }
    }
    let wanted = TestEnvironment.variable("NOTES_FAULTS") ?? ""
    let part = wanted.split(separator: "/").compactMap { Int($0) }
    let chosen =
      part.count == 2
      ? all.enumerated().filter { $0.offset % part[1] == part[0] - 1 }.map(\.element)
      : wanted == "all" ? all : Array(all.shuffled(using: &random).prefix(budget))
    let next = Atomic(0)
    let violations = Mutex<[String]>([])
    let noted = Mutex<[String]>([])
    let ends = EventLog<Bool>()
    for _ in 0..<2 {
      startThread { [calls] in
        while true {
          let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard index < chosen.count else { break }
          let (point, fault) = chosen[index]
          do {
            if try interrupt(point, fault) {
              noted.withLock { $0.append("\(fault) \(calls[point - 1])") }
            }
          } catch {
            violations.withLock { $0.append("\(error)") }
          }
        }
        ends.append(true)
      }
    }
    #expect(ends.wait(within: 3_600) { $0.count == 2 })
    let kinds = Dictionary(grouping: calls) { $0.prefix { $0 != " " } }
      .map { "\($0.value.count) \($0.key)" }.sorted()
    print(
      "\(subject): \(calls.count) calls (\(kinds.joined(separator: ", "))), \(chosen.count) of"
        + " \(all.count) interruptions (\(faults.map(\.description).joined(separator: "; "))), of"
        + " which \(noted.withLock { $0.count }) \(trait), \(Int(Moment.now - began)) s")
    let found = violations.withLock { $0 }
    #expect(found.isEmpty, "\(found.count) violations, the first: \(found.first ?? "")")
    if TestEnvironment.variable("NOTES_FAULTS_LIST") != nil {
      for violation in found { print(violation) }
      for call in noted.withLock({ $0 }) { print("\(trait): \(call)") }
    }
  }
}
