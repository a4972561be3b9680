/// Hides secrets in addresses of repositories. Call it for every text that may contain an address before the text is
/// shown, also for the output of other programs.
public enum AddressText {
  /// The text without secrets in its addresses: `SCHEME://USER:PASSWORD@HOST` loses the password, and the user
  /// unless that is a plain short name (`https://…@host/x`). Some services use secrets as user names.
  public static func withoutSecrets(_ text: String) -> String {
    guard text.contains("://"), text.contains("@") else { return text }
    var shown = ""
    var rest = text[...]
    while let mark = rest.firstRange(of: "://") {
      shown += rest[..<mark.upperBound]
      rest = rest[mark.upperBound...]
      // A password that was typed without escapes may contain characters that end a host.
      let word = rest.prefix { !$0.isWhitespace && !"'\"<>".contains($0) }
      let next = word.firstRange(of: "://")?.lowerBound ?? word.endIndex
      let host = word[..<next].prefix { !"/?#".contains($0) }
      let place = isCut(host) ? word[..<next] : host
      guard let at = place.lastIndex(of: "@") else { continue }
      shown += words(of: place[..<at])
      rest = rest[at...]
    }
    return shown + rest
  }

  /// Whether the part before the `@` of an address is more than a user name.
  public static func hasPassword(_ user: some StringProtocol) -> Bool {
    user.contains(":") || user.lowercased().contains("%3a")
  }

  /// Whether the part before the first slash is more than a host with an optional port. Then a slash inside a password
  /// ended it early.
  private static func isCut(_ host: Substring) -> Bool {
    guard let colon = host.firstIndex(of: ":") else { return hasPassword(host) }
    return !host[host.index(after: colon)...].allSatisfy(\.isNumber)
  }

  private static let longestName = 20

  private static func words(of user: Substring) -> String {
    let name = user.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    if name.count > longestName { return "…" }
    return name.count == user.count ? String(name) : "\(name)…"
  }
}
