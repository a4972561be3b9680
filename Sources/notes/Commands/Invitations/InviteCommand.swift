public import ArgumentParser
internal import Channel
internal import Discovery
public import Membership
internal import Notebook
internal import Sync
internal import Watch

extension Role: ExpressibleByArgument {}

struct InviteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Let another device join the notebook, by a code that works once.",
    discussion: """
      Prints the code and waits until a device has joined by it and has everything. Only admins \
      may invite. Tell the code to nobody but the person who is to type it: whoever has it can \
      join while the invitation is open. Several can be open at once; 'notes invitations' lists \
      them.

      A device that shares another notebook with this one needs no code: --device names it, --via \
      is the folder of the notebook that both have. It is asked there, by 'notes invitations'.

      Examples:
        notes invite
        notes invite --role reader --for 5m
        notes invite --device phone --via ~/notes
      """)

  @Option(help: "What the device may do: reader, writer or admin.", completion: .roles)
  var role: Role = .writer

  @Option(name: .customLong("for"), help: .named("time", "How long it is open, as 10m or 90s."))
  var lifetime = Lifetime(seconds: 600)

  @Option(
    help: .named("name", "Invite this device, without a code."), completion: LiveCompletion.members)
  var device: String?

  @Option(
    help: .named("dir", "The notebook that it shares with this device."), completion: .directory)
  var via: String?

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if (device == nil) != (via == nil) {
      throw ValidationError("--device and --via go together.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let guest = try device.map { try InvitedDevice(named: $0, via: via ?? "") }
    let book = InvitationBook(stateFolder: notebook.stateFolder)
    let inviter = try inviter(notebook, context, book, for: guest?.member)
    let invitation = inviter.invitation
    let held =
      inviter.keepsBook
      ? nil
      : try book.hold(invitation, for: guest?.member.name, deviceID: guest?.member.deviceID)
    let watch = try held.map { try CancellationWatch($0, of: invitation) { inviter.withdraw() } }
    defer { watch?.end() }
    let report = EventReport(
      json: options.json, .invitation(guest: guest?.member.name))
    let (isOff, membership) = (discovery.isOff, context.membership)
    try inviter.run(cancellation: Interruption.token()) { event in
      if let held { Self.note(event, in: held) }
      if case .invitation(let open) = event, let guest {
        guest.tell(
          CarriedInvitation(
            open, to: membership, for: guest.member.deviceID), until: invitation,
          withoutDiscovery: isOff)
      }
      report.tell(event)
    }
    try conclude(invitation, held).end()
  }

  /// The watcher of the notebook, where one runs and nothing else was asked for; else this process.
  private func inviter(
    _ notebook: Notebook, _ context: SessionContext, _ book: InvitationBook, for guest: Member?
  ) throws -> any Inviter {
    guard context.membership.role(ofDevice: context.key.deviceID) == .admin else {
      throw MembershipError.notAnAdmin(device: context.key.deviceID)
    }
    if listen.address == nil, !discovery.isOff, let watcher = RunningWatcher.of(notebook) {
      return try watcher.invite(role: role, seconds: lifetime.seconds, for: guest)
    }
    return try OwnInviter(
      context,
      Invitation(role: role, lifetime: lifetime.seconds, avoiding: book.openLocators()),
      discovery: discovery.discovery(for: context.key.deviceID),
      listen: listen.address ?? Address(host: Address.anyHost, port: 0))
  }

  private static func note(_ event: Event, in held: HeldInvitation) {
    switch event {
    case .offered: held.note(.pending)
    case .declined: held.note(.declined)
    case .joined(_, let device): held.note(.joined, name: device.name, deviceID: device.deviceID)
    default: break
    }
  }

  private func conclude(_ invitation: Invitation, _ held: HeldInvitation?) throws -> Exit {
    let end = invitation.end
    switch end {
    case .used: return .done
    case .exhausted: held?.note(.exhausted)
    case .expired: held?.note(.expired)
    case .withdrawn, nil:
      held?.note(.cancelled)
      if Interruption.hasCome { return .interrupted }
    }
    throw Failure.invitation(ended: end, after: lifetime.seconds)
  }
}
