internal import ArgumentParser
internal import Membership
internal import Notebook
internal import Sync

struct InvitationsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invitations",
    abstract: "List the invitations of this device; cancel them; answer those of others.",
    discussion: """
      Lists what 'notes invite' opened here, the newest first, and the invitations that other \
      members of this notebook sent to this device.

      Examples:
        notes invitations
        notes invitations cancel 42
        notes invitations accept laptop ~/second
        notes invitations decline laptop
      """,
    subcommands: [
      InvitationsCancelCommand.self, InvitationsAcceptCommand.self,
      InvitationsDeclineCommand.self,
    ])

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let report = InvitationsReport(
      made: InvitationBook(stateFolder: notebook.stateFolder).all(),
      received: ReceivedInvitations(stateFolder: notebook.stateFolder).all())
    options.write(lines: report.json, text: report.text(on: Console.output, now: TimeText.now))
  }
}

struct InvitationsCancelCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel an open invitation.",
    discussion: """
      The 'notes invite' that holds it open ends.

      Examples:
        notes invitations cancel 42
      """)

  @Argument(help: "The first two digits of its code.")
  var locator: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    // Who pastes the whole code means its beginning.
    let digits = InvitationCode(parsing: locator)?.locator ?? locator
    guard try InvitationBook(stateFolder: notebook.stateFolder).cancel(locator: digits) else {
      throw Failure(
        .failed, "no_such_invitation", "no invitation '\(Visible.name(digits))' is open here",
        hint: "'notes invitations' lists them")
    }
    options.tell(["type": "cancelled", "locator": digits], "Cancelled: \(digits).")
  }
}
