internal import ArgumentParser
internal import Channel
internal import History
internal import Membership
internal import Notebook
internal import Sync

struct InvitationsAcceptCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Join a notebook to which a member of this one invites this device.",
    discussion: """
      Shows what is offered, asks, and fetches everything, as 'notes join' does. NAME is the device \
      or the notebook; it may be left out where there is one invitation.

      Examples:
        notes invitations accept
        notes invitations accept laptop ~/second --yes
      """)

  @Argument(help: "The inviting device, or the notebook.")
  var name: String?

  @Argument(help: .named("dir", "The folder for the notebook."), completion: .directory)
  var folder: String?

  @Flag(name: .shortAndLong, help: "Join without asking.")
  var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let answer = try InvitationAnswer(to: name)
    guard yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    let dialogue = JoinDialogue(json: options.json, yes: yes)
    let place = try JoinDialogue.place(given: folder)
    let token = try Interruption.token()
    let joined: Joined
    do {
      joined = try answer.joining(into: place).run(cancellation: token) {
        dialogue.decide($0, into: place($0))
      }
    } catch SyncError.declined {
      answer.forget()
      throw SyncError.declined
    }
    answer.forget()
    try dialogue.fetch(joined, token).end()
  }
}

struct InvitationsDeclineCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "decline",
    abstract: "Decline an invitation of a member of this notebook.",
    discussion: """
      The inviting device is told, if it still waits. NAME is the device or the notebook; it may \
      be left out where there is one invitation.

      Examples:
        notes invitations decline laptop
      """)

  @Argument(help: "The inviting device, or the notebook.")
  var name: String?

  @OptionGroup var options: CommonOptions

  func run() throws {
    let answer = try InvitationAnswer(to: name)
    // Where the inviter is gone there is nobody to tell.
    _ = try? answer.joining(into: { _ in "" }).run(cancellation: Interruption.token()) { _ in false
    }
    answer.forget()
    let inviter = answer.received.inviter
    options.tell(
      ["type": "declined", "inviter": inviter],
      "Declined the invitation of \(Visible.name(inviter)).")
  }
}

/// The invitation that an answer is for, among those that came.
struct InvitationAnswer {
  let received: ReceivedInvitation
  private let list: ReceivedInvitations
  private let key: DeviceKey
  private let deviceName: String

  init(to name: String?) throws {
    let notebook = try NotebookLocator.notebook()
    key = try notebook.sessionContext().key
    deviceName = notebook.identity.device.name
    list = ReceivedInvitations(stateFolder: notebook.stateFolder)
    received = try Self.choice(of: name, among: list.all())
  }

  private static func choice(
    of name: String?, among all: [ReceivedInvitation]
  ) throws(Failure) -> ReceivedInvitation {
    let matches = all.filter { received in
      guard let name else { return true }
      return received.inviter == name || received.invitation.notebookName == name
        || (name.utf8.count >= 4 && received.inviterID.hasPrefix(name.uppercased()))
    }
    guard let received = matches.first else {
      let names = all.flatMap { [$0.inviter, $0.invitation.notebookName] }
      throw Failure(
        .failed, "no_such_invitation", "there is no such invitation for this device",
        hint: name.flatMap { Failure.guess($0, among: names) }
          ?? "'notes invitations' lists them; they come with a sync and last ten minutes")
    }
    guard matches.count == 1 else {
      let choices = matches.prefix(5).map {
        "\(Visible.name($0.inviter)) to \(Visible.name($0.invitation.notebookName))"
      }
      throw Failure(
        .failed, "ambiguous_invitation", "there are several invitations for this device",
        hint: "name the inviting device or the notebook: \(Phrase.list(choices))")
    }
    return received
  }

  /// Joins where the inviter was.
  func joining(into folder: @escaping @Sendable (PairingOffer) -> String) -> PairingClient {
    var joining = PairingClient(
      code: received.invitation.code, name: deviceName, key: key, folder: folder)
    joining.addresses = [received.address]
    return joining
  }

  func forget() { list.forget(received) }
}
