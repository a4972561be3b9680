internal import Glibc
package import Membership
public import State
public import System

/// The state of an invitation, as it is noted in `.git/notes/invitations`. The secret of its code is not in
/// it.
public struct InvitationRecord: Sendable, Equatable {
  /// The states of an invitation.
  public enum State: String, Sendable, CaseIterable {
    case available
    /// A person with the code looks at the offer.
    case pending
    case joined
    /// The person who looked at it declined, and no other came.
    case declined
    case expired
    case exhausted
    case cancelled

    /// Whether it can still be used.
    public var isOpen: Bool { self == .available || self == .pending }
  }

  /// The first two digits of the code: what people know the invitation by.
  public let locator: String
  package let role: Role
  /// When it was made and when it ends, in seconds since 1970.
  public let created: Int64
  package let expires: Int64
  package var state = State.available
  /// The device that joined by it, or that it is meant for.
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

  /// Nil for one of another format.
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

/// The invitations that were made on this device for a notebook: `.git/notes/invitations`, a file each,
/// and beside it one that is locked for as long as the invitation is held open.
public struct InvitationBook: Sendable {
  private let folder: String

  private static let remembered = 50
  private static let maximumSize = 4096

  /// The book of the notebook with this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.invitations] }

  /// All that are open, and the last ones that were, the newest first.
  public func all() -> [InvitationRecord] {
    names().compactMap { name in
      guard var record = read(name) else { return nil }
      if record.state.isOpen, !isHeld(name) {
        record.state = record.expires <= WallClock.now() ? .expired : .cancelled
      }
      return record
    }.sorted { ($0.created, $0.locator) > ($1.created, $1.locator) }
  }

  /// Those that are open, on whatever port, the newest first.
  public func open() -> [InvitationRecord] { all().filter(\.state.isOpen) }

  /// The first digits of those that are open, and of the last ones that were, which a new one avoids: who
  /// looks around may have heard of one a moment before it ended.
  public func usedLocators() -> Set<String> { Set(all().map(\.locator)) }

  /// Notes that an invitation is open; it is for as long as the returned object lives.
  /// Name and ID are those of the device that it is meant for, if for one.
  public func hold(
    _ invitation: Invitation, for name: String? = nil, deviceID: String? = nil,
    created: Int64 = WallClock.now()
  ) throws -> HostedInvitation {
    try forget()
    try Disk.makeFolder(folder, mode: 0o700)
    let record = InvitationRecord(
      locator: invitation.locator, role: invitation.role, created: created,
      expires: invitation.expires, name: name, deviceID: deviceID)
    // One that ended in the same second may have had the same digits.
    var number = created
    func path() -> String { "\(folder)/\(number)-\(record.locator)" }
    while access(path(), F_OK) == 0, !isHeld("\(number)-\(record.locator)") { number += 1 }
    return try HostedInvitation(record, path: path())
  }

  /// Takes back the open invitation with these first digits; false when there is none.
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

  /// Whether a process holds it open: the kernel unlocks the files of one that was killed.
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

/// An invitation that this process holds open.
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

  /// Whether somebody asked to take it back.
  public var isCancelled: Bool { Counted.access(path + Self.cancelSuffix, F_OK) == 0 }

  /// Records what became of it, and which device joined. It is news for people: where it cannot be
  /// written, the invitation goes on.
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
