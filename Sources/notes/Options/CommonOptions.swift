internal import ArgumentParser
internal import Glibc
internal import System

/// Options that say in which folder a command runs.
protocol FolderChoice: ParsableArguments {
  func enterFolder() throws(Failure)
}

/// `-C DIR`, which every command takes.
struct FolderOption: FolderChoice {
  @Option(
    name: .customShort("C"), help: .named("dir", "Run as if started in this folder."),
    completion: .directory)
  var folders: [String] = []

  /// Goes to the folder; several add up, as git's do.
  func enterFolder() throws(Failure) {
    for folder in folders { try Self.enter(folder) }
  }

  static func enter(_ folder: String) throws(Failure) {
    // An empty value leaves the place as it is (git's rule): scripts pass `-C "$unset"`.
    guard !folder.isEmpty, chdir(folder) != 0 else { return }
    throw Failure(
      .failed, "no_such_folder",
      "the folder \(Visible.name(folder)) cannot be entered: \(String(errorNumber: errno))",
      hint: "-C takes a folder in a notebook, seen from the current one")
  }
}

/// `-C DIR` before the command.
struct LeadingFolderOption: ParsableArguments {
  @Option(
    name: .customShort("C"), help: .named("dir", "Run as if started in this folder."),
    completion: .directory)
  var folders: [String] = []
}

/// `--json` and `-C DIR`, which every command that reports takes.
struct CommonOptions: FolderChoice {
  @Flag(help: "Write JSON Lines for programs.")
  var json = false

  @OptionGroup var folder: FolderOption

  func enterFolder() throws(Failure) { try folder.enterFolder() }
}

extension CommonOptions {
  /// Tells what was done: an object for programs, or a sentence for people.
  func tell(
    _ object: @autoclosure () -> JSON, _ sentence: @autoclosure () -> String
  ) {
    write(lines: [object()], text: sentence() + "\n")
  }

  /// Writes a report: line by line for programs, or for people.
  func write<Lines: Sequence<JSON>>(
    lines: @autoclosure () -> Lines, text: @autoclosure () -> String
  ) {
    Self.write(json: json, lines: lines(), text: text())
  }

  /// As `write(lines:text:)`, where no option was parsed.
  static func write<Lines: Sequence<JSON>>(
    json: Bool, lines: @autoclosure () -> Lines, text: @autoclosure () -> String
  ) {
    if json { Output.standard.lines(lines()) } else { Output.standard.write(text()) }
  }
}

extension ArgumentHelp {
  /// Help for an argument or option whose value help calls so.
  static func named(_ value: String, _ text: String) -> ArgumentHelp {
    ArgumentHelp("\(text)", valueName: value)
  }
}
