internal import System

/// Checks a received pack by the rules of notes-protocol(7), and that all referenced objects exist. The
/// repository's own objects are complete, so the check does not follow them. Of a tree it checks only the
/// differences from the parent commit's tree.
///
/// The size of every version is checked. A few bytes can describe nested trees with millions of entries. So the check
/// keeps only one tree at a time in memory, and a few bytes for each object of the pack.
struct QuarantineCheck {
  private let repository: Repository
  private let objects: ReceivedObjects
  private let limits: PackLimits
  /// For each object, whether another object refers to it.
  private var isReached: [Bool]
  private var known: Set<ObjectID> = []
  /// The depth at which each folder was checked. Everything below it is within the limits if the folder is at that
  /// depth.
  private var depths: [ObjectID: Int] = [:]
  private(set) var extents = TreeExtents.remembered
  /// The commits of the pack that have several parents.
  private(set) var merges: Set<ObjectID> = []

  init(of objects: ReceivedObjects, for repository: Repository, limits: PackLimits) {
    self.objects = objects
    isReached = [Bool](repeating: false, count: objects.all.count)
    self.repository = repository
    self.limits = limits
  }

  /// Checks the pack, and returns the commits that the repository lacks: a sender may not know which ones are here.
  mutating func run(promised heads: [ObjectID]) throws -> [ObjectID] {
    for (id, kind) in objects.all where kind == .tag { throw PackError.refused(id, "a tag") }
    let commits = objects.all.filter { $0.kind == .commit }.map(\.id)
    var links: [ObjectID: QuarantineCommit.Links] = [:]
    var parents = 0
    for id in commits {
      let link = try QuarantineCommit.check(objects.content(of: id), id: id, limits: limits)
      parents += link.parents.count
      let limit = limits.allParents + limits.parentsPerCommit * commits.count
      guard parents <= limit else {
        throw PackError.costly("parents of all commits", limit: limit)
      }
      links[id] = link
      if link.parents.count > 1 { merges.insert(id) }
    }
    // Parents are checked first, because a subtree that the parent's tree also has is not checked again. A
    // version that reverts an edit has the tree of its grandparent.
    for id in parentsFirst(commits, parents: { links[$0]?.parents }) {
      guard let link = links[id] else { continue }
      reach(id)
      for parent in link.parents { try require(parent, .commit, for: id) }
      try require(link.tree, .tree, for: id)
      let base = try link.parents.first.map { parent in
        try links[parent]?.tree ?? repository.commit(parent).tree
      }
      try visit(link.tree, base: base)
      try limits.check(extent(of: link.tree))
    }
    // Objects that nothing refers to are allowed if they are already here: a sender may not know that.
    let loose = objects.all.indices.filter { !isReached[$0] }.map { objects.all[$0].id }
    if let stray = try repository.lacking(loose).first {
      throw PackError.refused(stray, "no version of the pack refers to it")
    }
    for head in heads {
      guard try kind(of: head) == .commit || isHere(head, .commit) else {
        throw PackError.headMissing(head)
      }
    }
    return try repository.lacking(commits)
  }

  /// The position of an object in the pack; nil if it is not in the pack.
  private func place(of id: ObjectID) -> Int? {
    let place = objects.all.partitionPoint { $0.id < id }
    return place < objects.all.count && objects.all[place].id == id ? place : nil
  }

  private func kind(of id: ObjectID) -> ObjectKind? { place(of: id).map { objects.all[$0].kind } }

  private mutating func reach(_ id: ObjectID) {
    if let place = place(of: id) { isReached[place] = true }
  }

  private struct Visit {
    let tree: ObjectID
    let base: ObjectID?
  }

  private mutating func visit(_ root: ObjectID, base: ObjectID?) throws {
    var stack: [Visit] = []
    try enter(Visit(tree: root, base: base), depth: 0, &stack)
    while let next = stack.popLast() {
      let depth = (depths[next.tree] ?? 0) + 1
      var folders: [Visit] = []
      var entered: Set<ObjectID> = []
      try look(at: next) { folder in
        if entered.insert(folder.tree).inserted { folders.append(folder) }
      }
      for folder in folders { try enter(folder, depth: depth, &stack) }
    }
  }

  /// Pushes a folder on the stack if it was not checked yet.
  private mutating func enter(_ visit: Visit, depth: Int, _ stack: inout [Visit]) throws {
    let tree = visit.tree
    if let former = depths[tree] ?? (kind(of: tree) == .tree ? nil : 0) {
      // The folder may have been within the limits at its former depth, and be too deep here.
      if depth > former, try depth + extent(of: tree).depth > limits.depth {
        throw PackError.overLimit("folders", limit: limits.depth)
      }
      depths[tree] = max(depth, former)
      return
    }
    guard depth < limits.depth else { throw PackError.overLimit("folders", limit: limits.depth) }
    depths[tree] = depth
    stack.append(visit)
  }

  /// Checks a folder: every entry must exist. Skips the entries that the folder's base also has.
  private mutating func look(at visit: Visit, folder: (Visit) -> Void) throws {
    let content = try objects.content(of: visit.tree)
    let old = try visit.base.map(objects.content) ?? []
    // Most versions of a large folder only change texts. If the base's names were checked, the same names need no check
    // here.
    var areNamesChecked = visit.base.map { depths[$0] != nil && kind(of: $0) == .tree } ?? false
    let isWellFormed = try TreeBytes.compare(old, content) { counterpart, entry in
      // A mode with a leading zero has the same value, but is refused.
      let isSameMode =
        entry?.mode == counterpart?.mode && entry?.modeLength == counterpart?.modeLength
      if entry == nil || !isSameMode || entry?.isTree == true { areNamesChecked = false }
      guard let entry else { return }
      try require(entry.id, entry.isTree ? .tree : .blob, for: visit.tree)
      if entry.isTree {
        let base = counterpart.flatMap { $0.isTree ? $0.id : nil }
        folder(Visit(tree: entry.id, base: base))
      }
    }
    guard isWellFormed else { throw PackError.refused(visit.tree, "a damaged tree") }
    if areNamesChecked, let base = visit.base, extents.measure(visit.tree, like: base) { return }
    extents.measure(visit.tree, try QuarantineTree.check(content, id: visit.tree))
  }

  /// Throws unless the object is in the pack or the repository, and has that kind.
  private mutating func require(_ id: ObjectID, _ kind: ObjectKind, for user: ObjectID) throws {
    if let place = place(of: id) {
      let found = objects.all[place].kind
      guard found == kind else { throw PackError.refused(id, "a \(found) in place of a \(kind)") }
      isReached[place] = true
      return
    }
    guard try isHere(id, kind) else { throw PackError.incomplete(user, needs: id) }
  }

  private mutating func isHere(_ id: ObjectID, _ kind: ObjectKind) throws -> Bool {
    if id == .emptyTree { return try kind == .tree && repository.write(.tree, []) == id }
    if known.contains(id) { return true }
    guard try repository.contains(id) else { return false }
    let found = try repository.header(of: id).kind
    guard found == kind else { throw PackError.refused(id, "a \(found) in place of a \(kind)") }
    known.insert(id)
    return true
  }

  private mutating func extent(of tree: ObjectID) throws -> TreeExtent {
    try extents.extent(of: tree, content: objects.content)
  }
}
