internal import Git

/// Gives every file of the merged tree a name of its own: notes-merge(7), "Names that meet".
struct NameSettlement {
  let store: any MergeStore
  let reference: ObjectID
  let heads: [MergeTerm]
  let rules: MergeRules
  private(set) var reports: [MergeReport] = []
  private(set) var files: [TreePath: TermFile] = [:]

  /// Settles the files that claim each name, and the copies that go beside a name.
  mutating func settle(_ claims: [TreePath: [TermFile]], copies: [TreePath: [TermFile]]) throws {
    var copies = copies
    for path in claims.keys.sorted() {
      var contenders = claims[path] ?? []
      if contenders.count > 1, let merged = try merge(contenders) { contenders = [merged] }
      files[path] = contenders.first
      copies[path, default: []] += contenders.dropFirst()
    }
    for (path, copies) in copies.sorted(by: { $0.key < $1.key }) {
      for copy in copies { files[try freeName(for: path, copy)] = copy }
    }
    try moveFilesOffFolders()
    try separateSpellings()
  }

  /// Files that got one name by different ways: one note, with markers around what differs; nil
  /// when they are not all text.
  private mutating func merge(_ claims: [TermFile]) throws -> TermFile? {
    let claims = claims.sorted { ($0.owner, $0.source) < ($1.owner, $1.source) }
    if Set(claims.map(\.value)).count == 1 { return claims[0] }
    var terms = claims
    for index in terms.indices { terms[index].isNewConflict = false }
    var sum = FileSum(store: store, rules: rules, heads: heads)
    let files = try sum.files(
      positives: terms, negatives: Array(repeating: nil, count: terms.count - 1), keeps: false)
    guard files.count == 1, var merged = files.first else { return nil }
    (merged.owner, merged.source) = (claims[0].owner, claims[0].source)
    return merged
  }

  /// A file can't have the name of a folder: the file goes beside it.
  private mutating func moveFilesOffFolders() throws {
    for path in files.keys.sorted() {
      var folder = path.parent
      while let name = folder {
        if let file = files.removeValue(forKey: name) {
          files[try freeName(for: name, file)] = file
        }
        folder = name.parent
      }
    }
  }

  private mutating func freeName(
    for path: TreePath, _ claim: TermFile, isFolder: Bool = false
  ) throws -> TreePath {
    let label = try SideLabel.text(for: claim, of: heads, in: store)
    var attempt = 1
    while true {
      let name = CopyName.path(for: path, label: label, attempt: attempt, isFolder: isFolder)
      let below = name.bytes + [UInt8(ascii: "/")]
      let isTaken =
        try files[name] != nil || files.keys.contains { $0.bytes.starts(with: below) }
        || store.entry(at: name, in: reference) != nil
      if !isTaken {
        reports.append(MergeReport(path: name, kind: .copied(of: path)))
        return name
      }
      attempt += 1
    }
  }
}

// Names that differ only by case or Unicode form.
extension NameSettlement {
  private mutating func separateSpellings() throws {
    var depth = 1
    while true {
      var groups: [TreePath: [NameKey: Set<TreePath>]] = [:]
      var isDone = true
      for path in files.keys {
        let components = path.components
        guard components.count >= depth else { continue }
        isDone = false
        let name = components.prefix(depth).reduce(TreePath("")) { $0.appending($1) }
        groups[name.parent ?? "", default: [:]][NameKey(name.name), default: []].insert(name)
      }
      if isDone { return }
      for folder in groups.keys.sorted() {
        let meeting = (groups[folder] ?? [:]).values.filter { $0.count > 1 }
        for names in meeting.map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] }) {
          try separate(names)
        }
      }
      depth += 1
    }
  }

  /// Renames all of these that no head, nor the reference, has beside one that stays.
  private mutating func separate(_ names: [TreePath]) throws {
    let trees = [reference] + heads.map(\.tree)
    var holders: [TreePath: Set<Int>] = [:]
    for name in names {
      holders[name] = try Set(
        trees.indices.filter { try store.entry(at: name, in: trees[$0]) != nil })
    }
    let ranked = names.map { name in
      let claims = claims(at: name)
      let isNew = holders[name]?.contains(0) != true
      return (
        name: name, claims: claims,
        rank: (isNew ? 1 : 0, claims.map(\.claim.owner).min() ?? 0, name)
      )
    }.sorted { $0.rank < $1.rank }
    var kept: [TreePath] = []
    for (name, claims, _) in ranked {
      let isAlone = kept.contains { holders[$0, default: []].isDisjoint(with: holders[name] ?? []) }
      guard isAlone, let first = claims.min(by: { $0.claim.owner < $1.claim.owner }) else {
        kept.append(name)
        continue
      }
      let isFolder = claims[0].path != name
      let copy = try freeName(for: name, first.claim, isFolder: isFolder)
      for (path, claim) in claims {
        files[path] = nil
        files[TreePath(bytes: copy.bytes + path.bytes.dropFirst(name.bytes.count))] = claim
      }
    }
  }

  /// The files that have this name, or are in the folder of this name, by path.
  private func claims(at name: TreePath) -> [(path: TreePath, claim: TermFile)] {
    let below = name.bytes + [UInt8(ascii: "/")]
    return files.filter { $0.key == name || $0.key.bytes.starts(with: below) }
      .map { (path: $0.key, claim: $0.value) }.sorted { $0.path < $1.path }
  }
}

/// The name under which a file stays that can't have its own: notes-merge(7), "Copies".
enum CopyName {
  /// How many bytes a name may have on the file systems there are.
  static let longestName = 255

  /// `NAME (WHO's copy, DATE).EXT`, or from the second attempt on `NAME (WHO's copy, DATE 2).EXT`.
  static func path(for path: TreePath, label: [UInt8], attempt: Int, isFolder: Bool) -> TreePath {
    let (who, date) = ConflictLabel.parse(label) ?? (Array("unknown".utf8), [])
    let name = path.name.bytes
    var stem = name[...]
    var suffix: ArraySlice<UInt8> = []
    if !isFolder, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= 16 {
      (stem, suffix) = (name[..<dot], name[dot...])
    }
    var note = Array(" (".utf8)
    for byte in who.prefix(100) {
      note.append(byte == UInt8(ascii: "/") ? UInt8(ascii: "-") : byte)
    }
    note += Array("'s copy, ".utf8)
    for byte in date { note.append(byte == UInt8(ascii: ":") ? UInt8(ascii: ".") : byte) }
    if attempt > 1 { note += Array(" \(attempt)".utf8) }
    note += Array(")".utf8)
    while stem.count + note.count + suffix.count > longestName, let last = stem.popLast() {
      // A character goes as a whole.
      if last & 0xC0 == 0x80 { while let byte = stem.popLast(), byte & 0xC0 == 0x80 {} }
    }
    let copy = TreePath(bytes: Array(stem) + note + Array(suffix))
    return path.parent?.appending(copy) ?? copy
  }
}
