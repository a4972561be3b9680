/// A commit with a signature in its `gpgsig` header, which git puts after its own headers
/// (gitformat-signature(5)). The signature covers everything except that header.
public struct SignedCommit: Sendable {
  /// The bytes that are signed: the commit without the header.
  public let content: [UInt8]
  /// The signature: lines with a newline each.
  public let signature: [UInt8]

  private static let label = Array("gpgsig ".utf8)
  /// The beginning of each signature label; the labels for other hashes continue differently.
  private static let anyLabel = Array("gpgsig".utf8)
  private static let committer = Array("committer ".utf8)
  private static let (newline, space) = (UInt8(ascii: "\n"), UInt8(ascii: " "))

  init(content: [UInt8], signature: [UInt8]) {
    self.content = content
    self.signature = signature
  }

  /// Reads a commit's content. Nil if it has no signature, or not directly after the committer. Nil also if
  /// several headers contain a signature, because two readers might then check different ones.
  public init?(parsing commit: [UInt8]) {
    guard let start = Self.place(in: commit), commit[start...].starts(with: Self.label) else {
      return nil
    }
    var signature: [UInt8] = []
    var rest = commit[(start + Self.label.count)...]
    while let end = rest.firstIndex(of: Self.newline) {
      signature += rest[...end]
      rest = rest[(end + 1)...]
      guard rest.first == Self.space else { break }
      rest = rest.dropFirst()
    }
    let content = Array(commit[..<start] + rest)
    // notes would treat a second such header as signed content; git would not.
    var others = rest
    while let end = others.firstIndex(of: Self.newline), end > others.startIndex {
      if others.starts(with: Self.anyLabel) { return nil }
      others = others[(end + 1)...]
    }
    self.init(content: content, signature: signature)
    if serialized != commit { return nil }
  }

  /// Whether a commit's content has a signature header of any kind.
  public static func isSigned(_ commit: [UInt8]) -> Bool {
    var rest = commit[...]
    while let end = rest.firstIndex(of: newline), end > rest.startIndex {
      if rest.starts(with: anyLabel) { return true }
      rest = rest[(end + 1)...]
    }
    return false
  }

  /// The content of the commit object.
  var serialized: [UInt8] {
    guard let place = Self.place(in: content) else { return content }
    var lines = Self.label
    for (index, line) in signature.split(separator: Self.newline).enumerated() {
      lines += (index == 0 ? [] : [Self.space]) + line + [Self.newline]
    }
    return content[..<place] + lines + content[place...]
  }

  /// The offset after the committer's line.
  private static func place(in commit: [UInt8]) -> Int? {
    var rest = commit[...]
    while let end = rest.firstIndex(of: newline), end > rest.startIndex {
      if rest.starts(with: committer) { return end + 1 }
      rest = rest[(end + 1)...]
    }
    return nil
  }
}
