internal import Membership

/// The entrance of requests: from this machine, or from its network over TLS.
struct Entrance: Sendable {
  /// The addresses at which the page answers, as `HOST:PORT` in lower case; the address of the links comes
  /// first.
  let hosts: [String]
  /// The certificate of the page, if it is on the network: there, only guests are admitted.
  let network: CertifiedPage?
  /// The machine's name on its network, which is also in `hosts`; nil if it has none.
  let nameHost: String?

  /// The page of this machine's own browsers.
  static func local(port: Int) -> Entrance {
    Entrance(hosts: ["127.0.0.1:\(port)"], network: nil, nameHost: nil)
  }

  /// The page on a network: its name first, if links may contain it.
  static func network(_ network: WebNetwork, port: Int, _ page: CertifiedPage) -> Entrance {
    let addresses = network.addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
    let name = network.name.map { [$0] } ?? []
    let hosts = network.isNamePublished ? name + addresses : addresses + name
    return Entrance(
      hosts: hosts.map { "\($0):\(port)" }, network: page,
      nameHost: network.name.map { "\($0):\(port)" })
  }

  private var scheme: String { network == nil ? "http" : "https" }

  /// The origins of the page, that of the links first.
  var origins: [String] { hosts.map { "\(scheme)://\($0)" } }
  var origin: String { origins[0] }

  /// The origin for a request with this host; nil if the host name is not the page's.
  func origin(ofHost host: String?) -> String? {
    guard let host = host?.lowercased(), hosts.contains(host) else { return nil }
    return "\(scheme)://\(host)"
  }

  /// Whether a request with this host was sent to the machine's name on its network.
  func isByName(host: String?) -> Bool {
    nameHost.map { host?.lowercased() == $0 } ?? false
  }

  // MARK: Cookies

  /// The name of the cookie of a browser that is admitted below a path. On this machine a cookie is restricted
  /// to a path that other programs do not know. On the network the name's prefix makes browsers accept the
  /// cookie only from this host over TLS. That requires the path `/`, so the name distinguishes the notebooks
  /// and guests of one host.
  func cookieName(below root: some StringProtocol) -> String? {
    guard network != nil else { return "notes" }
    // Without OpenSSL there is no TLS, and no cookie.
    return (try? SecretText.mark(of: String(root.drop { $0 == "/" }))).map { "__Host-notes-" + $0 }
  }

  /// The header that sets a cookie, for the browser's session or for as long as browsers allow, or
  /// deletes it.
  func cookie(
    _ value: String, below root: String, isKept: Bool = false, isEnded: Bool = false
  ) -> String {
    let time = isKept ? "; Max-Age=34560000" : isEnded ? "; Max-Age=0" : ""
    let rules = network == nil ? "; Path=\(root)" : "; Path=/; Secure"
    let name = cookieName(below: root) ?? "notes"
    return "\(name)=\(value)\(rules); HttpOnly; SameSite=Strict\(time)"
  }
}
