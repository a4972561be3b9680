/// What a commit object of a peer may look like.
enum QuarantineCommit {
  struct Links {
    var tree: ObjectID
    var parents: [ObjectID]
  }

  // The last second of the year 9999, which is as far as RFC 3339 goes.
  static let latestTime = 253_402_300_799

  // Who reads the last of several would read another commit than who reads the first.
  private static let once = ["tree ", "parent ", "author ", "committer "].map { Array($0.utf8) }

  /// The tree and parents of a well-formed commit.
  static func check(_ content: [UInt8], id: ObjectID, limits: PackLimits) throws -> Links {
    func refuse(_ why: String) -> PackError { .refused(id, why) }
    guard !content.contains(0) else { throw refuse("a NUL in a commit") }
    var lines = Lines(rest: content[...])
    guard let tree = lines.next().flatMap({ objectID($0, after: "tree ") }) else {
      throw refuse("no tree in a commit")
    }
    var links = Links(tree: tree, parents: [])
    var line = lines.next()
    while let parent = line.flatMap({ objectID($0, after: "parent ") }) {
      links.parents.append(parent)
      guard links.parents.count <= limits.parents else {
        throw PackError.overLimit("parents of a commit", limit: limits.parents)
      }
      line = lines.next()
    }
    guard Set(links.parents).count == links.parents.count else {
      throw refuse("a parent named twice")
    }
    guard let line, isSignature(line, after: "author ") else { throw refuse("no valid author") }
    guard let line = lines.next(), isSignature(line, after: "committer ") else {
      throw refuse("no valid committer")
    }
    // Other headers (encoding, gpgsig) may follow; an empty line ends them.
    while let line = lines.next() {
      if line.isEmpty { return links }
      guard !once.contains(where: line.starts) else { throw refuse("a header twice") }
    }
    // git accepts a commit without a message.
    return links
  }

  private struct Lines {
    var rest: ArraySlice<UInt8>

    /// The next line that a newline ends.
    mutating func next() -> ArraySlice<UInt8>? {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    }
  }

  private static func objectID(_ line: ArraySlice<UInt8>, after label: String) -> ObjectID? {
    let label = Array(label.utf8)
    let digits = line.dropFirst(label.count)
    // Upper-case digits would be a second spelling of the same commit.
    guard line.starts(with: label), digits.count == 40,
      digits.allSatisfy({ isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) })
    else { return nil }
    return ObjectID(hex: String(decoding: digits, as: UTF8.self))
  }

  /// `NAME <EMAIL> SECONDS ZONE` as git fsck wants it.
  private static func isSignature(_ line: ArraySlice<UInt8>, after label: String) -> Bool {
    let label = Array(label.utf8)
    let value = line.dropFirst(label.count)
    guard line.starts(with: label),
      let open = value.firstIndex(of: UInt8(ascii: "<")),
      let close = value[open...].firstIndex(of: UInt8(ascii: ">")),
      open == value.startIndex || value[open - 1] == UInt8(ascii: " "),
      !value[..<open].contains(UInt8(ascii: ">")),
      !value[(open + 1)..<close].contains(UInt8(ascii: "<")),
      !value.contains(where: { $0 < 0x20 || $0 == 0x7f })
    else { return false }
    let fields = value[(close + 1)...].split(
      separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].isEmpty, isTime(fields[1]), fields[2].count == 5,
      let sign = fields[2].first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
    else { return false }
    return fields[2].dropFirst().allSatisfy(isDigit)
  }

  private static func isTime(_ digits: ArraySlice<UInt8>) -> Bool {
    guard !digits.isEmpty, digits.allSatisfy(isDigit), digits.count <= 12,
      digits.count == 1 || digits.first != UInt8(ascii: "0"),
      let time = Int(String(decoding: digits, as: UTF8.self))
    else { return false }
    return time <= latestTime
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
