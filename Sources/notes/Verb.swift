internal import ArgumentParser

/// A command of `notes`: options in, one call into the modules, one report out.
protocol Verb: ParsableCommand {
  /// `-C DIR`.
  var place: PlaceOption { get }
  /// Whether programs read the output.
  var writesJSON: Bool { get }
  /// Does what the command is for.
  ///
  /// - Throws: a `Failure`, or any module's error, which the error table explains.
  func perform() throws -> Exit
}

extension Verb {
  var writesJSON: Bool { false }

  func run() throws {
    _ = try perform()
  }
}
