/// The four kinds of object in a git repository.
public enum ObjectKind: Int32, Sendable {
  // Raw values as in pack files (gitformat-pack(5)).
  case commit = 1
  case tree = 2
  case blob = 3
  case tag = 4
}

/// The mode of a tree entry: the kind of thing with that name.
public struct FileMode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let regular = FileMode(rawValue: 0o100644)
  public static let executable = FileMode(rawValue: 0o100755)
  public static let tree = FileMode(rawValue: 0o040000)
  /// A symbolic link; its blob is the target.
  public static let symlink = FileMode(rawValue: 0o120000)
  /// A commit of another repository.
  public static let submodule = FileMode(rawValue: 0o160000)

  /// Whether the entry is a file, executable or not.
  public var isFile: Bool { self == .regular || self == .executable }
}

/// One name in a tree.
public struct TreeEntry: Hashable, Sendable {
  /// The name, one component.
  public var name: TreePath
  package var mode: FileMode
  package var id: ObjectID

  package init(name: TreePath, mode: FileMode, id: ObjectID) {
    self.name = name
    self.mode = mode
    self.id = id
  }
}

/// The content of a tree object.
public struct Tree: Sendable {
  /// The entries in git's order: by name, a folder's name compared as if it ended in `/`.
  public let entries: [TreeEntry]

  /// A tree with these entries, which need not be sorted yet.
  public init(entries: [TreeEntry]) { self.entries = entries.sorted(by: Self.precedes) }

  /// A tree read from the repository, its order kept as stored.
  init(stored entries: [TreeEntry]) { self.entries = entries }

  /// git's order of tree entries.
  public static func precedes(_ left: TreeEntry, _ right: TreeEntry) -> Bool {
    precedes((left.name, left.mode == .tree), (right.name, right.mode == .tree))
  }

  static func precedes(
    _ left: (name: TreePath, isTree: Bool), _ right: (name: TreePath, isTree: Bool)
  ) -> Bool {
    left.name.bytes.withUnsafeBytes { name in
      right.name.bytes.withUnsafeBytes { other in
        TreeBytes.order(of: (name, left.isTree), with: (other, right.isTree)) < 0
      }
    }
  }
}

/// The person who made a commit, and the time.
public struct Signature: Hashable, Sendable {
  package var name: String
  package var email: String
  /// Seconds since 1970-01-01 00:00 UTC.
  public var time: Int64
  /// Minutes east of UTC.
  public var offset: Int

  package init(name: String, email: String, time: Int64, offset: Int) {
    self.name = name
    self.email = email
    self.time = time
    self.offset = offset
  }
}

/// The content of a commit object.
public struct Commit: Sendable {
  package let id: ObjectID
  package let tree: ObjectID
  package let parents: [ObjectID]
  package let author: Signature
  package let committer: Signature
  /// The message with its trailers, as stored.
  public let message: String
  /// Whether the commit has the header of a version rewritten by `notes forget`: notes-forget(1).
  package let isRewritten: Bool

  package init(
    id: ObjectID, tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature,
    message: String, isRewritten: Bool = false
  ) {
    self.isRewritten = isRewritten
    self.id = id
    self.tree = tree
    self.parents = parents
    self.author = author
    self.committer = committer
    self.message = message
  }
}
