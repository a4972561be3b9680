import Glibc
import State
import System
import TestSupport
import Testing

@testable import Membership

/// notes-security(7), GUESTS: the book that says who is let in.
@Suite("Membership: the book of the guests") struct GuestBookTests {
  private let folder: TemporaryFolder
  private let book: GuestBook
  private let now: Int64 = 1_800_000_000
  private let day: Int64 = 24 * 60 * 60

  init() throws {
    folder = try TemporaryFolder()
    book = GuestBook(stateFolder: StateFolder(folder.path))
  }

  private func accept(_ token: String, _ name: String = "") throws -> GuestSecrets {
    try book.accept(token, name: name, now: now).secrets
  }

  /// Whether the browser with these secrets is let in.
  private func letsIn(_ secrets: GuestSecrets) throws -> Bool {
    try GuestBook.guest(
      below: secrets.path, cookies: [secrets.cookie], among: book.guests()) != nil
  }

  private func isGood(_ token: String, at time: Int64) throws -> Bool {
    try book.invitation(token, now: time) != nil
  }

  // MARK: The file

  // "a line each", and "holds the SHA-256 of path, cookie and token".
  @Test func `The file has a line for each guest and link, for its owner alone`() throws {
    let token = try book.invite("Grandma", as: .writer, now: now).token
    let secrets = try accept(token)
    let open = try book.invite(nil, as: .reader, now: now).token
    let named = try book.invite("Ben Bo", as: .writer, now: now).token
    let hash = { try SecretText.hash($0) }
    let expected = try """
    guest writer \(now) \(hash(secrets.path)) \(hash(secrets.cookie)) Grandma
    invitation reader \(now + day) \(hash(open))\u{20}
    invitation writer \(now + day) \(hash(named)) Ben Bo

    """
    #expect(try folder.text("guests") == expected)
    var status = stat()
    #expect(stat(folder["guests"], &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test
  func `A file that was cut anywhere lets nobody else in, and a line that is none is passed over`()
    throws
  {
    let secrets = try accept(try book.invite("Grandma", as: .reader, now: now).token)
    let link = try book.invite("Ben", as: .writer, now: now).token
    let whole = try Array(folder.text("guests").utf8)
    for count in whole.indices {
      try folder.write(String(decoding: whole[..<count], as: UTF8.self), to: "guests")
      let guests = try book.guests()
      #expect(
        guests.count <= 1
          && guests.allSatisfy { "Grandma".hasPrefix($0.name) && $0.role == .reader })
      let invitation = try book.invitation(link, now: now)
      #expect(invitation.map { $0.expires <= now + day } ?? true)
    }
    let (hash, other) = (try SecretText.hash(secrets.path), String(repeating: "a", count: 64))
    let lines = [
      "guest admin 1 \(hash) \(other) Eve", "guest owner 1 \(hash) \(other) Eve",
      "guest writer x \(hash) \(other) Eve", "guest writer 1 \(hash) Eve",
      "guest writer 1 \(hash) \(other) a\u{1B}[2J", "guest writer 1 \(hash) \(other) a\u{202E}b",
      "guest writer 99999999999999999999 \(hash) \(other) Eve", "guest", "", "guest ", "x y",
      "invitation admin \(now) \(other) Eve", "invitation writer \(other)",
      "invitation writer \(now) \(other) -rf",
      "guest writer 1 \(hash) \(other) "
        + String(repeating: "x", count: 65),
    ]
    try folder.write(
      lines.map { $0 + "\n" }.joined() + String(decoding: whole, as: UTF8.self), to: "guests")
    #expect(try book.guests().map(\.name) == ["Grandma"])
    #expect(try book.invitations(now: now).map(\.name) == ["Ben"])
    #expect(try letsIn(secrets) && isGood(link, at: now))
  }

