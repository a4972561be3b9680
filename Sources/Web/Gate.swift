internal import Synchronization
internal import System

/// Who is let in: notes-security(7), "What the page lets in".
///
/// The link holds a token, which is good once. Whoever opens it gets a cookie, for the addresses below
/// one that only this browser learns: browsers show the cookies of a host to all its ports, and so to
/// other users' programs, but only below their path.
final class Gate: Sendable {
  /// `127.0.0.1:PORT`: the one name that the page answers to.
  let host: String
  /// The path that all pages are below, with a slash in front and none behind.
  let root: String
  private let cookie: String
  private let token: Mutex<String?>
  private let wrong: Mutex<Allowance>

  /// Wrong tokens and cookies a second that are answered with a page; the right ones always are.
  private static let wrongASecond = 10.0

  init(port: Int) {
    host = "127.0.0.1:\(port)"
    root = "/" + Self.secret(bytes: 16)
    cookie = Self.secret(bytes: 32)
    token = Mutex(Self.secret(bytes: 32))
    wrong = Mutex(Allowance(aSecond: Self.wrongASecond, atOnce: 50))
  }

  /// From getrandom(2), in lower case base32.
  private static func secret(bytes count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return String(base32: bytes).lowercased()
  }

  private var origin: String { "http://" + host }

  /// The link that lets in, once; nil when it was used.
  var link: String? { token.withLock { $0 }.map { "\(origin)/open/\($0)" } }

  enum Verdict: Sendable {
    /// The link was opened: the browser gets this cookie.
    case opened(cookie: String)
    /// Let in: the parts of the path below `root`.
    case allowed([String])
    case refused(Int, String)
  }

  /// What the head of a request says of where it comes from.
  struct Head: Sendable {
    var method: String
    /// Path and query.
    var target: String
    /// Each header's values, by its name in lower case.
    var headers: [String: [String]]

    func only(_ name: String) -> String? {
      let values = headers[name] ?? []
      return values.count == 1 ? values[0] : nil
    }

    var path: Substring { target.prefix { $0 != "?" } }
    var query: Substring { target.dropFirst(path.count).dropFirst() }
  }

  func judge(_ head: Head) -> Verdict {
    // A name that an attacker's DNS server has point here is refused first.
    guard head.only("host") == host else { return .refused(421, "This is another host's address.") }
    guard ["GET", "POST"].contains(head.method) else {
      return .refused(405, "Only GET and POST are answered.")
    }
    guard let parts = Request.parts(ofPath: head.path) else {
      return .refused(404, "There is no such page.")
    }
    if parts.count == 2, parts[0] == "open" { return open(parts[1], head) }
    if let refusal = foreignness(of: head) { return .refused(403, refusal) }
    guard parts.first == String(root.dropFirst()), hasCookie(head) else { return stranger() }
    return .allowed(Array(parts.dropFirst()))
  }

  /// Why a request that another site's page has made is refused; nil for others.
  private func foreignness(of head: Head) -> String? {
    let sites = head.headers["sec-fetch-site"] ?? []
    // "none" is the user: an address typed, or a bookmark.
    guard sites.isEmpty || sites == ["same-origin"] || sites == ["none"] && head.method == "GET"
    else { return "Another site's page asks this." }
    let origins = head.headers["origin"] ?? []
    let isOwn = origins == [origin]
    return isOwn || origins.isEmpty && head.method == "GET" ? nil : "Another site's page asks this."
  }

  private func open(_ guess: String, _ head: Head) -> Verdict {
    guard head.method == "GET" else { return .refused(405, "The link is opened with GET.") }
    let isRight = token.withLock { token in
      guard let wanted = token, Self.isEqual(wanted, guess) else { return false }
      token = nil
      return true
    }
    guard isRight else { return stranger() }
    return .opened(
      cookie: "notes=\(cookie); Path=\(root); HttpOnly; SameSite=Strict")
  }

  private func hasCookie(_ head: Head) -> Bool {
    let cookies = (head.headers["cookie"] ?? []).flatMap { $0.split(separator: ";") }
    return cookies.contains { item in
      let value = item.drop { $0 == " " }
      return value.hasPrefix("notes=") && Self.isEqual(cookie, String(value.dropFirst(6)))
    }
  }

  private func stranger() -> Verdict {
    guard wrong.withLock({ $0.take() }) else { return .refused(429, "Too many wrong tries.") }
    return .refused(
      401,
      "This needs the link that 'notes web' printed. It is good once: end 'notes web' with "
        + "Ctrl-C and start it again for another one.")
  }

  /// Takes as long for every guess of the right length.
  private static func isEqual(_ secret: String, _ guess: String) -> Bool {
    let (left, right) = (Array(secret.utf8), Array(guess.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// How often something may happen.
struct Allowance: Sendable {
  private let rate: Double
  private let most: Double
  private var left: Double
  private var last = Instant.now

  /// So often a second, after so often at once.
  init(aSecond rate: Double, atOnce most: Double) {
    (self.rate, self.most, left) = (rate, most, most)
  }

  /// Whether it may happen now.
  mutating func take() -> Bool {
    let now = Instant.now
    left = min(most, left + rate * (now - last))
    last = now
    guard left >= 1 else { return false }
    left -= 1
    return true
  }
}
