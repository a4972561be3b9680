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

      The new device is a person by itself. With --mine it is another device of the person whose device \
      this one is: 'notes members' lists them together, and a change by that name is for all of them. \
      With --mine any member can ask for one, and an admin's device lets it in.

      To invite several people at once, give --count, or a --name for each: every one gets a code.

      With --hub it prints a link instead, which you send to somebody in another place. It works \
      once, for 7 days, and any admin's device that visits the hub lets the new device in. The link gives no \
      access to the hub: its owner must let the new device's user write there, even a reader.

      With --file it writes the notebook and an invitation into a file, for a device that shares neither a \
      network nor a hub with this one. 'notes join FILE' there makes the request that \
      'notes invitations answer' takes here.

      Examples:
        notes invite
        notes invite --role reader --for 5m
        notes invite --mine
        notes invite --name anna --name ben
        notes invite --device phone --via ~/notes
        notes invite --hub home --for 3d
        notes invite --file /media/stick/home.invitation
      """)

  @Option(
    help: "What the device may do: reader, writer (the default) or admin.", completion: .roles)
  var role: Role?

  @Flag(help: "The new device is another one of yours.") var mine = false

  @Option(help: .named("n", "How many people to invite, 10 at most, each by a code."))
  var count: Int?

  @Option(
    name: .customLong("name"), parsing: .unconditionalSingleValue,
    help: .named("name", "A person to invite, by name; repeat it for each person."))
  var names: [String] = []

  @Option(
    name: .customLong("for"),
    help: .named("time", "How long it stays open; by default 10m, or 7d with --hub or --file."))
  var lifetime: Lifetime?

  @Option(
    help: .named("name", "Make a link that waits at this hub."), completion: LiveCompletion.hubs)
  var hub: String?

  @Option(
    help: .named("file", "Write the notebook and an invitation into this new file."),
    completion: .file())
  var file: String?

  @Option(
    help: .named("name", "Invite this device, without a code."), completion: LiveCompletion.members)
  var device: String?

  @Option(
    help: .named("dir", "The notebook that both devices share."), completion: .directory)
  var via: String?

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if (device == nil) != (via == nil) { throw ValidationError("--device and --via go together.") }
    if hub != nil, device != nil || listen.address != nil {
      throw ValidationError("--hub goes with neither --device nor --listen.")
    }
    if file != nil, hub != nil || device != nil || listen.address != nil {
      throw ValidationError("--file goes with none of --hub, --device and --listen.")
    }
    let people = try InvitedPeople(count: count, names: names, mine: mine)
    if device != nil, !people.isPlain {
      throw ValidationError("--device goes with neither --count nor --name.")
    }
    if file != nil, people.all.count > 1 { throw ValidationError("--file invites one person.") }
    let range = hub == nil && file == nil ? Lifetime.ofCode : Lifetime.ofLink
    if let lifetime, !range.contains(lifetime.seconds) {
      throw ValidationError(
        "--for is from \(Lifetime(seconds: range.lowerBound)) to "
          + "\(Lifetime(seconds: range.upperBound))"
          + "\(hub != nil ? " with --hub" : file != nil ? " with --file" : "").")
    }
  }

  func run() throws {
    let people = try InvitedPeople(count: count, names: names, mine: mine)
    let seconds = Int64(lifetime?.seconds ?? Lifetime.link)
    if let file {
      return try FileInvite(
        file: file, role: role, people: people, seconds: seconds, options: options
      ).run()
    }
    if let hub {
      return try LinkInvite(
        hub: hub, role: role, people: people, seconds: seconds, options: options
      ).run()
    }
    let context = try NotebookLocator.notebook().sessionContext()
    let role = try people.role(role, by: context)
    let all = try people.checked(by: context)
    let invitee = try device.map { try InvitedDevice(named: $0, via: via ?? "", discovery) }
    defer { invitee?.stop() }
    let host = try listen.configured().host
    let isAny = ["*", "::", "0.0.0.0"].contains(host)
    let report = EventReport(
      json: options.json,
      .invitation(
        guest: invitee?.member.name, hosts: isAny ? Address.ofThisMachine(limit: 2) : [host],
        needsAdmin: context.membership.role(ofDevice: context.key.deviceID) != .admin))
    var open: [OpenInvitation] = []
    var ends: [String: InvitationEnd] = [:]
    try run(in: context, for: all, as: role, or: invitee?.member) { event in
      switch event {
      case .invitation(let one):
        invitee?.tell(of: one, to: context.membership)
        open.append(one)
        if open.count == all.count { report.write(open) }
        return
      case .joined(let locator, _): ends[locator] = .used
      case .ended(let locator, let how): ends[locator] = how
      default: break
      }
      report.write(event)
    }
    let unused = ends.values.filter { $0 != .used }
    let isCancelled = ends.count < all.count || unused.contains(.withdrawn)
    if ends.count == all.count, unused.isEmpty { return }
    if isCancelled, Interruption.hasCome { return try Exit.interrupted.end() }
    throw Failure.invitations(
      ended: unused + Array(repeating: .withdrawn, count: all.count - ends.count), of: all.count,
      after: self.seconds)
  }

  /// How long an invitation with a code is open.
  private var seconds: Double { lifetime?.seconds ?? Lifetime.ofCode.upperBound }

  /// Runs the invitation in the notebook's watcher, if there is one and no option prevents it;
  /// otherwise in this process.
  private func run(
    in context: SessionContext, for people: [InvitedPerson], as role: Role, or invitee: Member?,
    onEvent: (Event) -> Void
  ) throws {
    let isPlain = listen.address == nil && !discovery.isOff
    let watcher = isPlain ? try RunningWatcher.of(Notebook.open(at: context.folder)) : nil
    let host = InvitationHost(context, watcher: watcher, listen: listen.address ?? .anywhere) {
      [isOff = discovery.isOff, device = context.key.deviceID] in
      isOff ? nil : AvahiDiscovery(deviceID: device)
    }
    try host.invite(
      role: role, people: people, seconds: seconds, for: invitee,
      cancellation: Interruption.token(), onEvent: onEvent)
  }
}

/// Another device that is invited by way of a notebook that both devices share.
final class InvitedDevice: Sendable {
  let member: Member
  private let context: SessionContext
  private let discovery: DiscoveryOption
  private let isOver = BlockingQueue<Bool>()

  /// How long an attempt may look for the device, and the pause after an attempt, in seconds.
  private static let (window, pause) = (10.0, 2.0)

  init(named name: String, via folder: String, _ discovery: DiscoveryOption) throws {
    self.discovery = discovery
    let notebook = try Notebook.open(at: Notebook.find(from: NotebookLocator.folder(folder)))
    context = try notebook.sessionContext()
    let members = context.membership.members()
    member = try members.members(named: name, besides: context.key.deviceID).member(named: name)
  }

  /// Tells the device, in the session of the shared notebook's watcher or in a new one, repeatedly,
  /// until the device was reached or `stop` was called.
  func tell(of invitation: OpenInvitation, to membership: MembershipStore) {
    let carried = CarriedInvitation(invitation, to: membership, for: member.deviceID)
    // A failure is harmless: the code can be typed instead.
    try? startThread { [self] in
      // Without a watcher, this process tells the device.
      let watcher = (try? Notebook.open(at: context.folder)).flatMap { RunningWatcher.of($0) }
      // While the connection lasts, a session that begins later also tells the device.
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
        // If the device was not reached, there is another attempt.
        if let outcome = try? run.run(), !outcome.sessions.isEmpty { return }
      } while isOver.take(until: .now + Self.pause) == nil
    }
  }

  func stop() { isOver.put(true) }
}

/// How long an invitation is open: a number with `s`, `m`, `h` or `d`, or a number of minutes.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
  var seconds: Double

  /// The limits of notes-security(7) for a code, and for a link.
  static let (ofCode, ofLink) = (10.0...600, 3_600.0...30 * 86_400)
  /// The default for a link.
  static let link = 7.0 * 86_400

  private static let units: KeyValuePairs<Character, Double> = [
    "d": 86_400, "h": 3_600, "m": 60, "s": 1,
  ]

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let unit = argument.last.flatMap { last in Self.units.first { $0.key == last }?.value }
    guard let number = Double(unit == nil ? argument : String(argument.dropLast())),
      number.isFinite, number > 0
    else { return nil }
    seconds = number * (unit ?? 60)
  }

  var description: String {
    let (unit, length) =
      Self.units.first { seconds.truncatingRemainder(dividingBy: $0.value) == 0 } ?? ("s", 1)
    return "\(Int(seconds / length))\(unit)"
  }
}
