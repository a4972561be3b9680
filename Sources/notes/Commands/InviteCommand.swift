public import ArgumentParser
internal import Channel
internal import Discovery
public import Membership
internal import Sync
internal import Watch

extension Role: ExpressibleByArgument {}

struct InviteCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Let another device join the notebook, by a code that works once.",
    discussion: """
      Prints the code and waits until a device has joined by it and has everything. Only admins \
      may invite. Tell the code to nobody but the person who is to type it: whoever has it can \
      join while the invitation is open.

      Examples:
        notes invite
        notes invite --role reader --for 5
      """)

  @Option(help: "What the device may do: reader, writer or admin.")
  var role: Role = .writer

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How many minutes the invitation is open.", valueName: "minutes"))
  var minutes = 10

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    if !(1...10).contains(minutes) {
      throw ValidationError("--for takes a number of minutes from 1 to 10.")
    }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let context = try OwnDevice.context(in: notebook)
    let finder = discovery.discovery(for: context.key.deviceID)
    defer { finder?.stop() }
    let service = try Service(
      contexts: [context], discovery: finder,
      listen: listen.address ?? Address(host: Address.anyHost, port: 0),
      logger: ServiceLogging.silent)
    let invitation = try Invitation(role: role, lifetime: Double(minutes) * 60)
    try service.open(invitation)
    let report = ServiceReport(json: format.json, tellsPeople: true)
    try service.run(cancellation: Interruption.token(), until: invitation) { report.tell($0) }
    switch invitation.end {
    case .used: return .done
    case .exhausted:
      throw Failure(
        .refusedByPeer, "wrong_code", "three attempts with a wrong code ended the invitation",
        hint: "'notes invite' opens another")
    case .expired:
      throw Failure(
        .failed, "expired", "nobody joined in \(Counted.things(minutes, "minute"))",
        hint: "'notes invite' opens another invitation")
    case .withdrawn, nil: return Interruption.hasCome ? .interrupted : .failed
    }
  }
}
