internal import ArgumentParser
internal import Membership

/// What the commands that concern one member take.
struct MemberOptions: ParsableArguments {
  @Argument(help: "The device.", completion: LiveCompletion.members)
  var name: String
}

/// A command that blocks a member or lets it in again.
protocol BlockingCommand: Command {
  static var blocks: Bool { get }
  /// What was done to the device of this name.
  static func words(_ name: String) -> String
  var member: MemberOptions { get }
  var options: CommonOptions { get }
}

extension BlockingCommand {
  func run() throws {
    let change = try MembershipChange()
    let device = try change.member(named: member.name)
    try change.membership.setBlocked(Self.blocks, device: device.deviceID, by: change.key)
    change.report(
      Self.blocks ? "blocked" : "unblocked", on: device.deviceID, options,
      Self.words(Visible.name(device.name)))
  }
}
