/// The forms that are allowed for a commit object from a peer.
enum QuarantineCommit {
  struct Links {
    var tree: ObjectID
    var parents: [ObjectID]
  }

  // The last second of the year 9999, the limit of RFC 3339.
  static let latestTime = 253_402_300_799

  static func check(_ content: [UInt8], id: ObjectID, limits: PackLimits) throws -> Links {
    func refuse(_ why: String) -> PackError { .refused(id, why) }
    guard !content.contains(0) else { throw refuse("a NUL in a commit") }
    // Every failure means that the commit is refused.
    guard let headers = try? CommitHeaders(parsing: content, id: id) else {
      throw refuse("no tree, author or committer in a commit")
    }
    let parents = headers.parents
    guard parents.count <= limits.parents else {
      throw PackError.overLimit("parents of a commit", limit: limits.parents)
    }
    guard Set(parents).count == parents.count else { throw refuse("a parent named twice") }
    guard isSignature(headers.author) else { throw refuse("no valid author") }
    guard isSignature(headers.committer) else { throw refuse("no valid committer") }
    // Another order of headers, or upper-case digits, would be a second form of the same commit.
    let canonical = Commit.headers(
      tree: headers.tree, parents: parents, author: headers.author, committer: headers.committer)
    guard content.starts(with: canonical) else { throw refuse("headers out of order") }
    // Other headers (encoding, gpgsig) may follow; an empty line ends them. If a header occurred
    // several times, two readers could read different commits.
    var rest = content[canonical.count...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex {
      guard !CommitHeaders.labels.contains(where: rest.starts) else {
        throw refuse("a header twice")
      }
      rest = rest[(end + 1)...]
    }
    // git accepts a commit without a message.
    return Links(tree: headers.tree, parents: parents)
  }

  /// Whether the value is `NAME <EMAIL> SECONDS ZONE` in the form that git fsck requires.
  private static func isSignature(_ value: ArraySlice<UInt8>) -> Bool {
    guard let open = value.firstIndex(of: UInt8(ascii: "<")),
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

/// The forms that are allowed for a tree object from a peer.
enum QuarantineTree {
  /// Checks a tree, and returns its entries.
  static func check(_ tree: [UInt8], id: ObjectID) throws -> [TreeEntryBytes] {
    guard let entries = TreeBytes.entries(tree) else {
      throw PackError.refused(id, "a damaged tree")
    }
    try tree.withUnsafeBytes { tree in
      for (position, entry) in entries.enumerated() {
        let name = entry.name(in: tree)
        if let why = NameRules.problem(with: name) { throw PackError.refused(id, why) }
        guard hasAllowedMode(entry) else {
          throw PackError.refused(id, "an entry that is neither a file nor a folder")
        }
        if position > 0 {
          let order = entries[position - 1].compare(in: tree, with: name, isTree: entry.isTree)
          guard order < 0 else {
            throw PackError.refused(id, order == 0 ? "a name twice" : "a tree out of order")
          }
        }
        if entry.isTree, isFile(name, among: entries[..<position], in: tree) {
          throw PackError.refused(id, "a name twice")
        }
      }
    }
    return entries
  }

  /// Whether the entry's mode is allowed, and written as git writes it: without a leading zero.
  private static func hasAllowedMode(_ entry: TreeEntryBytes) -> Bool {
    let length = entry.nameStart - 1 - entry.start
    switch entry.mode {
    case .regular, .executable: return length == 6
    case .tree: return length == 5
    default: return false
    }
  }

  /// Whether the tree has a file with the folder's name. In git's order, only names that begin with that name are
  /// between the two.
  private static func isFile(
    _ name: UnsafeRawBufferPointer, among entries: ArraySlice<TreeEntryBytes>,
    in tree: UnsafeRawBufferPointer
  ) -> Bool {
    for entry in entries.reversed() {
      let other = entry.name(in: tree)
      guard other.starts(with: name) else { return false }
      if other.count == name.count { return true }
    }
    return false
  }
}
