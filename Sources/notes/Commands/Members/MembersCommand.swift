internal import ArgumentParser
internal import Membership
internal import Notebook

struct MembersCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "List the devices that may exchange the notebook, change roles, remove devices.",
    discussion: """
      A reader receives, a writer also sends, an admin also invites, changes roles and removes. \
      The list is what this device knows; it grows with every sync, and so do changes travel.

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

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let report = try MembersReport(
      members: OwnDevice.membership(of: notebook).members(), includingRemoved: all, of: notebook,
      live: RunningWatcher.peers(of: notebook) ?? [])
    if format.json {
      for line in report.json { Output.standard.event(line) }
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}
