internal import Synchronization

/// The size of a whole tree.
struct TreeExtent {
  /// Files and folders, at any depth.
  var entries = 0
  /// The depth of nested folders.
  var depth = 1
  var longestPath = 0
  /// The size of the largest list of entries, in bytes.
  var largestFolder = 0

  mutating func add(fileNamed nameBytes: Int) {
    entries += 1
    longestPath = max(longestPath, nameBytes)
  }

  mutating func add(_ folder: TreeExtent, named nameBytes: Int) {
    entries = min(entries + folder.entries + 1, 1 << 60)
    depth = max(depth, folder.depth + 1)
    longestPath = max(longestPath, nameBytes + 1 + folder.longestPath)
    largestFolder = max(largestFolder, folder.largestFolder)
  }
}

/// Measures trees, reading each distinct folder once: a few folders that contain each other many
/// times can amount to billions of files.
struct TreeExtents {
  private var known: [ObjectID: TreeExtent] = [:]
  /// How many folders were read for the measurement.
  private(set) var foldersRead = 0

  /// The trees that this process measured last, in any repository; an ID always has the same
  /// content. So a session measures only the parts of a large notebook that have changed since the
  /// session before.
  static var remembered: TreeExtents { memory.withLock { TreeExtents(known: $0) } }

  private static let memory = Mutex<[ObjectID: TreeExtent]>([:])
  /// The limit of remembered folders, of about 100 bytes each.
  private static let memoryLimit = 1 << 14

  init(known: [ObjectID: TreeExtent] = [:]) { self.known = known }

  /// Adds the trees measured here to `remembered`.
  func remember() {
    Self.memory.withLock { memory in
      if known.count != memory.count { memory = known.count <= Self.memoryLimit ? known : [:] }
    }
  }

  mutating func extent(
    of root: ObjectID, content: (ObjectID) throws -> [UInt8]
  ) throws -> TreeExtent {
    var stack = [root]
    while let tree = stack.last {
      if known[tree] == nil {
        foldersRead += 1
        guard let entries = TreeBytes.entries(try content(tree)) else {
          throw GitError.malformed(tree, "a damaged tree")
        }
        // A tree is measured after all folders in it.
        let unknown = measure(tree, entries)
        guard unknown.isEmpty else {
          stack += unknown
          continue
        }
      }
      stack.removeLast()
    }
    return known[root] ?? TreeExtent()
  }

  /// Measures a folder by another one that is already measured and whose entries have the same names, modes and
  /// folders. False if the other one is not measured.
  mutating func measure(_ tree: ObjectID, like other: ObjectID) -> Bool {
    guard let extent = known[other] else { return false }
    known[tree] = extent
    return true
  }

  /// Measures a folder with these entries if all folders in it are measured. Otherwise returns the folders that are not
  /// measured yet.
  @discardableResult
  mutating func measure(_ tree: ObjectID, _ entries: [TreeEntryBytes]) -> Set<ObjectID> {
    var extent = TreeExtent(largestFolder: entries.last?.end ?? 0)
    var unknown: Set<ObjectID> = []
    for entry in entries {
      let nameBytes = entry.nameEnd - entry.nameStart
      if !entry.isTree {
        extent.add(fileNamed: nameBytes)
      } else if let folder = known[entry.id] {
        extent.add(folder, named: nameBytes)
      } else {
        unknown.insert(entry.id)
      }
    }
    if unknown.isEmpty { known[tree] = extent }
    return unknown
  }
}

extension PackLimits {
  /// Throws if a version exceeds a limit of all devices: notes-protocol(7), LIMITS.
  func check(_ extent: TreeExtent) throws(PackError) {
    if extent.depth > depth { throw .overLimit("folders", limit: depth) }
    if extent.entries > files {
      throw .overLimit("files and folders in a version", limit: files)
    }
    if extent.largestFolder > treeBytes {
      throw .overLimit("bytes in an object", limit: treeBytes)
    }
    if extent.longestPath > pathBytes {
      throw .overLimit("bytes in a path", limit: pathBytes)
    }
  }
}

extension Repository {
  /// The reason why every device refuses a version with this tree for its total size; nil if
  /// devices accept it.
  package func excess(
    ofTree tree: ObjectID, limits: PackLimits = .standard
  ) throws -> PackError? {
    let extent = try extents.extent(of: tree) { try data(of: $0, kind: .tree) }
    do {
      try limits.check(extent)
      return nil
    } catch {
      return error
    }
  }
}
