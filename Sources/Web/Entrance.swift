internal import Membership

/// The entrance of requests: from this machine, or from its network over TLS.
struct Entrance: Sendable {
  /// The addresses that the page answers to: `HOST:PORT`, in lower case, that of the links first.
  let hosts: [String]
  /// The certificate of the page, if it is on the network: only guests are admitted there.
  let network: CertifiedPage?
  /// The one of `hosts` that is the machine's name on its network; nil if it has none there.
  let nameHost: String?

  /// The page of this machine's own browsers.
  static func local(port: Int) -> Entrance {
    Entrance(hosts: ["127.0.0.1:\(port)"], network: nil, nameHost: nil)
  }

  /// The page of a network: its name first, if links may have it.
  static func network(_ network: WebNetwork, port: Int, _ page: CertifiedPage) -> Entrance {
    let addresses = network.addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
    let name = network.name.map { [$0] } ?? []
    let hosts = network.isNamePublished ? name + addresses : addresses + name
    return Entrance(
      hosts: hosts.map { "\($0):\(port)" }, network: page,
      nameHost: network.name.map { "\($0):\(port)" })
  }

  private var scheme: String { network == nil ? "http" : "https" }

  /// The origins that lead here, that of the links first.
  var origins: [String] { hosts.map { "\(scheme)://\($0)" } }
  var origin: String { origins[0] }

  /// The origin that a request with this host has; nil if it is another's name.
  func origin(ofHost host: String?) -> String? {
    guard let host = host?.lowercased(), hosts.contains(host) else { return nil }
    return "\(scheme)://\(host)"
  }

  /// Whether a request with this host was sent to the machine's name on its network.
  func isByName(host: String?) -> Bool {
    nameHost.map { host?.lowercased() == $0 } ?? false
  }

  // MARK: Cookies

  /// The name of the cookie of a browser that is admitted below a path. On this machine cookies are for a
  /// path that other programs do not know. On the network the name's prefix makes browsers accept it only
  /// from this host over TLS; that needs the path `/`, so the name distinguishes the notebooks and guests of
  /// one host.
  func cookieName(below root: some StringProtocol) -> String? {
    guard network != nil else { return "notes" }
    // Without OpenSSL there is no TLS, and no cookie.
    return (try? SecretText.mark(of: String(root.drop { $0 == "/" }))).map { "__Host-notes-" + $0 }
  }

  /// The header that makes a browser keep a cookie, until it is closed or for as long as browsers do, or
  /// forget one.
  func cookie(
    _ value: String, below root: String, isKept: Bool = false, isEnded: Bool = false
  ) -> String {
    let time = isKept ? "; Max-Age=34560000" : isEnded ? "; Max-Age=0" : ""
    let rules = network == nil ? "; Path=\(root)" : "; Path=/; Secure"
    let name = cookieName(below: root) ?? "notes"
    return "\(name)=\(value)\(rules); HttpOnly; SameSite=Strict\(time)"
  }
}
