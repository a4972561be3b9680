internal import ArgumentParser
internal import Membership

struct MembersBlockCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "block",
    abstract: "Exchange nothing with a device, on this device alone.",
    discussion: """
      Neither connects to the device nor lets it in. Nobody else learns of it, and the device stays \
      a member: what it writes still comes through others. An admin takes it out for everybody \
      with 'notes members remove'. NAME may be the beginning of a device ID.

      Examples:
        notes members block 'old laptop'
        notes members block SZ5P
      """)

  @Argument(help: "The device.")
  var name: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let change = try MembershipChange()
    let member = try change.member(named: name)
    try change.membership.setBlocked(true, device: member.deviceID, by: change.key)
    change.report(
      "blocked", on: member.deviceID, json: format.json,
      """
      This device exchanges nothing with \(Visible.name(member.name)) any more.
      What it writes still comes through other devices; 'notes members remove' ends that.
      """)
    return .done
  }
}

struct MembersUnblockCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "unblock",
    abstract: "Exchange with a blocked device again.",
    discussion: """
      Examples:
        notes members unblock 'old laptop'
      """)

  @Argument(help: "The device.")
  var name: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let change = try MembershipChange()
    let member = try change.member(named: name)
    try change.membership.setBlocked(false, device: member.deviceID, by: change.key)
    change.report(
      "unblocked", on: member.deviceID, json: format.json,
      "This device exchanges with \(Visible.name(member.name)) again.")
    return .done
  }
}
