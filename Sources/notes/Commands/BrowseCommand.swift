internal import ArgumentParser

struct BrowseCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Look through notes and their versions on the whole screen.",
    discussion: """
      A list of the notes, filtered as you type; the versions of each; what a version changed, or \
      its whole text. One key restores a version or copies it to a note of its own. '?' shows the \
      keys.

      Examples:
        notes browse
      """)

  @OptionGroup var options: FolderOption

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let terminal = try FullScreen()
    var session = BrowserSession(
      notebook: notebook, terminal: terminal, usesColour: Console.output.usesColour)
    try session.run().end()
  }
}
