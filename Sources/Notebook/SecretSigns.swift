internal import Git
internal import System
internal import WorkTree

/// Texts that are hardly ever meant for other devices: notes-save(1), "What looks like a secret". The rules
/// are few and strict: after one false warning, people ignore the next.
enum SecretSign: String, Codable, CaseIterable {
  case privateKey = "a private key"
  case token = "an access token"
  case passwordFile = "a file of passwords or keys"

  /// The beginning of a token, the characters that may follow, and their minimum number, or their exact
  /// number if nothing else may follow. From the documentation of the services.
  private struct Form: Sendable {
    let prefix: [UInt8]
    let others: [UInt8]
    let count: Int
    let isExact: Bool

    init(_ prefix: String, _ count: Int, exactly: Bool = false, _ others: String = "") {
      self.prefix = Array(prefix.utf8)
      self.others = Array(others.utf8)
      (self.count, isExact) = (count, exactly)
    }

    func isPart(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || others.contains(byte) }
  }

  private static let forms =
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { Form($0, 36) } + [
      Form("github_pat_", 60, "_"), Form("glpat-", 20, "_-"), Form("xoxb-", 24, "-"),
      Form("xoxp-", 24, "-"), Form("sk_live_", 24), Form("rk_live_", 24), Form("npm_", 36),
      Form("AKIA", 16, exactly: true), Form("ASIA", 16, exactly: true),
      Form("AIza", 35, exactly: true, "_-"), Form("AGE-SECRET-KEY-1", 58, exactly: true),
      Form("sk-ant-", 40, "_-"), Form("sk-proj-", 40, "_-"), Form("hf_", 34, exactly: true),
    ]

  /// The secrets in a text, as written there.
  static func found(in content: [UInt8]) -> [(sign: SecretSign, text: [UInt8])] {
    keys(in: content).map { (.privateKey, $0) } + tokens(in: content).map { (.token, $0) }
  }

  /// The first line of base64 after each line that begins a private key, in the forms of RFC 7468, OpenSSH and
  /// OpenPGP. A text that only mentions keys has no such line.
  private static func keys(in content: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var start = 0
    while let begin = content.firstRange(of: Array("-----BEGIN ".utf8), from: start) {
      start = begin.upperBound
      let rest = content[start..<min(content.count, start + 2_000)]
      let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .prefix(12)
      guard let first = lines.first.map({ String(decoding: $0, as: UTF8.self) }),
        first.prefix(40).contains("PRIVATE KEY")
      else { continue }
      let body = lines.dropFirst().prefix { !$0.starts(with: Array("-----".utf8)) }.first {
        $0.count >= 40 && $0.allSatisfy { $0.isLetterOrDigit || Array("+/=\r".utf8).contains($0) }
      }
      if let body { found.append(Array(body)) }
    }
    return found
  }

  private static func tokens(in content: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    for form in forms {
      var start = 0
      while let place = content.firstRange(of: form.prefix, from: start) {
        start = place.upperBound
        if place.lowerBound > 0, content[place.lowerBound - 1].isLetterOrDigit { continue }
        let rest = content[start...].prefix(200).prefix(while: form.isPart)
        guard form.isExact ? rest.count == form.count : rest.count >= form.count else { continue }
        // Examples in manuals repeat a few characters, or have the alphabet in order.
        guard Set(rest).count >= 10, rest.contains(where: \.isDigit) else { continue }
        found.append(form.prefix + rest)
      }
    }
    return found
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isLetterOrDigit: Bool {
    isDigit || (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self)
  }
}

extension WriteTransaction {
  /// How many changed files of a save are searched, and how many bytes of each.
  private static var mostFiles: Int { 500 }
  private static var mostBytes: Int { 1 << 20 }

  /// The texts in a version that look like secrets and are new in it.
  func secrets(in changes: [Change], of version: ObjectID) throws -> [SaveNews] {
    let commit = try repository.commit(version)
    let former = try commit.parents.first.map { try repository.commit($0).tree }
    var news: [SaveNews] = []
    for change in changes.prefix(Self.mostFiles) where change.kind != .deleted {
      guard let new = try repository.entry(at: change.path, in: commit.tree), new.mode.isFile else {
        continue
      }
      let old = try former.flatMap { try repository.entry(at: change.path, in: $0) }
      let sign =
        old == nil && FolderPreview.hasSecretName(change.path)
        ? .passwordFile : try newSign(in: new, since: old)
      if let sign {
        news.append(
          SaveNews(
            path: change.path, kind: .secret, lines: 0, devices: [], looksLike: sign.rawValue))
      }
    }
    return news
  }

  private func newSign(in new: TreeEntry, since old: TreeEntry?) throws -> SecretSign? {
    func content(_ entry: TreeEntry) throws -> [UInt8] {
      guard try repository.header(of: entry.id).size <= Self.mostBytes else { return [] }
      return try repository.blobReadOnce(entry.id)
    }
    let found = SecretSign.found(in: try content(new))
    if found.isEmpty { return nil }
    let known = try old.map { Set(SecretSign.found(in: try content($0)).map(\.text)) } ?? []
    return found.first { !known.contains($0.text) }?.sign
  }
}
