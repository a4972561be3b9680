internal import ArgumentParser

struct BrowseCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Look through notes and their versions on the whole screen.",
    discussion: """
      Lists the notes, filtered as you type, and the versions of each; shows what a version changed, \
      or its whole text. One key restores a version, another copies it to a new note. '?' shows the \
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
