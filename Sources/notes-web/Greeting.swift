internal import Membership
internal import QRCodes
internal import System
internal import Web

/// The text that the program prints when it serves the page.
struct Greeting {
  private let link: String
  private let port: Int
  private let network: ServedNetwork?
  private let isOfAll: Bool
  private let invitationPath: String?
  private let publicAddresses: [String]

  /// - Parameters:
  ///   - link: the link for the user's own browser.
  ///   - isOfAll: whether a list of notebooks is served.
  ///   - invitationPath: the part of a guest's link after an origin of the network; nil if it was used, or
  ///     if nobody can be invited.
  init(_ server: WebServer, link: String, isOfAll: Bool, invitationPath: String?) {
    (self.link, self.isOfAll, self.invitationPath) = (link, isOfAll, invitationPath)
    (port, network) = (server.port, server.network)
    publicAddresses = network == nil ? [] : WebNetwork.ofThisMachine().publicAddresses
  }

  /// The same facts for programs, as one JSON object.
  var json: String {
    let own: KeyValuePairs = ["type": #""web""#, "link": JSONText.quoted(link), "port": "\(port)"]
    var fields = own.map { ($0.key, $0.value) }
    if let network {
      let guestLink = invitationPath.map { JSONText.quoted(network.origins[0] + $0) } ?? "null"
      let more: KeyValuePairs = [
        "network_link": guestLink, "fingerprint": JSONText.quoted(network.fingerprint),
        "authority": JSONText.quoted(network.authority),
        "authority_fingerprint": JSONText.quoted(network.authorityFingerprint),
      ]
      fields += more.map { ($0.key, $0.value) }
    }
    return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  var text: String {
    let what = isOfAll ? "Open the notebooks" : "Open the notebook"
    let own = "\(what) in a browser:\n\n  \(link)\n\nThe link works once."
    guard let network else { return own + " Press Ctrl-C to stop." }
    let parts =
      [own, guestWords(network), certificate(network)]
      + publicAddresses.map { "The page is not available at \($0), which is a public address." }
      + ["Press Ctrl-C to stop."]
    return parts.joined(separator: "\n\n")
  }

  /// The lines to print after the machine's addresses changed.
  var news: String {
    guard let network else {
      return
        "\nThis machine has lost its private address: until it has one, the page is on no network."
    }
    let place =
      invitationPath == nil
      ? "The page is on the network at\n\n  \(network.origins[0])"
        + "\n\n'notes web guests invite' makes links." : guestWords(network)
    let parts = ["\nThis machine has other addresses now.", place, certificate(network)]
    return parts.joined(separator: "\n\n")
  }

  private func guestWords(_ network: ServedNetwork) -> String {
    if isOfAll {
      return
        "The pages are on the network at \(network.origins[0]), for guests, each with access to "
        + "one notebook:\n'notes web guests invite', in a notebook's folder, makes a link for "
        + "one of its guests."
    }
    guard let invitationPath else {
      return
        "The page is on the network at \(network.origins[0]), for guests who joined before;\nno "
        + "more guests can join: 'notes web guests' lists them."
    }
    let links = network.origins.map { $0 + invitationPath }
    let code = QRCode.lines(ofText: links[0])
    let others = network.origins.count > 1 ? "\n\nor at \(links[1])" : ""
    return "One guest on this network can join at\n\n  \(links[0])\(others)"
      + (code.isEmpty ? "" : "\n\n" + code.joined(separator: "\n"))
      + "\n\nFor more guests, run 'notes web guests invite'."
  }

  private func certificate(_ network: ServedNetwork) -> String {
    """
    Its certificate has the SHA-256
      \(network.fingerprint)
    Browsers warn of it unless they know the certificate authority. To stop the warning, install
      \(network.authority)
    if its SHA-256 is
      \(network.authorityFingerprint)
    That authority can certify only this machine, and only on private networks.
    """
  }
}
