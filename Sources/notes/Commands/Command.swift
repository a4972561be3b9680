internal import ArgumentParser

/// A command of `notes`: options in, one call into the modules, one report out.
///
/// `run()` throws a `Failure`, any module's error, which the error table explains, or an `Exit` where
/// the command ends well with a code of its own.
protocol Command: ParsableCommand {
  associatedtype Options: FolderChoice
  var options: Options { get }
}

/// A command that people wait for so often that the argument parser, whose reflection takes a third
/// of `notes status`, is passed by where no option is given.
protocol PlainCommand: Command {
  /// Runs the command on its arguments, none of which is an option.
  ///
  /// - Returns: false where the parser has to look at them.
  static func run(on words: ArraySlice<String>) throws -> Bool
}
