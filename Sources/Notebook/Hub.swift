internal import Git
internal import System
internal import WorkTree

/// An ordinary git repository through which devices exchange versions: a remote of the notebook's
/// repository that its user has made a hub. notes-hub(7).
public struct Hub: Hashable, Sendable {
  /// The user's name for the hub, which is also the name of the git remote.
  public let name: String
  /// The address, as git uses it; somebody may have put a password into it in git's settings.
  public let url: String
  /// The address without secrets, for people.
  public var shownURL: String { AddressText.withoutSecrets(url) }
  /// Whether an admin accepts commits that people make there with plain git: notes-hub(7), "With
  /// people who use git".
  public let acceptsUnsigned: Bool

  /// A hub with this name and address, without a check.
  public init(name: String, url: String, acceptsUnsigned: Bool = false) {
    self.name = name
    self.url = url
    self.acceptsUnsigned = acceptsUnsigned
  }
}

/// The errors about a hub's name or address.
public enum HubDefect: Error, Hashable, Sendable {
  case name(String)
  /// Another remote of the repository, with this address, has the name.
  case nameTaken(String, url: String)
  case noSuchHub(String)
  /// The notebook has no hub at all.
  case noHub
  /// The address is invalid, or git would misunderstand it.
  case address(String, why: String)
  /// This protocol is not supported.
  case scheme(String)
  /// The address contains a password.
  case secret
  /// The address is the notebook's folder, or is in it.
  case inNotebook(String)
}

extension HubDefect: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .name(let name): "'\(name)' cannot be a hub's name"
    case .nameTaken(let name, let url):
      "there is already a remote '\(name)', at \(AddressText.withoutSecrets(url))"
    case .noSuchHub(let name): "no hub is called '\(name)'"
    case .noHub: "the notebook has no hub"
    case .address(let url, let why):
      "'\(AddressText.withoutSecrets(url))' is not an address of a repository: \(why)"
    case .scheme(let scheme): "notes does not reach hubs by \(scheme)"
    case .secret:
      "the address contains a password, which everybody who can read .git/config would "
        + "have"
    case .inNotebook(let place): "\(place) is in the notebook"
    }
  }
}

extension Hub {
  /// The protocols of notes-hub(7), "Addresses".
  private static let schemes: Set<String> = ["ssh", "https", "git", "file"]

  /// Whether a hub may have this name: it is shorter than any device ID, and valid in a reference
  /// and a setting.
  static func isName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    let others = Array("._-".utf8)
    let isFine = bytes.allSatisfy { byte in
      byte < 0x80
        && (Character(Unicode.Scalar(byte)).isLetter
          || Character(Unicode.Scalar(byte)).isNumber || others.contains(byte))
    }
    return isFine && (1...32).contains(bytes.count) && !others.contains(bytes[0])
      && bytes.last != UInt8(ascii: ".") && !name.hasSuffix(".lock") && !name.contains("..")
  }

  /// An address in the form in which it is stored: a folder's path becomes absolute, relative to
  /// `folder`.
  ///
  /// - Throws: `HubDefect` if git would take the text for an option, a program to run or a secret.
  public static func address(_ text: String, from folder: String) throws(HubDefect) -> String {
    if text.isEmpty { throw .address(text, why: "it is empty") }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw .address(text, why: "it contains a line break or control character")
    }
    if text.hasPrefix("-") { throw .address(text, why: "it begins with a dash") }
    if text.hasPrefix("/") { return text }
    if let end = text.firstRange(of: "://") {
      let scheme = text[..<end.lowerBound].lowercased()
      guard schemes.contains(scheme) else { throw .scheme(scheme) }
      return try address(text, scheme: scheme, rest: text[end.upperBound...])
    }
    if text.contains("::") { throw .scheme(String(text.prefix { $0 != ":" })) }
    let host = text.prefix { $0 != ":" && $0 != "/" }
    guard text.dropFirst(host.count).first == ":" else {
      return (folder == "/" ? "" : folder) + "/" + text
    }
    // `HOST:PATH` is ssh's form.
    try check(host: host, of: text)
    return text
  }

  private static func address(
    _ text: String, scheme: String, rest: Substring
  ) throws(HubDefect) -> String {
    if scheme == "file" {
      guard rest.hasPrefix("/") else { throw .address(text, why: "file:// needs an absolute path") }
      return String(rest)
    }
    let place = rest.prefix { $0 != "/" }
    guard place.count < rest.count else { throw .address(text, why: "the path is missing") }
    if let at = place.lastIndex(of: "@"), AddressText.hasPassword(place[..<at]) { throw .secret }
    try check(host: place, of: text)
    return text
  }

  private static func check(host: Substring, of text: String) throws(HubDefect) {
    let name = host.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    if name.isEmpty { throw .address(text, why: "the host is missing") }
    if name.hasPrefix("-") || host.hasPrefix("-") {
      throw .address(text, why: "the host begins with a dash")
    }
  }

  /// Whether the connection is neither encrypted nor authenticated.
  public var isOpen: Bool { url.lowercased().hasPrefix("git://") }
}

