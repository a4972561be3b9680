package import Git

/// Which files a term renamed since the reference: notes-merge(7), "Renames".
package struct RenameDetection {
  /// More pairs of files than this are not compared by content.
  static let mostPairs = 100_000

  private let store: any MergeStore
  private var known: [ObjectID: ContentSimilarity] = [:]

  /// For each term the renamed files that matter to another term: old name to new name.
  static func renames(store: any MergeStore, files: TermFiles) throws -> [[TreePath: TreePath]] {
    var detection = RenameDetection(store: store)
    let shared = files.changedDifferently
    return try files.changed.indices.map {
      try detection.renames(Moved(files: files, term: $0, relevant: shared))
    }
  }

  /// Which of the files that are gone became which of those that are new: old name to new name.
  package static func renames(
    gone: [(path: TreePath, id: ObjectID)], new: [(path: TreePath, id: ObjectID)],
    store: any MergeStore
  ) throws -> [TreePath: TreePath] {
    var detection = RenameDetection(store: store)
    return try detection.renames(Moved(gone: gone, new: new))
  }

  /// The files that a term no longer has and those that it has anew.
  private struct Moved {
    var gone: [(path: TreePath, id: ObjectID)] = []
    var new: [(path: TreePath, id: ObjectID)] = []
    /// Files gone here that some other term changed too.
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
    try found.merge(takeSameName(&moved)) { first, _ in first }
    try found.merge(takeSimilar(moved)) { first, _ in first }
    return found.filter { moved.relevant.contains($0.key) }
  }

  /// Pairs files whose paths differ in the spelling of their names alone.
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
    var found: [TreePath: TreePath] = [:]
    var byID: [ObjectID: [TreePath]] = [:]
    for file in moved.gone { byID[file.id, default: []].append(file.path) }
    var taken: Set<TreePath> = []
    for sameName in [true, false] {
      for file in moved.new where !taken.contains(file.path) {
        let source = byID[file.id]?.first {
          found[$0] == nil && (!sameName || $0.name == file.path.name)
        }
        if let source {
          found[source] = file.path
          taken.insert(file.path)
        }
      }
    }
    moved.gone.removeAll { found[$0.path] != nil }
    moved.new.removeAll { taken.contains($0.path) }
    return found
  }

  /// Pairs files whose last name occurs once on each side, when they are similar enough.
  private mutating func takeSameName(_ moved: inout Moved) throws -> [TreePath: TreePath] {
    let gone = Dictionary(grouping: moved.gone, by: \.path.name)
    let new = Dictionary(grouping: moved.new, by: \.path.name)
    var found: [TreePath: TreePath] = [:]
    var taken: Set<TreePath> = []
    for (name, sources) in gone {
      guard sources.count == 1, let targets = new[name], targets.count == 1 else { continue }
      let score = try score(sources[0].id, targets[0].id)
      if score >= ContentSimilarity.leastWithSameName {
        found[sources[0].path] = targets[0].path
        taken.insert(targets[0].path)
      }
    }
    moved.gone.removeAll { found[$0.path] != nil }
    moved.new.removeAll { taken.contains($0.path) }
    return found
  }

  /// Pairs the most similar files of those that are left.
  private mutating func takeSimilar(_ moved: Moved) throws -> [TreePath: TreePath] {
    guard moved.gone.count * moved.new.count <= Self.mostPairs else { return [:] }
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
    for id in [source, target] where known[id] == nil {
      known[id] = ContentSimilarity(try store.blob(id))
    }
    guard let before = known[source], let after = known[target] else { return 0 }
    return before.score(against: after)
  }
}
