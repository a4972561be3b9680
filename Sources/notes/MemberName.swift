internal import Membership

/// A name of a member on a command line: the device's name, or the beginning of its ID.
struct MemberName {
  let text: String

  /// How many characters of a device ID are enough to name it.
  private static let shortestID = 4

  init(_ text: String) { self.text = text }

  /// The members that it may mean. What is spelled exactly so goes before what differs by case.
  func matches(among members: [Member]) -> [Member] {
    let exact = members.filter { $0.name == text }
    if !exact.isEmpty { return exact }
    let folded = text.lowercased()
    return members.filter {
      $0.name.lowercased() == folded
        || (folded.utf8.count >= Self.shortestID && $0.deviceID.lowercased().hasPrefix(folded))
    }
  }

  /// The one member that it means. A device that was removed is told apart from one that never was
  /// a member.
  func member(among everybody: [Member]) throws(Failure) -> Member {
    let found = try members(among: everybody)
    guard found.count == 1 else {
      let choices = found.prefix(5).map { "\($0.deviceID.prefix(8)) (\($0.role.rawValue))" }
      throw Failure(
        .failed, "ambiguous_member", "several devices match '\(Visible.name(text))'",
        hint: "write the beginning of a device ID: \(Phrase.list(choices))")
    }
    return found[0]
  }

  func members(among everybody: [Member]) throws(Failure) -> [Member] {
    let present = everybody.filter { !$0.isRemoved }
    let found = matches(among: present)
    if !found.isEmpty { return found }
    if let removed = matches(among: everybody).first {
      throw Failure(
        .failed, "already_removed", "\(Visible.name(removed.name)) has been removed already",
        hint: "'notes invite' lets it join again")
    }
    throw Failure(
      .failed, "no_such_member", "no member is called '\(Visible.name(text))'",
      hint: Failure.guess(text, among: present.map(\.name)) ?? "'notes members' lists them")
  }

  /// As `members(among:)`, where this device itself cannot be meant.
  func others(than own: String, among everybody: [Member]) throws(Failure) -> [Member] {
    let others = everybody.filter { $0.deviceID != own }
    if matches(among: others).isEmpty, !matches(among: everybody).isEmpty {
      throw Failure(
        .failed, "own_device", "'\(Visible.name(text))' is this device itself",
        hint: "name another one: 'notes members' lists them")
    }
    return try members(among: others)
  }
}
