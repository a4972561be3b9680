internal import Membership
internal import NIOHTTP1
internal import Synchronization
internal import System

/// Decides which requests are admitted: notes-security(7), "What the page lets in".
///
/// The link has a token, which works once. The browser that opens it gets a cookie for the addresses below a
/// path that only this browser learns. Browsers send a host's cookies to all its ports, and so to other users'
/// programs, but only below the cookie's path.
final class Gate: Sendable {
  /// The page of this machine's own browsers.
  let local: Entrance
  /// The path prefix of all pages, with a slash in front and none at the end.
  let root: String
  private let cookie: String
  private let token: String
  private let isUsed = Mutex(false)
  private let notebooks: ServedNotebooks
  /// Whether the owner's pages begin with a list of notebooks, each with a path of its own.
  private let isOfAll: Bool
  /// The limits of wrong attempts, by the address of the browser.
  private let wrong = Mutex<[String: TokenBucket]>([:])

  /// How many wrong tokens and cookies a second get an answer; right ones always do.
  private static let wrongASecond = 10.0
  /// How many addresses are counted separately; the others share one count.
  private static let mostPlaces = 1_000

  /// A gate to these notebooks.
  init(port: Int, _ notebooks: ServedNotebooks, isOfAll: Bool = false) {
    local = .local(port: port)
    (self.notebooks, self.isOfAll) = (notebooks, isOfAll)
    root = "/" + SecretText.random(bytes: 16)
    cookie = SecretText.random(bytes: 32)
    token = SecretText.random(bytes: 32)
  }

  /// The link, which works once; nil when it was used.
  var link: String? { isUsed.withLock { $0 } ? nil : "\(local.origin)/open/\(token)" }

  /// The path of the certificate that people install for the page on the network.
  static let authorityName = "authority.crt"

  enum Verdict: Sendable {
    /// The link was opened. The browser gets this cookie, and continues at the root. A used link leads there
    /// again, but without a cookie, because the browser that used it already has one.
    case opened(root: String, cookie: String?)
    /// The style sheet, which the page for strangers also uses.
    case style
    case allowed(Admission)
    /// The certificate of the page's authority, which anybody may download.
    case authority
    case refused(Int, String)
  }

  /// The admitted visitor, and the requested page.
  struct Admission: Sendable {
    let visitor: Visitor
    /// The notebook; nil for the list of them.
    let site: Site?
    /// The parts of the path below the visitor's root.
    let path: [String]
  }

  /// - Parameter place: the part of the client's address for which attempts are counted.
  func judge(_ head: HTTPRequestHead, at entrance: Entrance, from place: String) -> Verdict {
    // A name that an attacker's DNS server resolves to this machine is refused first.
    guard let origin = entrance.origin(ofHost: head.only("host")) else {
      return .refused(421, "The page is not served under this host name.")
    }
    guard [.GET, .POST].contains(head.method) else {
      return .refused(405, "This page answers only GET and POST.")
    }
    guard let parts = Request.parts(ofPath: head.path) else {
      return .refused(404, "There is no such page.")
    }
    if let first = parts.first, entrance.network != nil,
      first == "open" || first == root.dropFirst()
    {
      return .refused(403, "This link works only on the machine itself. Join as a guest.")
    }
    if parts.count == 2, parts[0] == "open" { return open(parts[1], head, place) }
    if parts == [Self.authorityName], head.method == .GET, entrance.network != nil {
      return .authority
    }
    let isLink = parts.count == 2 && parts[0] == Visitor.linkPath && head.method == .GET
    // A link may be opened from a mail or a message, which is another site's page.
    if !isLink, let refusal = foreignness(of: head, origin) { return .refused(403, refusal) }
    if let admission = admission(parts, head, entrance) { return .allowed(admission) }
    if head.method == .GET, parts == ["style.css"] { return .style }
    if isLink, let root = usedRoot(parts[1]) { return .opened(root: root, cookie: nil) }
    return stranger(place, hasLink: parts.first == Visitor.linkPath)
  }

  /// The owner's admission, for this path with its cookie; nil otherwise.
  private func admission(_ parts: [String], _ head: HTTPRequestHead, _ entrance: Entrance)
    -> Admission?
  {
    guard let first = parts.first else { return nil }
    if first == root.dropFirst() {
      let isOwner = cookies(of: head, entrance, below: root).contains { Self.isEqual(cookie, $0) }
      return isOwner ? ownerAdmission(below: Array(parts.dropFirst())) : nil
    }
    if first == Visitor.linkPath {
      guard parts.count > 1 else { return nil }
      return admission(parts.dropFirst(2)) { site in
        try site.guests.invitation(parts[1]).map { .invited($0, token: parts[1]) }
      }
    }
    let shown = cookies(of: head, entrance, below: first)
    return admission(parts.dropFirst()) { try $0.visitor(below: first, cookies: shown) }
  }

