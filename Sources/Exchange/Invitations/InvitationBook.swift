internal import Glibc
package import Membership
public import State
public import System

/// The state of an invitation, as recorded in `.git/notes/invitations`. The record does not include the
/// secret of the code.
public struct InvitationRecord: Sendable, Equatable {
  /// The states of an invitation.
  public enum State: String, Sendable, CaseIterable {
    case available
    /// A person with the code sees the offer.
    case pending
    case joined
    /// The device that got the offer did not join, and no other has used the code, which still works.
    case declined
    case expired
    case exhausted
    case cancelled

    /// Whether the invitation can still be used.
    public var isOpen: Bool { [.available, .pending, .declined].contains(self) }
  }

  /// The first two digits of the code, by which people refer to the invitation.
  public let locator: String
  package let role: Role
  /// When the invitation was made and when it ends, in seconds since 1970.
  public let created: Int64
  package let expires: Int64
  package var state = State.available
  /// The device that joined with the invitation, or for which it is meant.
  public var name: String?
  package var deviceID: String?
}

extension InvitationRecord {
  private static let format = "1"

  var serialized: [UInt8] {
    StateLines([
      "format": Self.format, "locator": locator, "role": role.rawValue, "created": created,
      "expires": expires, "state": state.rawValue, "name": name?.printable, "device": deviceID,
    ]).bytes
  }

  /// Nil if the format is unknown.
  init?(parsing values: StateLines, at path: String) throws(StateDamage) {
    if let format = values["format"], format != Self.format { return nil }
    guard let locator = values["locator"],
      locator.utf8.count == 2, locator.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let role = values["role"].flatMap(Role.init),
      let created = values[number: "created"],
      let expires = values[number: "expires"],
      let state = values["state"].flatMap(State.init)
    else { throw StateDamage(path, "a line is missing") }
    self.init(
      locator: locator, role: role, created: created, expires: expires, state: state,
      name: values["name"], deviceID: values["device"])
  }
}

/// The invitations that this device made for a notebook: `.git/notes/invitations`. Each has a file, and beside
/// it a file that is locked while a process keeps the invitation open.
public struct InvitationBook: Sendable {
  private let folder: String

  private static let remembered = 50
  private static let maximumSize = 4096

  /// The records in this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.invitations] }

  /// All open invitations and the last ended ones, newest first.
  public func all() -> [InvitationRecord] {
    names().compactMap { name in
      guard var record = read(name) else { return nil }
      if record.state.isOpen, !isHeld(name) {
        record.state = record.expires <= WallClock.now() ? .expired : .cancelled
      }
      return record
    }.sorted { ($0.created, $0.locator) > ($1.created, $1.locator) }
  }

  /// The open invitations, on any port, newest first.
  public func open() -> [InvitationRecord] { all().filter(\.state.isOpen) }

  /// The locators of all open invitations and of the last ended ones. A new invitation avoids them: a joining
  /// device may have seen the announcement of an invitation just before it ended.
  public func usedLocators() -> Set<String> { Set(all().map(\.locator)) }

  /// Records that an invitation is open, as long as the returned object exists. `name` and the ID are those of
  /// the invited device, if any.
  public func hold(
    _ invitation: Invitation, for name: String? = nil, deviceID: String? = nil,
    created: Int64 = WallClock.now()
  ) throws -> HostedInvitation {
    try forget()
    try Disk.makeFolder(folder, mode: 0o700)
    let record = InvitationRecord(
      locator: invitation.locator, role: invitation.role, created: created,
      expires: invitation.expires, name: name, deviceID: deviceID)
    // An invitation that ended in the same second may have had the same digits.
    var number = created
    func path() -> String { "\(folder)/\(number)-\(record.locator)" }
    while access(path(), F_OK) == 0, !isHeld("\(number)-\(record.locator)") { number += 1 }
    return try HostedInvitation(record, path: path())
  }

  /// Cancels the open invitation with these first digits; false if there is none.
  public func cancel(locator: String) throws -> Bool {
    for name in names() where name.hasSuffix("-" + locator) && isHeld(name) {
      guard let record = read(name), record.state.isOpen else { continue }
      let path = "\(folder)/\(name)\(HostedInvitation.cancelSuffix)"
      close(try Disk.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600))
      return true
    }
    return false
  }

  private func names() -> [String] {
    Disk.namesIfAny(in: folder).filter { name in
      name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private func read(_ name: String) -> InvitationRecord? {
    let path = "\(folder)/\(name)"
    return Disk.memory(at: path, limit: Self.maximumSize) {
      content throws(StateDamage) -> InvitationRecord? in
      try InvitationRecord(parsing: content, at: path)
    }
  }

  /// Whether a process keeps the invitation open. The kernel unlocks the files of a killed process.
  private func isHeld(_ name: String) -> Bool {
    Disk.isLocked("\(folder)/\(name)\(HostedInvitation.lockSuffix)")
  }

  private func forget() throws {
    for name in names().filter({ !isHeld($0) }).sorted().dropLast(Self.remembered) {
      for suffix in ["", HostedInvitation.lockSuffix, HostedInvitation.cancelSuffix] {
        unlink("\(folder)/\(name)\(suffix)")
      }
    }
  }
}

/// An invitation that this process keeps open.
public final class HostedInvitation: Sendable {
  static let lockSuffix = ".open"
  static let cancelSuffix = ".cancel"

  private let opened: InvitationRecord
  private let path: String
  private let lock: FileLock

  init(_ record: InvitationRecord, path: String) throws {
    opened = record
    self.path = path
    guard let lock = try Disk.lock(path + Self.lockSuffix) else {
      throw SyncError.failed("another invitation has the same first digits")
    }
    self.lock = lock
    try Disk.replace(path, with: record.serialized)
  }

  deinit {
    unlink(path + Self.lockSuffix)
    unlink(path + Self.cancelSuffix)
  }

  /// Whether somebody has asked to cancel the invitation.
  public var isCancelled: Bool { Counted.access(path + Self.cancelSuffix, F_OK) == 0 }

  /// Records the invitation's new state, and the device that joined. The record is only for people: if it cannot be
  /// written, the invitation continues.
  public func record(
    _ state: InvitationRecord.State, name: String? = nil, deviceID: String? = nil
  ) {
    var record = opened
    record.state = state
    record.name = name ?? record.name
    record.deviceID = deviceID ?? record.deviceID
    Disk.keep(record.serialized, at: path)
  }
}
