internal import Glibc
public import State
public import System

/// The guests of this device and the open links for further guests: `.git/notes/guests`, a line for
/// each.
///
///     guest ROLE SINCE PATH-HASH COOKIE-HASH NAME
///     invitation ROLE EXPIRES TOKEN-HASH NAME
///  The book is read again for every request, so a removed guest loses access at once.
public struct GuestBook: Sendable {
  /// The limit for guests and open links together.
  static let capacity = 64
  private static let maximumSize = 64 << 10

  private let path: String
  private let lockPath: String

  /// The book in this state folder.
  public init(stateFolder: StateFolder) {
    (path, lockPath) = (stateFolder[.guests], stateFolder[.guestsLock])
  }

  // MARK: Questions

  /// The guests, in the order in which they joined.
  public func guests() throws -> [Guest] { try read().guests }

  /// The links that are still valid.
  public func invitations(now: Int64 = WallClock.now()) throws -> [GuestInvitation] {
    try read().invitations.filter { $0.isGood(at: now) }
  }

  /// The guest among `guests` who has one of these cookies, for this path; nil if there is none.
  package static func guest(
    below path: String, cookies: [String], among guests: [Guest]
  ) throws -> Guest? {
    let id = try SecretText.hash(path)
    guard let guest = guests.first(where: { $0.id == id }) else { return nil }
    return try cookies.contains { try SecretText.hash($0) == guest.cookie } ? guest : nil
  }

  /// The link with this token, if it is valid.
  public func invitation(_ token: String, now: Int64 = WallClock.now()) throws -> GuestInvitation? {
    let hash = try SecretText.hash(token)
    return try invitations(now: now).first { $0.token == hash }
  }

  /// The path of the guest among `guests` who used the link with this token; nil if there is none.
  package static func path(ofToken token: String, among guests: [Guest]) throws -> String? {
    let path = try GuestSecrets.path(of: token)
    let id = try SecretText.hash(path)
    return guests.contains { $0.id == id } ? path : nil
  }

  // MARK: Changes

  /// Makes a link that works once, for a day.
  ///
  /// - Parameter name: the guest's name; if nil, the guest chooses it.
  /// - Returns: the link and its token, which is not stored.
  /// - Throws: `NameDefect`, `GuestError.nameTaken`, `GuestError.tooMany`.
  public func invite(
    _ name: String?, as role: Role, now: Int64 = WallClock.now()
  ) throws -> (invitation: GuestInvitation, token: String) {
    let token = SecretText.random(bytes: 32)
    let invitation = GuestInvitation(
      name: name, role: role, expires: now + GuestInvitation.lifetime,
      token: try SecretText.hash(token))
    try change(now: now) { entries in
      if let name { try entries.check(name) }
      guard entries.count < Self.capacity else { throw GuestError.tooMany(Self.capacity) }
      entries.invitations.append(invitation)
    }
    return (invitation, token)
  }

  /// Makes the person with the token a guest, and the link invalid. A name in the link takes precedence
  /// over the guest's.
  ///
  /// - Throws: `NameDefect`, `GuestError.nameTaken`, `GuestError.noInvitation`. Then the link stays
  ///   valid.
  public func accept(
    _ token: String, name: String, now: Int64 = WallClock.now()
  ) throws -> (guest: Guest, secrets: GuestSecrets) {
    let secrets = try GuestSecrets.made(by: token)
    let hash = try SecretText.hash(token)
    let guest = try change(now: now) { entries -> Guest in
      guard let place = entries.invitations.firstIndex(where: { $0.token == hash }) else {
        throw GuestError.noInvitation
      }
      let invitation = entries.invitations.remove(at: place)
      let name = invitation.name ?? name
      try entries.check(name)
      let guest = Guest(
        name: name, role: invitation.role, since: now, id: try SecretText.hash(secrets.path),
        cookie: try SecretText.hash(secrets.cookie))
      entries.guests.append(guest)
      return guest
    }
    return (guest, secrets)
  }

  /// Removes a guest, or cancels a link that was made for a guest.
  ///
  /// - Returns: the name as it was in the book, and the guest's role.
  /// - Throws: `GuestError.noSuchGuest`.
  public func remove(_ name: String) throws -> (name: String, role: Role) {
    try change { entries in
      if let guest = entries.guests.first(where: { $0.name.isSameName(as: name) }) {
        // Remove every guest with this name: a file that people edited may have several.
        entries.guests.removeAll { $0.name.isSameName(as: name) }
        return (guest.name, guest.role)
      }
      let place = entries.invitations.firstIndex { $0.name?.isSameName(as: name) == true }
      guard let place else { throw GuestError.noSuchGuest(name) }
      let invitation = entries.invitations.remove(at: place)
      return (invitation.name ?? name, invitation.role)
    }
  }

