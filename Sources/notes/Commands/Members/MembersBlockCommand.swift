internal import ArgumentParser

struct MembersBlockCommand: BlockingCommand {
  static let blocks = true
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

  @OptionGroup var member: MemberOptions
  @OptionGroup var options: CommonOptions

  static func words(_ name: String) -> String {
    """
    This device exchanges nothing with \(name) any more.
    What it writes still comes through other devices; 'notes members remove' ends that.
    """
  }
}

struct MembersUnblockCommand: BlockingCommand {
  static let blocks = false
  static let configuration = CommandConfiguration(
    commandName: "unblock",
    abstract: "Exchange with a blocked device again.",
    discussion: """
      Examples:
        notes members unblock 'old laptop'
      """)

  @OptionGroup var member: MemberOptions
  @OptionGroup var options: CommonOptions

  static func words(_ name: String) -> String { "This device exchanges with \(name) again." }
}
