internal import ArgumentParser
internal import Membership
internal import Notebook

struct MembersCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "List the devices that may exchange the notebook, change roles, remove devices.",
    discussion: """
      A reader receives, a writer also sends, an admin also invites, changes roles and removes. \
      The list is what this device knows; it is updated at every sync.

      Examples:
        notes members
        notes members --all --json
        notes members role phone reader
        notes members remove 'old laptop'
        notes members rename phone tablet
        notes members block 'old laptop'
      """,
    subcommands: [
      MembersRoleCommand.self, MembersRemoveCommand.self, MembersRenameCommand.self,
      MembersBlockCommand.self, MembersUnblockCommand.self, MembersResetCommand.self,
    ])

  @Flag(help: "Also devices that were removed.")
  var all = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let report = try MembersReport(
      members: notebook.membership().members(), includingRemoved: all, of: notebook,
      live: RunningWatcher.status(of: notebook))
    options.write(lines: report.json, text: report.text(on: Console.output, now: TimeText.now))
  }
}