  /// Cancels a link. Does nothing if somebody has used it.
  public func withdraw(_ invitation: GuestInvitation) throws {
    try change { entries in entries.invitations.removeAll { $0.token == invitation.token } }
  }

  /// Gives a guest another role.
  ///
  /// - Throws: `GuestError.noSuchGuest`.
  public func setRole(_ role: Role, of name: String) throws -> Guest {
    try change { entries in
      guard let place = entries.guests.firstIndex(where: { $0.name.isSameName(as: name) }) else {
        throw GuestError.noSuchGuest(name)
      }
      entries.guests[place].role = role
      return entries.guests[place]
    }
  }

  // MARK: The file

  private struct Entries {
    var guests: [Guest] = []
    var invitations: [GuestInvitation] = []

    var count: Int { guests.count + invitations.count }

    /// Throws if no further guest can have this name.
    func check(_ name: String) throws {
      try DisplayName.check(name)
      let taken = guests.map(\.name) + invitations.compactMap(\.name)
      if let other = taken.first(where: { $0.isSameName(as: name) }) {
        throw GuestError.nameTaken(other)
      }
    }
  }

  /// How long to wait for another process that changes the book, in seconds.
  private static let patience = 10.0

  private func change<Result>(
    now: Int64 = WallClock.now(), _ body: (inout Entries) throws -> Result
  ) throws -> Result {
    guard let lock = try Disk.lock(lockPath, until: Instant.now + Self.patience) else {
      throw MembershipError.system(call: "flock", path: lockPath, code: EWOULDBLOCK)
    }
    return try withExtendedLifetime(lock) {
      var entries = try read()
      entries.invitations.removeAll { !$0.isGood(at: now) }
      let result = try body(&entries)
      try write(entries)
      return result
    }
  }

  private func write(_ entries: Entries) throws {
    var lines = StateLines()
    for guest in entries.guests {
      lines.append(
        "guest",
        "\(guest.role.rawValue) \(guest.since) \(guest.id) \(guest.cookie) \(guest.name)")
    }
    for link in entries.invitations {
      lines.append(
        "invitation", "\(link.role.rawValue) \(link.expires) \(link.token) \(link.name ?? "")")
    }
    try Disk.replace(path, with: lines.bytes)
  }

  private func read() throws -> Entries {
    guard let content = try Disk.readIfThere(path, limit: Self.maximumSize) else {
      return Entries()
    }
    var status = stat()
    if Counted.stat(path, &status) == 0, status.st_mode & 0o022 != 0 {
      throw GuestError.openToOthers(path: path)
    }
    var entries = Entries()
    for line in StateLines(parsing: content).lines {
      switch line.key {
      case "guest": Guest(line: line.value).map { entries.guests.append($0) }
      case "invitation": GuestInvitation(line: line.value).map { entries.invitations.append($0) }
      default: break
      }
    }
    return entries
  }
}

extension Guest {
  /// Nil for a line that this program did not write.
  fileprivate init?(line: String) {
    let words = line.split(separator: " ", maxSplits: 4).map(String.init)
    guard words.count == 5, let role = Role(rawValue: words[0]), role != .admin,
      let since = Int64(words[1]), DisplayName.isAccepted(words[4])
    else { return nil }
    self.init(name: words[4], role: role, since: since, id: words[2], cookie: words[3])
  }
}

extension GuestInvitation {
  /// Nil for a line that this program did not write.
  fileprivate init?(line: String) {
    let words = line.split(separator: " ", maxSplits: 3).map(String.init)
    guard words.count >= 3, let role = Role(rawValue: words[0]), role != .admin,
      let expires = Int64(words[1])
    else { return nil }
    let name = words.count > 3 ? words[3] : nil
    if let name, !DisplayName.isAccepted(name) { return nil }
    self.init(name: name, role: role, expires: expires, token: words[2])
  }
}

extension String {
  /// Whether people would confuse the names: case and composition are ignored.
  fileprivate func isSameName(as other: String) -> Bool { lowercased() == other.lowercased() }
}