  @Test func `Random bytes in the file let nobody in`() throws {
    let secrets = try accept(try book.invite("Grandma", as: .reader, now: now).token)
    let whole = try Array(folder.text("guests").utf8)
    var random = SplitMix64.reported()
    for _ in 0..<500 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      try folder.write(bytes, to: "guests")
      for guest in try book.guests() {
        #expect(guest.role != .admin)
        #expect(throws: Never.self) { try DisplayName.check(guest.name) }
      }
      let other = GuestSecrets(path: secrets.path, cookie: "a")
      #expect(try !letsIn(other))
    }
  }

  @Test func `A file of another kind or size lets nobody in, and is left as it is`() throws {
    let secrets = try accept(try book.invite("Grandma", as: .writer, now: now).token)
    let text = try folder.text("guests")
    let large = text + String(repeating: "x y\n", count: 20_000)
    try folder.write(large, to: "guests")
    #expect(throws: (any Error).self) { try book.guests() }
    #expect(throws: (any Error).self) { try book.invite(nil, as: .writer, now: now) }
    #expect(try folder.text("guests") == large)
    // Who may write it could let anybody in.
    try folder.write(text, to: "guests")
    for mode: mode_t in [0o620, 0o602, 0o666] {
      #expect(chmod(folder["guests"], mode) == 0)
      #expect(throws: GuestError.openToOthers(path: folder["guests"])) { try letsIn(secrets) }
      #expect(throws: GuestError.openToOthers(path: folder["guests"])) { try book.remove("Ben") }
    }
    #expect(chmod(folder["guests"], 0o644) == 0)
    #expect(try letsIn(secrets))
    unlink(folder["guests"])
    #expect(mkdir(folder["guests"], 0o700) == 0)
    #expect(throws: (any Error).self) { try letsIn(secrets) }
  }

  @Test func `Of a name that stands twice in the file, removal sends both away`() throws {
    let secrets = try accept(try book.invite("Grandma", as: .writer, now: now).token)
    let line = try folder.text("guests")
    try folder.write(line + line.replacing("Grandma", with: "GRANDMA"), to: "guests")
    _ = try book.remove("grandma")
    #expect(try book.guests().isEmpty && !letsIn(secrets))
  }

  // MARK: Many at once

  @Test func `Of who come at once with one link, one becomes a guest`() throws {
    let token = try book.invite(nil, as: .writer, now: now).token
    let came = many(8) { number in
      (try? book.accept(token, name: "Guest \(number)", now: now)) != nil
    }
    #expect(came.count(where: \.self) == 1)
    #expect(try book.guests().count == 1 && book.invitations(now: now).isEmpty)
  }

  // "A notebook has at most 64 guests and open links".
  @Test func `Of links that are made at once, as many are good as there is room for`() throws {
    let made = many(80) { number in
      do {
        _ = try book.invite("Guest \(number)", as: .reader, now: now)
        return true
      } catch { return false }
    }
    #expect(made.count(where: \.self) == 64)
    #expect(try book.invitations(now: now).count == 64)
    #expect(throws: GuestError.tooMany(64)) { try book.invite(nil, as: .reader, now: now) }
    // What has ended makes room.
    _ = try book.invite(nil, as: .reader, now: now + day)
  }

  /// What `body` returns on so many threads at once, each of which opens the book for itself.
  private func many(_ count: Int, _ body: @escaping @Sendable (Int) -> Bool) -> [Bool] {
    let results = BlockingQueue<Bool>()
    for number in 0..<count { startThread { results.put(body(number)) } }
    return (0..<count).compactMap { _ in results.take(until: .now + 120) }
  }

  // MARK: Names

  @Test func `A name that no device may have, or that a guest has, is nobody's`() throws {
    let token = try book.invite(nil, as: .writer, now: now).token
    let names = [
      "", " ", "a\nb", "a\u{1B}[31mb", "a\u{202E}b", "a\u{200B}b", "a/b", "-a", "a\u{0}b",
      String(repeating: "x", count: 65), String(repeating: "x", count: 1 << 20),
    ]
    for name in names {
      #expect(throws: NameDefect.self) { try accept(token, name) }
      #expect(throws: NameDefect.self) { try book.invite(name, as: .reader, now: now) }
    }
    // The link is still good, and a name of 64 characters of four bytes fits.
    _ = try accept(token, String(repeating: "𝄞", count: 64))
    _ = try book.invite("Zoë", as: .writer, now: now)
    for name in ["zoë", "ZOË", "Zoe\u{308}"] {
      #expect(throws: GuestError.nameTaken("Zoë")) { try book.invite(name, as: .reader, now: now) }
    }
  }

  // MARK: Time

  // "is good once, for a day"
  @Test func `A link is good once, and until its day is over`() throws {
    let token = try book.invite("Grandma", as: .writer, now: now).token
    #expect(try isGood(token, at: now + day - 1) && !isGood(token, at: now + day))
    #expect(throws: GuestError.noInvitation) {
      try book.accept(token, name: "", now: now + day)
    }
    let second = try book.invite("Grandma", as: .writer, now: now + day).token
    _ = try book.accept(second, name: "", now: now + day)
    #expect(throws: GuestError.noInvitation) { try book.accept(second, name: "", now: now + day) }
    #expect(throws: GuestError.noInvitation) { try book.accept("", name: "Eve", now: now) }
  }

  @Test func `A clock that is set back does not make a link good for years`() throws {
    let year = 365 * day
    let token = try book.invite("Ben", as: .writer, now: now + year).token
    #expect(try !isGood(token, at: now))
    #expect(throws: GuestError.noInvitation) { try book.accept(token, name: "", now: now) }
    // A clock that is corrected a little harms none.
    let next = try book.invite("Ben", as: .writer, now: now).token
    #expect(try isGood(next, at: now - 3_600) && !isGood(next, at: now - 2 * day))
    // Guests stay whatever it says.
    let secrets = try accept(next)
    #expect(try letsIn(secrets) && book.guests()[0].since == now)
  }
}
