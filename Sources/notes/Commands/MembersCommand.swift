internal import ArgumentParser
internal import Membership
internal import Notebook

struct MembersCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "List the devices that may exchange the notebook, with their roles.",
    discussion: """
      A reader receives, a writer also sends, an admin also invites. The list is what this device \
      knows; it grows with every sync.

      Examples:
        notes members
        notes members --all --json
      """)

  @Flag(help: "Also devices that were removed.")
  var all = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let members = try MembershipStore.open(in: notebook.stateFolder + "/membership").members()
    let report = MembersReport(
      members: members.filter { all || !$0.isRemoved },
      thisDevice: notebook.identity.device.deviceID)
    if format.json {
      for line in report.json { Output.standard.event(line) }
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}
