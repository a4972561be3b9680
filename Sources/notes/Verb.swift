internal import ArgumentParser

/// A command of `notes`: options in, one call into the modules, one report out.
protocol Verb: ParsableCommand {
  /// `-C DIR`.
  var place: PlaceOption { get }
  /// Does what the command is for.
  ///
  /// - Throws: a `Failure`, or any module's error, which the error table explains.
  func perform() throws -> Exit
}

extension Verb {
  func run() throws {
    _ = try perform()
  }
}
