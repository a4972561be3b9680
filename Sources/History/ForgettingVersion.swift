public import Git
internal import System

/// A version in which an admin lists the forgettings that its history obeys, each in a line `Notes-Forgot: ID
/// KIND VERSIONS`: notes-forget(1), "Versions". Anybody can write such a version; its signature decides whether
/// it counts.
///
/// The line of a forgetting of older versions continues with the version with which the history begins since, and with
/// the former IDs of that version. Programs that cannot follow such a forgetting do not take this for a list.
public struct ForgettingVersion: Hashable, Sendable {
  /// A forgetting, as this version describes it.
  public struct Line: Hashable, Codable, Sendable {
    /// Sixteen random bytes in hexadecimal digits.
    public let id: String
    /// The kind of forgotten thing: a text, lines, a note or older versions.
    public let kind: String
    /// How many versions had it.
    public let versions: Int
    /// The version with which the history begins since, if older versions were forgotten.
    public let beginning: Beginning?

    /// Makes a line.
    public init(id: String, kind: String, versions: Int, beginning: Beginning? = nil) {
      (self.id, self.kind, self.versions) = (id, kind, versions)
      self.beginning = beginning
    }

    /// The line's trailer.
    package var trailer: String {
      "\(ForgettingVersion.key): \(id) \(kind) \(versions)\(beginning?.words ?? "")"
    }

    /// The line in a history in which the beginning has another form.
    package func mapped(_ form: (Beginning) throws -> Beginning) rethrows -> Line {
      Line(id: id, kind: kind, versions: versions, beginning: try beginning.map(form))
    }

    /// The kind that has a beginning.
    package static let older = "before"
    /// The words of a line without a beginning.
    package static let leastWords = 4

    fileprivate init?(parsing line: Substring) {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count >= Self.leastWords, words[0] == "\(ForgettingVersion.key):",
        Self.isID(words[1]),
        !words[2].isEmpty, words[2].utf8.allSatisfy({ (0x61...0x7a).contains($0) }),
        let versions = Int(words[3]), versions >= 0, "\(versions)" == words[3]
      else { return nil }
      let beginning = Beginning(parsing: words.dropFirst(Self.leastWords))
      guard words[2] == Self.older ? beginning != nil : words.count == Self.leastWords else {
        return nil
      }
      self.init(
        id: String(words[1]), kind: String(words[2]), versions: versions, beginning: beginning)
    }

    /// Whether a text is the ID of a forgetting.
    public static func isID(_ text: some StringProtocol) -> Bool {
      text.utf8.count == 32
        && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
  }

  /// The ID of the version.
  public let id: ObjectID
  /// The forgettings that the version's history obeys. The version was made for the first of them.
  public let lines: [Line]

  /// The IDs of those forgettings. One history obeys more than another if its set includes the
  /// other's.
  public var forgettings: Set<String> { Set(lines.map(\.id)) }

  /// A version with which a history begins.
  public struct Beginning: Hashable, Codable, Sendable {
    /// The version.
    public let version: ObjectID
    /// Its forms before the forgetting whose IDs tell nothing about older texts, as they cover a signature.
    public let formers: [ObjectID]

    /// How many forms before are named.
    private static let mostFormers = 16

    /// Makes a beginning.
    public init(_ version: ObjectID, formers: [ObjectID]) {
      (self.version, self.formers) = (version, Array(formers.prefix(Self.mostFormers)))
    }

    /// The beginning with the names that another list has for it, too; without names if one of the lists has none.
    package func alsoNamed(in other: Beginning?) -> Beginning {
      let more = other?.formers ?? []
      if formers.isEmpty || more.isEmpty { return Beginning(version, formers: []) }
      return Beginning(version, formers: formers + more.filter { !formers.contains($0) })
    }

    fileprivate var words: String { ([version] + formers).map { " \($0.hex)" }.joined() }

    fileprivate init?(parsing words: ArraySlice<Substring>) {
      let ids = words.compactMap { ObjectID(hex: $0) }
      guard let version = ids.first, ids.count == words.count, ids.count <= Self.mostFormers + 1
      else { return nil }
      self.init(version, formers: Array(ids.dropFirst()))
    }
  }

  /// The versions with which the history began since each forgetting of older ones.
  public var begins: [Beginning] { lines.compactMap(\.beginning) }

  package static let key = "Notes-Forgot"
  /// The most forgettings that a history can obey.
  public static let mostLines = 1_024

  /// Whether a commit with this content may be such a version.
  package static func mayBe(_ content: [UInt8]) -> Bool {
    content.firstRange(of: Array("\n\(key): ".utf8)) != nil
  }

  /// Nil if the version has no such lines, or has them in another form.
  public init?(_ commit: Commit) {
    // Most versions have no such lines.
    guard commit.parents.count == 1, !commit.isRewritten, commit.message.contains(Self.key) else {
      return nil
    }
    let said = commit.message.split(separator: "\n").filter { $0.hasPrefix("\(Self.key):") }
    let lines = said.compactMap(Line.init(parsing:))
    guard !lines.isEmpty, lines.count == said.count, lines.count <= Self.mostLines,
      Set(lines.map(\.id)).count == lines.count
    else { return nil }
    (id, self.lines) = (commit.id, lines)
  }
}

extension History {
  /// The reference to the version that lists the forgettings this history obeys.
  package static let obeyedReference = "refs/notes-state/forgotten"

  /// The version that lists the forgettings this notebook's history obeys; nil if nothing was
  /// forgotten.
  public func obeyed() throws -> ForgettingVersion? {
    guard let id = try repository.reference(Self.obeyedReference) else { return nil }
    return try ForgettingVersion(repository.commit(id))
  }

  /// The versions of this kind that are below the heads but not below `known`, no matter who made them. None of
  /// them changes a file.
  package func forgettingVersions(
    below heads: [ObjectID], lacking known: [ObjectID]
  ) throws -> [ForgettingVersion] {
    try repository.commits(from: heads, lacking: known).compactMap { id in
      let commit = try repository.commit(id)
      guard let found = ForgettingVersion(commit), let parent = commit.parents.first,
        try repository.commit(parent).tree == commit.tree
      else { return nil }
      return found
    }
  }
}