  /// The root of the guest who used this link.
  private func usedRoot(_ token: String) -> String? {
    // A book of guests that cannot be read admits no guest.
    notebooks.sites.lazy.compactMap { (try? $0.path(ofToken: token)) ?? nil }.first
  }

  private func ownerAdmission(below path: [String]) -> Admission {
    guard isOfAll else {
      let owner = Visitor.owner(root: root, shelf: nil)
      return Admission(visitor: owner, site: notebooks.sites.first, path: path)
    }
    guard let name = path.first, let site = notebooks.site(named: name) else {
      return Admission(visitor: .owner(root: root, shelf: root), site: nil, path: path)
    }
    return Admission(
      visitor: .owner(root: "\(root)/\(name)", shelf: root), site: site,
      path: Array(path.dropFirst()))
  }

  /// Admission to the notebook of which the visitor is a guest: the visitor cannot see any other.
  private func admission(
    _ path: ArraySlice<String>, _ visitor: (Site) throws -> Visitor?
  ) -> Admission? {
    for site in notebooks.sites {
      // A visitor who cannot be looked up is not admitted.
      guard let visitor = try? visitor(site) else { continue }
      return Admission(visitor: visitor, site: site, path: Array(path))
    }
    return nil
  }

  private static let fromAnotherSite = "The request comes from another site's page."

  /// The reason why a request from another site's page is refused; nil for others.
  private func foreignness(of head: HTTPRequestHead, _ origin: String) -> String? {
    let sites = head.headers["sec-fetch-site"]
    // "none" is a navigation by the user: a typed address, or a bookmark.
    guard sites.isEmpty || sites == ["same-origin"] || sites == ["none"] && head.method == .GET
    else { return Self.fromAnotherSite }
    let origins = head.headers["origin"]
    let isOwn = origins == [origin]
    return isOwn || origins.isEmpty && head.method == .GET ? nil : Self.fromAnotherSite
  }

  private func open(_ guess: String, _ head: HTTPRequestHead, _ place: String) -> Verdict {
    guard head.method == .GET else { return .refused(405, "Open the link with GET.") }
    guard Self.isEqual(token, guess) else { return stranger(place) }
    let wasUsed = isUsed.withLock { isUsed in
      defer { isUsed = true }
      return isUsed
    }
    return .opened(root: root, cookie: wasUsed ? nil : local.cookie(cookie, below: root))
  }

  /// The values of cookies with the page's name; a browser sends one.
  private func cookies(
    of head: HTTPRequestHead, _ entrance: Entrance, below root: String
  ) -> [String] {
    guard let name = entrance.cookieName(below: root).map({ $0 + "=" }) else { return [] }
    let items = head.headers["cookie"].flatMap { $0.split(separator: ";") }
    let ours = items.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(name) }
    return ours.prefix(8).map { String($0.dropFirst(name.count)) }
  }

  /// - Parameter hasLink: whether the address is that of an invitation.
  private func stranger(_ place: String, hasLink: Bool = false) -> Verdict {
    let mayTry = wrong.withLock { wrong in
      // Attempts by an address that were long ago are forgotten.
      if wrong.count >= Self.mostPlaces { wrong = wrong.filter { !$0.value.isFull } }
      let key = wrong.count < Self.mostPlaces || wrong[place] != nil ? place : ""
      return wrong[key, default: TokenBucket(aSecond: Self.wrongASecond, atOnce: 50)].take()
    }
    guard mayTry else { return .refused(429, "Too many wrong attempts.") }
    return .refused(
      401,
      hasLink
        ? "This invitation was used in another browser, or it has expired: each works once, within a day. Ask "
          + "the person who sent it for another one."
        : "Open the link that 'notes web' printed. It works in one browser: for another one, end 'notes web' "
          + "with Ctrl-C and start it again. Guests: open your invitation again in the browser that you used it "
          + "in, or ask for a new one.")
  }

  /// Compares in constant time for guesses of the right length.
  private static func isEqual(_ secret: String, _ guess: String) -> Bool {
    let (left, right) = (Array(secret.utf8), Array(guess.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension HTTPRequestHead {
  /// The value of a header that was sent once.
  func only(_ name: String) -> String? {
    let values = headers[name]
    return values.count == 1 ? values[0] : nil
  }

  var path: Substring { uri.prefix { $0 != "?" } }
  var query: Substring { uri.dropFirst(path.count).dropFirst() }
}
