package import Git

/// The files that a term renamed since the reference: notes-merge(7), "Renames".
package struct RenameDetection {
  /// The most pairs of files that are compared by content.
  static let mostPairs = 100_000
  /// Larger files are never similar to others.
  static let mostBytes = 4 << 20
  /// The limits for the total size of files that are compared by content: those with the same last
  /// name, and all others.
  static let mostBytesOfOneName = 64 << 20
  static let mostBytesInAll = 16 << 20

  private let store: any MergeStore
  private var known: [ObjectID: ContentSimilarity] = [:]
  private var sizes: [ObjectID: Int] = [:]

  /// For each term, its renamed files that another term also changed: old name to new name. The first `heads` terms are
  /// positive.
  static func renames(
    store: any MergeStore, files: TermFiles, heads: Int
  ) throws -> [[TreePath: TreePath]] {
    var detection = RenameDetection(store: store)
    let shared = files.changedDifferently
    return try files.changed.indices.map {
      try detection.renames(Moved(files: files, term: $0, relevant: shared))
        .filter { !files.isAddedAlike($0.value, byFirst: heads) }
    }
  }

  /// The new names of the deleted files that were renamed: old name to new name.
  package static func renames(
    gone: [(path: TreePath, id: ObjectID)], new: [(path: TreePath, id: ObjectID)],
    store: any MergeStore
  ) throws -> [TreePath: TreePath] {
    var detection = RenameDetection(store: store)
    return try detection.renames(Moved(gone: gone, new: new))
  }

  /// The files that a term no longer has, and its new ones.
  private struct Moved {
    var gone: [(path: TreePath, id: ObjectID)] = []
    var new: [(path: TreePath, id: ObjectID)] = []
    /// The deleted files that another term also changed.
    var relevant: Set<TreePath> = []

    init(gone: [(path: TreePath, id: ObjectID)], new: [(path: TreePath, id: ObjectID)]) {
      self.gone = gone.filter { $0.id != .emptyBlob }
      self.new = new.filter { $0.id != .emptyBlob }
      relevant = Set(gone.map(\.path))
    }

    init(files: TermFiles, term: Int, relevant: Set<TreePath>) {
      for (path, value) in files.changed[term] {
        let before = files.reference[path]
        if value == nil, let before, before.mode.isFile, before.id != .emptyBlob {
          gone.append((path, before.id))
          if relevant.contains(path) { self.relevant.insert(path) }
        } else if before == nil, let value, value.mode.isFile, value.id != .emptyBlob {
          new.append((path, value.id))
        }
      }
      gone.sort { $0.path < $1.path }
      new.sort { $0.path < $1.path }
    }
  }

  private mutating func renames(_ moved: Moved) throws -> [TreePath: TreePath] {
    if moved.relevant.isEmpty || moved.new.isEmpty { return [:] }
    var moved = moved
    var found = Self.takeSpellings(&moved)
    found.merge(Self.takeEqual(&moved)) { first, _ in first }
    moved.gone.removeAll { !moved.relevant.contains($0.path) }
    if moved.gone.isEmpty || moved.new.isEmpty {
      return found.filter { moved.relevant.contains($0.key) }
    }
    try moved.gone.removeAll { try size($0.id) > Self.mostBytes }
    try moved.new.removeAll { try size($0.id) > Self.mostBytes }
    try found.merge(takeSameName(&moved)) { first, _ in first }
    try found.merge(takeSimilar(moved)) { first, _ in first }
    return found.filter { moved.relevant.contains($0.key) }
  }

  /// Pairs files whose paths differ only in the spelling of their names.
  private static func takeSpellings(_ moved: inout Moved) -> [TreePath: TreePath] {
    var bySpelling: [[NameKey]: TreePath] = [:]
    func spelling(_ path: TreePath) -> [NameKey] { path.components.map { NameKey($0) } }
    for file in moved.gone where bySpelling[spelling(file.path)] == nil {
      bySpelling[spelling(file.path)] = file.path
    }
    var found: [TreePath: TreePath] = [:]
    for file in moved.new {
      guard let source = bySpelling.removeValue(forKey: spelling(file.path)) else { continue }
      found[source] = file.path
    }
    let taken = Set(found.values)
    moved.gone.removeAll { found[$0.path] != nil }
    moved.new.removeAll { taken.contains($0.path) }
    return found
  }

  /// Pairs files with equal content, those with the same last name first.
  private static func takeEqual(_ moved: inout Moved) -> [TreePath: TreePath] {
    struct Likeness: Hashable {
      let id: ObjectID
      let name: TreePath?
    }
    var found: [TreePath: TreePath] = [:]
    var taken: Set<TreePath> = []
    for sameName in [true, false] {
      func likeness(_ file: (path: TreePath, id: ObjectID)) -> Likeness {
        Likeness(id: file.id, name: sameName ? file.path.name : nil)
      }
      // Many files may have the same content, so each is handled once.
      var sources = Dictionary(grouping: moved.gone.filter { found[$0.path] == nil }, by: likeness)
        .mapValues { $0[...] }
      for file in moved.new where !taken.contains(file.path) {
        guard let source = sources[likeness(file)]?.popFirst() else { continue }
        found[source.path] = file.path
        taken.insert(file.path)
      }
    }
    moved.gone.removeAll { found[$0.path] != nil }
    moved.new.removeAll { taken.contains($0.path) }
    return found
  }

  /// Pairs files whose last name occurs once on each side, if they are similar enough.
  private mutating func takeSameName(_ moved: inout Moved) throws -> [TreePath: TreePath] {
    let gone = Dictionary(grouping: moved.gone, by: \.path.name)
    let new = Dictionary(grouping: moved.new, by: \.path.name)
    var found: [TreePath: TreePath] = [:]
    var taken: Set<TreePath> = []
    let pairs = gone.compactMap { name, sources in
      new[name].flatMap {
        sources.count == 1 && $0.count == 1 ? (source: sources[0], target: $0[0]) : nil
      }
    }
    guard try size(of: pairs.flatMap { [$0.source.id, $0.target.id] }) <= Self.mostBytesOfOneName
    else { return [:] }
    for (source, target) in pairs {
      // This similarity is not cached: there may be thousands of targets, and each is compared with only one
      // source.
      let score = try similarity(source.id).score(against: similarity(target.id))
      if score >= ContentSimilarity.leastWithSameName {
        found[source.path] = target.path
        taken.insert(target.path)
      }
    }
    moved.gone.removeAll { found[$0.path] != nil }
    moved.new.removeAll { taken.contains($0.path) }
    return found
  }

  /// Pairs the most similar of the remaining files.
  private mutating func takeSimilar(_ moved: Moved) throws -> [TreePath: TreePath] {
    guard moved.gone.count * moved.new.count <= Self.mostPairs,
      try size(of: (moved.gone + moved.new).map(\.id)) <= Self.mostBytesInAll
    else { return [:] }
    var pairs: [(score: Int, sameName: Int, source: TreePath, target: TreePath)] = []
    for source in moved.gone {
      for target in moved.new {
        let score = try score(source.id, target.id)
        if score >= ContentSimilarity.least {
          let sameName = source.path.name == target.path.name ? 0 : 1
          pairs.append((score, sameName, source.path, target.path))
        }
      }
    }
    pairs.sort {
      ($1.score, $0.sameName, $0.source, $0.target) < ($0.score, $1.sameName, $1.source, $1.target)
    }
    var found: [TreePath: TreePath] = [:]
    var taken: Set<TreePath> = []
    for pair in pairs where found[pair.source] == nil && !taken.contains(pair.target) {
      found[pair.source] = pair.target
      taken.insert(pair.target)
    }
    return found
  }

  private mutating func score(_ source: ObjectID, _ target: ObjectID) throws -> Int {
    for id in [source, target] where known[id] == nil { known[id] = try similarity(id) }
    guard let before = known[source], let after = known[target] else { return 0 }
    return before.score(against: after)
  }

  private func similarity(_ id: ObjectID) throws -> ContentSimilarity {
    ContentSimilarity(try store.blob(id))
  }

  /// The total size of some files, each counted as often as it occurs.
  private mutating func size(of files: [ObjectID]) throws -> Int {
    try files.reduce(0) { $0 + (try size($1)) }
  }

  private mutating func size(_ id: ObjectID) throws -> Int {
    if let size = sizes[id] { return size }
    let size = try store.size(ofBlob: id)
    sizes[id] = size
    return size
  }
}
