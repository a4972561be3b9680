internal import Git

/// Gives every file of the merged tree a unique name: notes-merge(7), "Names that meet".
struct NameSettlement {
  let store: any MergeStore
  let reference: ObjectID
  let heads: [MergeTerm]
  let rules: MergeRules
  let bounds: MergeBounds
  private var labels: SideLabels
  private var room: Int
  private(set) var budget: MergeBudget
  private(set) var reports: [MergeReport] = []
  private(set) var files = MergedFiles()

  init(
    store: any MergeStore, reference: ObjectID, heads: [MergeTerm], rules: MergeRules,
    bounds: MergeBounds, labels: SideLabels, room: Int, budget: MergeBudget
  ) {
    self.store = store
    self.reference = reference
    self.heads = heads
    self.rules = rules
    self.bounds = bounds
    self.labels = labels
    self.room = room
    self.budget = budget
  }

  /// Gives each name to one of the files that claim it, and a free name to each copy.
  mutating func settle(_ claims: [TreePath: [TermFile]], copies: [TreePath: [TermFile]]) throws {
    var copies = copies
    for path in claims.keys.sorted() {
      var contenders = claims[path] ?? []
      if contenders.count > 1, let merged = try merge(contenders, at: path) {
        contenders = [merged]
      }
      files.put(contenders.first, at: path)
      if contenders.count > 1 { copies[path, default: []] += contenders.dropFirst() }
    }
    try labels.find(copies.values.joined())
    for (path, copies) in copies.sorted(by: { $0.key < $1.key }) {
      for copy in copies { files.put(copy, at: try freeName(for: path, copy)) }
    }
    try moveFilesOffFolders()
    try separateSpellings()
  }

  /// Merges files that got the same name in different ways into one note, with markers around the
  /// differences; nil if they are not all text.
  private mutating func merge(_ claims: [TermFile], at path: TreePath) throws -> TermFile? {
    let claims = claims.sorted { ($0.owner, $0.source) < ($1.owner, $1.source) }
    if Set(claims.map(\.value)).count == 1 { return claims[0] }
    var terms = claims
    for index in terms.indices { terms[index].isNewConflict = false }
    try labels.find(claims)
    var sum = FileSum(
      store: store, rules: rules, bounds: bounds, labels: labels, names: [path], room: room,
      budget: budget)
    let files = try sum.files(
      positives: terms, negatives: Array(repeating: nil, count: terms.count - 1), keeps: false)
    (room, budget) = (sum.room, sum.budget)
    guard files.count == 1, var merged = files.first else { return nil }
    (merged.owner, merged.source) = (claims[0].owner, claims[0].source)
    return merged
  }

  /// A file cannot have the name of a folder: give it a name beside the folder.
  private mutating func moveFilesOffFolders() throws {
    var seen: Set<TreePath> = []
    for path in files.byPath.keys.sorted() {
      var folder = path.parent
      while let name = folder, seen.insert(name).inserted {
        if let file = files.put(nil, at: name) {
          files.put(file, at: try freeName(for: name, file))
        }
        folder = name.parent
      }
    }
  }

