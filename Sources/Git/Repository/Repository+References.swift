internal import Glibc
internal import System

/// The branch and commit of HEAD.
public struct Head: Hashable, Sendable {
  /// The reference that moves with a new commit: the branch HEAD names, or `HEAD` when detached.
  public let reference: String
  /// The commit it stands on; nil on a branch without commits.
  public let commit: ObjectID?

  /// The branch's name without `refs/heads/`, or nil when HEAD is detached.
  public var branch: String? {
    reference.hasPrefix("refs/heads/") ? String(reference.dropFirst(11)) : nil
  }
}

extension Repository {
  /// Reads HEAD from the files, so that it costs no library.
  public func head() throws -> Head {
    // Of a file that is there but says nothing known, nobody can tell which branch it named.
    guard let text = ReferenceFile.firstLine(of: gitFolder + "/HEAD") else {
      // One that may not be read is not damaged.
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
      // A branch without a version yet has the folder for it.
      if packed == nil, Counted.access(gitFolder + "/refs", F_OK) != 0 {
        throw GitError.brokenReference(name)
      }
      return Head(reference: name, commit: packed)
    case .symbolic, .other:
      _ = try Disk.readIfThere("\(gitFolder)/\(name)")
      return Head(reference: name, commit: try reference(name))
    }
  }

  /// The object a reference stands for, or nil when there is no such reference.
  ///
  /// - Throws: `GitError.brokenReference` for one of no known form, or that names others in a ring.
  public func reference(_ name: String) throws -> ObjectID? {
    var present = name
    // git follows as many (refs.h).
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

  /// The references whose names begin with `prefix` (for instance `refs/remotes/`), by name.
  public func references(under prefix: String) throws -> [(name: String, id: ObjectID)] {
    ReferenceFile.all(under: prefix, in: gitFolder)
  }

  /// Moves a reference, durably, if it still stands where it was seen; nil where there was none.
  public func update(
    reference name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws {
    // Of a repository that was moved away no folder is made again.
    guard Counted.access(gitFolder + "/HEAD", F_OK) == 0 else {
      throw GitError.notARepository(gitFolder)
    }
    let isHead = ReferenceFile.firstLine(of: gitFolder + "/HEAD") == "ref: " + name
    try ReferenceFile(name, in: gitFolder).move(
      to: id, from: expected, by: identity ?? ("unknown", "unknown"), message: message,
      logs: isHead ? ["HEAD"] : [], syncingObjects: syncPendingObjects)
    unreferenced = []
  }

  /// Points a reference at `id` wherever it stood: for references that only this device writes.
  public func set(reference name: String, to id: ObjectID, message: String) throws {
    try update(reference: name, to: id, from: try reference(name), message: message)
  }

  /// Points `copy` at where another reference stands, `id`: for references that only this device writes.
  /// Where the file system has hard links that costs no wait for the disk, and a power cut leaves the
  /// value before or this one.
  public func copy(reference name: String, at id: ObjectID, to copy: String) throws {
    let (file, other) = (
      ReferenceFile(name, in: gitFolder), ReferenceFile(copy, in: gitFolder)
    )
    if file.content == .id(id), try file.link(as: other) { return }
    try set(reference: copy, to: id, message: "")
  }

  /// Whether the file of a reference says `id`. One without a file of its own is not looked for.
  public func hasFile(ofReference name: String, at id: ObjectID) -> Bool {
    ReferenceFile(name, in: gitFolder).content == .id(id)
  }

  /// Removes a reference, durably; one that does not exist is no error.
  public func delete(reference name: String) throws {
    try ReferenceFile(name, in: gitFolder).remove()
  }
}
