public import Git
internal import System

/// A version in which an admin lists the forgettings that its history obeys, each in a line `Notes-Forgot: ID
/// KIND VERSIONS`: notes-forget(1), "Versions". Anybody can write such a version; its signature decides whether
/// it counts.
public struct ForgettingVersion: Hashable, Sendable {
  /// A forgetting, as this version describes it.
  public struct Line: Hashable, Codable, Sendable {
    /// Sixteen random bytes in hexadecimal digits.
    public let id: String
    /// The kind of forgotten thing: a text, lines or a note.
    public let kind: String
    /// How many versions had it.
    public let versions: Int

    /// Makes a line.
    public init(id: String, kind: String, versions: Int) {
      (self.id, self.kind, self.versions) = (id, kind, versions)
    }

    /// The line's trailer.
    package var trailer: String { "\(ForgettingVersion.key): \(id) \(kind) \(versions)" }

    fileprivate init?(parsing line: Substring) {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 4, words[0] == "\(ForgettingVersion.key):", Self.isID(words[1]),
        !words[2].isEmpty, words[2].utf8.allSatisfy({ (0x61...0x7a).contains($0) }),
        let versions = Int(words[3]), versions >= 0, "\(versions)" == words[3]
      else { return nil }
      self.init(id: String(words[1]), kind: String(words[2]), versions: versions)
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

  fileprivate static let key = "Notes-Forgot"
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