  private mutating func freeName(
    for path: TreePath, _ claim: TermFile, isFolder: Bool = false
  ) throws -> TreePath {
    try labels.find([claim])
    let label = labels[claim] ?? []
    var attempt = 1
    while true {
      var place = path
      var name = CopyName.path(for: place, label: label, attempt: attempt, isFolder: isFolder)
      // If the name of a copy would be too long, the copy is put into the nearest folder above in
      // which it fits.
      while name.bytes.count > bounds.pathBytes, let folder = place.parent {
        place = folder.parent?.appending(place.name) ?? place.name
        name = CopyName.path(for: place, label: label, attempt: attempt, isFolder: isFolder)
      }
      let isTaken =
        try files[name] != nil || files.isFolder(name)
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
  /// Names in one folder, each with the paths of the files that have it or are in the folder with
  /// that name.
  private typealias Names = [TreePath: [TreePath]]

  private mutating func separateSpellings() throws {
    var folders: [TreePath] = [""]
    while !folders.isEmpty {
      let meetings = folders.sorted().map { folder in
        let names = files.names(in: folder)
        return names.count < 2
          ? []
          : Dictionary(grouping: names) { NameKey($0.name) }.values.filter { $0.count > 1 }
            .map { $0.sorted() }.sorted { $0[0] < $1[0] }
      }.filter { !$0.isEmpty }
      var names: Names = [:]
      for name in meetings.joined().joined() { names[name] = files.paths(below: name) }
      for meeting in meetings {
        let holders = try holders(of: meeting.joined())
        try labels.find(
          meeting.joined().compactMap { name in first(of: names[name] ?? [])?.file })
        for group in meeting { try separate(group, names, holders) }
      }
      folders = folders.flatMap { files.names(in: $0).filter(files.isFolder) }
    }
  }

  /// For each name, the numbers of the reference and the heads that have it.
  private func holders(of names: some Sequence<TreePath>) throws -> [TreePath: Set<Int>] {
    var holders: [TreePath: Set<Int>] = [:]
    for (position, tree) in ([reference] + heads.map(\.tree)).enumerated() {
      for name in names where try store.entry(at: name, in: tree) != nil {
        holders[name, default: []].insert(position)
      }
    }
    return holders
  }

  private func first(of paths: [TreePath]) -> (path: TreePath, file: TermFile)? {
    paths.compactMap { path in files[path].map { (path, $0) } }
      .min { $0.1.owner < $1.1.owner }
  }

  /// Moves the content of these folders into the first one, and renames files and folders with equal names. A
  /// name stays if some head, or the reference, already has it beside a kept name. The reference's name has
  /// priority, but comes last if some head has replaced it by another name.
  private mutating func separate(
    _ group: [TreePath], _ names: Names, _ holders: [TreePath: Set<Int>]
  ) throws {
    // The heads that have any of the names; the reference has the number 0.
    let all = group.reduce(into: Set<Int>()) { $0.formUnion(holders[$1] ?? []) }.subtracting([0])
    let ranked = group.map { name in
      let mine = holders[name] ?? []
      let place = !mine.contains(0) ? 1 : all.isSubset(of: mine) ? 0 : 2
      return (name: name, rank: (place, first(of: names[name] ?? [])?.file.owner ?? 0, name))
    }.sorted { $0.rank < $1.rank }
    // The sets of heads that have a kept name. A name of the same heads is also kept: these heads have both.
    var kept: Set<Set<Int>> = []
    var firstFolder: TreePath?
    for name in ranked.map(\.name) {
      let paths = names[name] ?? []
      let mine = holders[name] ?? []
      let isFolder = paths.first != name
      let isAlone = kept.contains { $0.isDisjoint(with: mine) }
      let longest = paths.map(\.bytes.count).max() ?? 0
      let hasRoom =
        !isFolder || longest - name.name.bytes.count + CopyName.longestName <= bounds.pathBytes
      guard isAlone, hasRoom, let first = first(of: paths) else {
        kept.insert(mine)
        if isFolder, firstFolder == nil { firstFolder = name }
        continue
      }
      if isFolder, let firstFolder {
        try move(paths, from: name, into: firstFolder)
        continue
      }
      let copy = try freeName(for: name, first.file, isFolder: isFolder)
      for path in paths {
        let file = files.put(nil, at: path)
        files.put(file, at: TreePath(bytes: copy.bytes + path.bytes.dropFirst(name.bytes.count)))
      }
    }
  }
}

extension NameSettlement {
  /// Moves files of one folder to the same relative paths in another; if a path is in use, the file becomes a
  /// copy.
  private mutating func move(
    _ paths: [TreePath], from folder: TreePath, into other: TreePath
  ) throws {
    for path in paths {
      guard let file = files.put(nil, at: path) else { continue }
      let place = TreePath(bytes: other.bytes + path.bytes.dropFirst(folder.bytes.count))
      let isFree = files[place] == nil && !files.isFolder(place)
      let fits = place.bytes.count <= bounds.pathBytes
      files.put(file, at: isFree && fits ? place : try freeName(for: place, file))
    }
  }
}

/// The new name for a file that cannot keep its own: notes-merge(7), "Copies".
enum CopyName {
  /// The longest name that file systems allow, in bytes.
  static let longestName = 255
  private static let afterName = "'s copy, "

  /// `NAME (WHO's copy, DATE).EXT`; from the second attempt on, `NAME (WHO's copy, DATE 2).EXT`.
  static func path(for path: TreePath, label: [UInt8], attempt: Int, isFolder: Bool) -> TreePath {
    var (who, date) = ConflictLabel.parse(label) ?? (Array("unknown".utf8), [])
    var mark = Array(SideLabel.unsigned.utf8)
    if who.suffix(mark.count).elementsEqual(mark) { who.removeLast(mark.count) } else { mark = [] }
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
    note += mark + Array(afterName.utf8)
    for byte in date { note.append(byte == UInt8(ascii: ":") ? UInt8(ascii: ".") : byte) }
    if attempt > 1 { note += Array(" \(attempt)".utf8) }
    note += Array(")".utf8)
    while stem.count + note.count + suffix.count > longestName, let last = stem.popLast() {
      // A character is removed as a whole.
      if last & 0xC0 == 0x80 { while let byte = stem.popLast(), byte & 0xC0 == 0x80 {} }
    }
    let copy = TreePath(bytes: Array(stem) + note + Array(suffix))
    return path.parent?.appending(copy) ?? copy
  }
}
