internal import ArgumentParser
internal import Glibc

/// `-C DIR`, which every command takes.
struct PlaceOption: ParsableArguments {
  @Option(
    name: .customShort("C"),
    help: ArgumentHelp("Run as if started in this folder.", valueName: "dir"))
  var folders: [String] = []

  /// Goes to the folder; several add up, as git's do.
  func enter() throws(Failure) {
    for folder in folders { try Self.enter(folder) }
  }

  /// Makes `folder` the current one.
  static func enter(_ folder: String) throws(Failure) {
    // An empty value leaves the place as it is (git's rule): scripts pass `-C "$unset"`.
    guard !folder.isEmpty, chdir(folder) != 0 else { return }
    throw Failure(
      .failed, "no_such_folder",
      "the folder \(Visible.name(folder)) cannot be entered: \(Failure.reason(errno))",
      hint: "-C takes a folder in a notebook, seen from the current one")
  }
}

/// `--json`, which every command that reports takes.
struct JSONOption: ParsableArguments {
  @Flag(help: "Write JSON Lines for programs.")
  var json = false
}
