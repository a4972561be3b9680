internal import ArgumentParser
internal import Membership
internal import Notebook
internal import Sync

struct InvitationsCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "invitations",
    abstract: "List the invitations of this device; take them back; answer those of others.",
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

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let report = InvitationsReport(
      made: InvitationBook(stateFolder: notebook.stateFolder).all(),
      received: ReceivedInvitations(stateFolder: notebook.stateFolder).all())
    if format.json {
      for line in report.json { Output.standard.event(line) }
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}

struct InvitationsCancelCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Take back an open invitation.",
    discussion: """
      The 'notes invite' that holds it open ends.

      Examples:
        notes invitations cancel 42
      """)

  @Argument(help: "The first two digits of its code.")
  var locator: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    // Who pastes the whole code means its beginning.
    let digits = InvitationCode(parsing: locator)?.locator ?? locator
    guard try InvitationBook(stateFolder: notebook.stateFolder).cancel(locator: digits) else {
      throw Failure(
        .failed, "no_such_invitation", "no invitation '\(Visible.name(digits))' is open here",
        hint: "'notes invitations' lists them")
    }
    if format.json {
      Output.standard.event(["type": .string("cancelled"), "locator": .string(digits)])
    } else {
      Output.standard.line("Taken back: \(digits).")
    }
    return .done
  }
}
