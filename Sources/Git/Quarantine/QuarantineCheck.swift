/// Checks the objects of a received pack against the rules of notes-protocol(7), and that each has
/// everything it refers to.
///
/// What the repository already holds is complete, because nothing incomplete ever joins it: so a
/// reference to an object that is here needs no walk behind it, and of a tree only the entries that
/// differ from its commit's parent are looked up.
struct QuarantineCheck {
  private let repository: Repository
  private let database: QuarantineDatabase
  private let limits: PackLimits
  private let objects: [ObjectID]
  private let kinds: [ObjectID: ObjectKind]
  private var reached: Set<ObjectID> = []
  private var known: Set<ObjectID> = []
  /// How deep each folder was found to be; there, what it holds is not too deep.
  private var depths: [ObjectID: Int] = [:]
  private var extents: [ObjectID: QuarantineExtent] = [:]

  init(
    objects: [(id: ObjectID, kind: ObjectKind)], database: QuarantineDatabase,
    repository: Repository, limits: PackLimits
  ) {
    self.objects = objects.map(\.id)
    kinds = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0.kind) })
    self.database = database
    self.repository = repository
    self.limits = limits
  }

  /// Throws unless every object is well formed and complete, and all of `heads` are there.
  ///
  /// - Returns: how many commits the pack brought.
  mutating func run(promised heads: [ObjectID]) throws -> Int {
    for id in objects where kinds[id] == .tag { throw PackError.refused(id, "a tag") }
    let commits = objects.filter { kinds[$0] == .commit }
    var links: [ObjectID: QuarantineCommit.Links] = [:]
    for id in commits {
      links[id] = try QuarantineCommit.check(database.content(of: id), id: id, limits: limits)
    }
    for id in Self.parentsFirst(commits, links) {
      guard let link = links[id] else { continue }
      reached.insert(id)
      for parent in link.parents { try require(parent, .commit, for: id) }
      try require(link.tree, .tree, for: id)
      let base = try link.parents.first.map { parent in
        try links[parent]?.tree ?? repository.commit(parent).tree
      }
      try visit(link.tree, base: base, depth: 0)
    }
    for id in objects where !reached.contains(id) {
      // A sender may not know what is here already.
      guard try repository.contains(id) else {
        throw PackError.refused(id, "no version of the pack refers to it")
      }
    }
    for head in heads {
      guard try kinds[head] == .commit || isHere(head, .commit) else {
        throw PackError.headMissing(head)
      }
      if let tree = links[head]?.tree { try checkExtent(of: tree) }
    }
    return commits.count
  }

  /// The commits, each after its parents. What a tree shares with its parent's is not looked at
  /// again, so that one has to have been checked before: a version that takes an edit back has the
  /// tree of its grandparent.
  private static func parentsFirst(
    _ commits: [ObjectID], _ links: [ObjectID: QuarantineCommit.Links]
  ) -> [ObjectID] {
    var sorted: [ObjectID] = []
    sorted.reserveCapacity(commits.count)
    var entered: Set<ObjectID> = []
    // The flag says that the parents have been dealt with.
    var stack: [(id: ObjectID, isDone: Bool)] = []
    for commit in commits {
      stack.append((commit, false))
      while let (id, isDone) = stack.popLast() {
        if isDone {
          sorted.append(id)
        } else if let link = links[id], entered.insert(id).inserted {
          stack.append((id, true))
          for parent in link.parents { stack.append((parent, false)) }
        }
      }
    }
    return sorted
  }

  private mutating func visit(_ tree: ObjectID, base: ObjectID?, depth: Int) throws {
    let former = depths[tree] ?? (kinds[tree] == .tree ? nil : 0)
    if let former {
      // A folder that was fine elsewhere may hold too many others for a place farther down.
      if depth > former { _ = try extent(of: tree, depth: depth) }
      depths[tree] = max(depth, former)
      return
    }
    guard depth < limits.depth else { throw PackError.overLimit("folders", limit: limits.depth) }
    depths[tree] = depth
    reached.insert(tree)
    let content = try database.content(of: tree)
    try content.withUnsafeBytes { try QuarantineTree.check($0, id: tree) }
    let old = try base.map(database.content) ?? []
    guard let differences = PackTree.differences(from: old, to: content) else {
      throw PackError.refused(tree, "a damaged tree")
    }
    for difference in differences {
      try require(difference.id, difference.entry.isTree ? .tree : .blob, for: tree)
      if difference.entry.isTree {
        let folder = difference.old.flatMap { old in
          old.mode == FileMode.tree.rawValue ? old.id : nil
        }
        try visit(difference.id, base: folder, depth: depth + 1)
      } else {
        reached.insert(difference.id)
      }
    }
  }

  /// Throws unless the object is in the pack or here, and of that kind.
  private mutating func require(_ id: ObjectID, _ kind: ObjectKind, for user: ObjectID) throws {
    if let found = kinds[id] {
      guard found == kind else { throw PackError.refused(id, "a \(found) in place of a \(kind)") }
      return
    }
    guard try isHere(id, kind) else { throw PackError.incomplete(user, needs: id) }
  }

  private mutating func isHere(_ id: ObjectID, _ kind: ObjectKind) throws -> Bool {
    if id == .emptyTree { return kind == .tree }
    if known.contains(id) { return true }
    guard try repository.contains(id) else { return false }
    let found = try repository.header(of: id).kind
    guard found == kind else { throw PackError.refused(id, "a \(found) in place of a \(kind)") }
    known.insert(id)
    return true
  }

  private mutating func checkExtent(of tree: ObjectID) throws {
    let extent = try extent(of: tree, depth: 0)
    if extent.files > limits.files {
      throw PackError.overLimit("files in a version", limit: limits.files)
    }
    if extent.longestPath > limits.pathBytes {
      throw PackError.overLimit("bytes in a path", limit: limits.pathBytes)
    }
  }

  /// Measures a version as a whole, each distinct folder once: a few trees that name each other many
  /// times can stand for billions of files.
  private mutating func extent(of tree: ObjectID, depth: Int) throws -> QuarantineExtent {
    if let extent = extents[tree] {
      guard depth + extent.depth <= limits.depth else {
        throw PackError.overLimit("folders", limit: limits.depth)
      }
      return extent
    }
    guard depth < limits.depth else { throw PackError.overLimit("folders", limit: limits.depth) }
    let content = try database.content(of: tree)
    var folders: [(id: ObjectID, nameBytes: Int)] = []
    var extent = QuarantineExtent()
    try content.withUnsafeBytes { content in
      guard let entries = PackTree.entries(content) else {
        throw PackError.refused(tree, "a damaged tree")
      }
      for entry in entries {
        let nameBytes = entry.nameEnd - entry.nameStart
        if entry.isTree {
          folders.append((entry.id(in: content), nameBytes))
        } else {
          extent.add(fileNamed: nameBytes)
        }
      }
    }
    for folder in folders {
      extent.add(try self.extent(of: folder.id, depth: depth + 1), named: folder.nameBytes)
    }
    extents[tree] = extent
    return extent
  }
}

/// How large a tree is with all its folders.
struct QuarantineExtent {
  var files = 0
  var depth = 1
  var longestPath = 0

  mutating func add(fileNamed nameBytes: Int) {
    files += 1
    longestPath = max(longestPath, nameBytes)
  }

  mutating func add(_ folder: QuarantineExtent, named nameBytes: Int) {
    let sum = files.addingReportingOverflow(folder.files)
    files = sum.overflow ? .max : sum.partialValue
    depth = max(depth, folder.depth + 1)
    longestPath = max(longestPath, nameBytes + 1 + folder.longestPath)
  }
}
