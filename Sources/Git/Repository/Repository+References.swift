internal import Glibc
internal import System

/// The branch and commit of HEAD.
public struct Head: Hashable, Sendable {
  /// The reference that a new commit moves: the branch that HEAD names, or `HEAD` if it is
  /// detached.
  public let reference: String
  /// The commit of that reference; nil on an unborn branch.
  public let commit: ObjectID?

  /// The branch's name without `refs/heads/`; nil if HEAD is detached.
  public var branch: String? {
    reference.hasPrefix("refs/heads/") ? String(reference.dropFirst(11)) : nil
  }
}

extension Repository {
  /// Reads HEAD from the files, without loading libgit2.
  public func head() throws -> Head {
    // A damaged HEAD is an error: the branch that it named is unknown.
    guard let text = ReferenceFile.firstLine(of: gitFolder + "/HEAD") else {
      // Throws if the file cannot be read for lack of permission; then it is not damaged.
      _ = try Disk.readIfThere(gitFolder + "/HEAD")
      throw GitError.brokenReference("HEAD")
    }
    let prefix = "ref:"
    guard text.hasPrefix(prefix) else {
      guard let commit = ObjectID(hex: text) else { throw GitError.brokenReference("HEAD") }
      return Head(reference: "HEAD", commit: commit)
    }
    let name = String(text.dropFirst(prefix.count).drop { $0 == " " || $0 == "\t" })
    guard ReferenceFile.isName(name) else { throw GitError.brokenReference("HEAD") }
    let file = ReferenceFile(name, in: gitFolder)
    switch file.content {
    case .id(let id): return Head(reference: name, commit: id)
    case .none, .folder:
      let packed = file.packed
      // An unborn branch at least has the folder of references.
      if packed == nil, Counted.access(gitFolder + "/refs", F_OK) != 0 {
        throw GitError.brokenReference(name)
      }
      return Head(reference: name, commit: packed)
    case .symbolic, .other:
      _ = try Disk.readIfThere("\(gitFolder)/\(name)")
      return Head(reference: name, commit: try reference(name))
    }
  }

  /// The object that a reference names; nil if there is no such reference.
  ///
  /// - Throws: `GitError.brokenReference` for a malformed one, or a cycle of symbolic ones.
  public func reference(_ name: String) throws -> ObjectID? {
    var present = name
    // git's limit for symbolic references (refs.h).
    for _ in 0..<5 {
      guard present == "HEAD" || ReferenceFile.isName(present) else { break }
      let file = ReferenceFile(present, in: gitFolder)
      switch file.content {
      case .id(let id): return id
      case .none, .folder: return file.packed
      case .symbolic(let next): present = next
      case .other: throw GitError.brokenReference(present)
      }
    }
    throw GitError.brokenReference(name)
  }

  /// The references whose names begin with `prefix` (for example `refs/remotes/`), by name.
  public func references(under prefix: String) throws -> [(name: String, id: ObjectID)] {
    ReferenceFile.all(under: prefix, in: gitFolder)
  }

  /// Moves a reference durably if it still names the expected object; `expected` is nil if it must
  /// not exist.
  public func update(
    reference name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws {
    // Do not make folders in a repository that was moved away.
    guard Counted.access(gitFolder + "/HEAD", F_OK) == 0 else {
      throw GitError.notARepository(gitFolder)
    }
    let isHead = ReferenceFile.firstLine(of: gitFolder + "/HEAD") == "ref: " + name
    try ReferenceFile(name, in: gitFolder).move(
      to: id, from: expected, by: identity ?? ("unknown", "unknown"), message: message,
      logs: isHead ? ["HEAD"] : [], syncingObjects: syncPendingObjects)
    if !keepsPacks { unreferenced = [] }
  }

  /// Points a reference at `id`, whatever it named before. For references that only this device writes.
  public func set(reference name: String, to id: ObjectID, message: String) throws {
    try update(reference: name, to: id, from: try reference(name), message: message)
  }

  /// Points `copy` at `id`, which another reference names. For references that only this device writes. With
  /// hard links this does not wait for the disk; after a power cut `copy` has either its old value or `id`.
  public func copy(reference name: String, at id: ObjectID, to copy: String) throws {
    let (file, other) = (
      ReferenceFile(name, in: gitFolder), ReferenceFile(copy, in: gitFolder)
    )
    if file.content == .id(id), try file.link(as: other) { return }
    try set(reference: copy, to: id, message: "")
  }

  /// Whether the file of a loose reference contains `id`; packed references are not looked up.
  public func hasFile(ofReference name: String, at id: ObjectID) -> Bool {
    ReferenceFile(name, in: gitFolder).content == .id(id)
  }

  /// Removes a reference durably; a missing one is not an error.
  public func delete(reference name: String) throws {
    try ReferenceFile(name, in: gitFolder).remove()
  }
}