// The list of hubs: `notes.hubs` in `.git/config` has the names, `remote.NAME.url` the addresses, so that git
// also knows them.
extension Notebook {
  private static let setting = "notes.hubs"
  private static let acceptsUnsigned = "notesAcceptUnsigned"

  /// The hubs, in the order in which they were added. If a remote was removed with git, it is no
  /// longer a hub.
  public func hubs() throws -> [Hub] {
    let settings = repository.settings()
    return try hubNames(settings).compactMap { name in
      try settings["remote.\(name).url"].map { url in
        let accepts = try settings["remote.\(name).\(Self.acceptsUnsigned)"] == "true"
        return Hub(name: name, url: url, acceptsUnsigned: accepts)
      }
    }
  }

  /// The repository's remotes that are not hubs but could be, such as a clone's `origin`.
  public func remotesBesideHubs() throws -> [Hub] {
    let settings = repository.settings()
    let known = try Set(hubNames(settings))
    return try repository.remoteNames().compactMap { name in
      guard Hub.isName(name), !known.contains(name),
        let url = try settings["remote.\(name).url"],
        // An address that would be refused cannot be a hub's.
        (try? Hub.address(url, from: folder)) == url
      else { return nil }
      return Hub(name: name, url: url)
    }
  }

  /// The hub of this name.
  ///
  /// - Throws: `HubDefect.noSuchHub`; `.noHub` if there is none of any name.
  public func hub(named name: String) throws -> Hub {
    let all = try hubs()
    guard let hub = all.first(where: { $0.name == name }) else {
      throw all.isEmpty ? HubDefect.noHub : .noSuchHub(name)
    }
    return hub
  }

  private func hubNames(_ settings: Settings) throws -> [String] {
    try (settings[Self.setting] ?? "").split(separator: " ").map(String.init)
      .filter(Hub.isName)
  }

  /// Adds a hub: a remote with that name, which is made if it does not exist.
  ///
  /// - Throws: `HubDefect.name`, `.nameTaken` if a remote with that name has another address, and
  ///   `.inNotebook`.
  public func add(_ hub: Hub) throws {
    guard Hub.isName(hub.name) else { throw HubDefect.name(hub.name) }
    if hub.url.hasPrefix("/"), contains(place: hub.url) { throw HubDefect.inNotebook(hub.url) }
    try withWriterLock { _ in
      let key = "remote.\(hub.name)"
      if let url = try repository.setting("\(key).url"), url != hub.url {
        throw HubDefect.nameTaken(hub.name, url: url)
      }
      try repository.set("\(key).url", to: hub.url)
      if try repository.setting("\(key).fetch") == nil {
        try repository.set("\(key).fetch", to: "+refs/heads/*:refs/remotes/\(hub.name)/*")
      }
      if try hub.acceptsUnsigned || repository.setting("\(key).\(Self.acceptsUnsigned)") != nil {
        let accepts = hub.acceptsUnsigned ? "true" : nil
        try repository.set("\(key).\(Self.acceptsUnsigned)", to: accepts)
      }
      let names = try hubNames(repository.settings()).filter { $0 != hub.name } + [hub.name]
      try repository.set(Self.setting, to: names.joined(separator: " "))
    }
  }

  /// Removes a hub, its remote, and this device's records about it. The notes here and on the hub
  /// stay.
  public func removeHub(named name: String) throws {
    try withWriterLock { _ in
      let names = try hubNames(repository.settings())
      guard names.contains(name) else {
        throw names.isEmpty ? HubDefect.noHub : .noSuchHub(name)
      }
      let rest = names.filter { $0 != name }
      try repository.set(Self.setting, to: rest.isEmpty ? nil : rest.joined(separator: " "))
      for key in ["url", "fetch", Self.acceptsUnsigned] {
        try repository.set("remote.\(name).\(key)", to: nil)
      }
      for reference in try repository.references(under: "refs/remotes/\(name)/") {
        try repository.delete(reference: reference.name)
      }
    }
  }
}
