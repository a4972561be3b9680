public import ArgumentParser
internal import Discovery
internal import Exchange
public import Membership
internal import Notebook
internal import System
internal import Watch

extension Role: ExpressibleByArgument {}

struct InviteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Let another device join the notebook, by a code that works once.",
    discussion: """
      Prints the code and waits until a device has joined with it and has everything. Only admins \
      can invite. Keep the code secret: anyone who has it can join while the invitation is open. \
      Several can be open at once; 'notes invitations' lists them.

      A device that shares another notebook with this one needs no code: --device names it, --via \
      is the folder of the notebook that both have. It is asked there, by 'notes invitations'.

      Examples:
        notes invite
        notes invite --role reader --for 5m
        notes invite --device phone --via ~/notes
      """)

  @Option(help: "What the device may do: reader, writer or admin.", completion: .roles)
  var role: Role = .writer

  @Option(name: .customLong("for"), help: .named("time", "How long it stays open, as 10m or 90s."))
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
    if (device == nil) != (via == nil) { throw ValidationError("--device and --via go together.") }
  }

  func run() throws {
    let context = try NotebookLocator.notebook().sessionContext()
    let invitee = try device.map { try InvitedDevice(named: $0, via: via ?? "", discovery) }
    defer { invitee?.stop() }
    let host = try listen.configured().host
    let isAny = ["*", "::", "0.0.0.0"].contains(host)
    let report = EventReport(
      json: options.json,
      .invitation(
        guest: invitee?.member.name, hosts: isAny ? Address.ofThisMachine(limit: 2) : [host]))
    var end: InvitationEnd?
    try run(in: context, for: invitee?.member) { event in
      switch event {
      case .invitation(let open): invitee?.tell(of: open, to: context.membership)
      case .joined: end = .used
      case .ended(_, let how): end = how
      default: break
      }
      report.write(event)
    }
    if end == .used { return }
    if end == nil || end == .withdrawn, Interruption.hasCome { return try Exit.interrupted.end() }
    throw Failure.invitation(ended: end, after: lifetime.seconds)
  }

  /// In the notebook's watcher, if one runs and nothing else was asked for; else in this process.
  private func run(
    in context: SessionContext, for invitee: Member?, onEvent: (Event) -> Void
  ) throws {
    try context.membership.demandAdmin(context.key.deviceID)
    let isPlain = listen.address == nil && !discovery.isOff
    let watcher = isPlain ? try RunningWatcher.of(Notebook.open(at: context.folder)) : nil
    let host = InvitationHost(context, watcher: watcher, listen: listen.address ?? .anywhere) {
      [isOff = discovery.isOff, device = context.key.deviceID] in
      isOff ? nil : AvahiDiscovery(deviceID: device)
    }
    try host.invite(
      role: role, seconds: lifetime.seconds, for: invitee, cancellation: Interruption.token(),
      onEvent: onEvent)
  }
}

/// A device that is invited through a notebook that it shares with this one.
final class InvitedDevice: Sendable {
  let member: Member
  private let context: SessionContext
  private let discovery: DiscoveryOption
  private let isOver = BlockingQueue<Bool>()

  /// How many seconds a try may look for the device, and the pause after one.
  private static let (window, pause) = (10.0, 2.0)

  init(named name: String, via folder: String, _ discovery: DiscoveryOption) throws {
    self.discovery = discovery
    let notebook = try Notebook.open(at: Notebook.find(from: NotebookLocator.folder(folder)))
    context = try notebook.sessionContext()
    let members = context.membership.members()
    member = try members.members(named: name, besides: context.key.deviceID).member(named: name)
  }

  /// Tells the device in the session that the watcher of the shared notebook holds, or in one opened
  /// for it, again and again until the device was reached or `stop` was called.
  func tell(of invitation: OpenInvitation, to membership: MembershipStore) {
    let carried = CarriedInvitation(invitation, to: membership, for: member.deviceID)
    // The code can be typed all the same.
    try? startThread { [self] in
      // Without a watcher this process tells it.
      let watcher = (try? Notebook.open(at: context.folder)).flatMap { RunningWatcher.of($0) }
      // A session that begins later tells it, too, for as long as the connection lasts.
      defer { withExtendedLifetime(watcher) {} }
      if let watcher, watcher.offer(carried, within: 1) {
        _ = isOver.take(until: .now + 3_600)
        return
      }
      repeat {
        var run = SyncRun(context: context)
        run.options.invitation = carried
        run.peers = [member.deviceID]
        run.window = Self.window
        run.discovery = discovery.discovery(for: context.key.deviceID)
        // A device that was not reached is tried again.
        if let outcome = try? run.run(), !outcome.sessions.isEmpty { return }
      } while isOver.take(until: .now + Self.pause) == nil
    }
  }

  func stop() { isOver.put(true) }
}

/// How long an invitation is open: a number with `s` or `m`; without either it is minutes. From 10
/// seconds to 10 minutes, as notes-security(7) allows.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
  var seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let units: [Character: Double] = ["s": 1, "m": 60]
    let unit = argument.last.flatMap { units[$0] }
    guard let number = Double(unit == nil ? argument : String(argument.dropLast())),
      (10...600).contains(number * (unit ?? 60))
    else { return nil }
    seconds = number * (unit ?? 60)
  }

  var description: String {
    seconds.truncatingRemainder(dividingBy: 60) == 0 ? "\(Int(seconds / 60))m" : "\(Int(seconds))s"
  }
}
