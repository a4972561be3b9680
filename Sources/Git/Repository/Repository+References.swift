internal import CLibgit2
internal import Glibc
internal import System

/// What HEAD says.
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
  /// What HEAD says, read from the files so that it costs no library.
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
    case .none where isOfCommonForm:
      let packed = file.packed
      // A branch without a version yet has the folder for it.
      if packed == nil, Counted.access(gitFolder + "/refs", F_OK) != 0 {
        throw GitError.brokenReference(name)
      }
      return Head(reference: name, commit: packed)
    case .none: return Head(reference: name, commit: try reference(name))
    case .other:
      _ = try Disk.readIfThere("\(gitFolder)/\(name)")
      do {
        return Head(reference: name, commit: try reference(name))
      } catch GitError.library {
        throw GitError.brokenReference(name)
      }
    }
  }

  /// The object a reference stands for, or nil when there is no such reference.
  public func reference(_ name: String) throws -> ObjectID? {
    if isOfCommonForm, ReferenceFile.isName(name) {
      let file = ReferenceFile(name, in: gitFolder)
      switch file.content {
      case .id(let id): return id
      case .none: return file.packed
      case .other: break
      }
    }
    let git = try handles()
    var oid = git_oid()
    let status = git.api.git_reference_name_to_id(&oid, git.repository, name)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    try git.check("git_reference_name_to_id", status)
    return oid.objectID
  }

  /// The references whose names begin with `prefix` (for instance `refs/remotes/`), by name.
  public func references(under prefix: String) throws -> [(name: String, id: ObjectID)] {
    if isOfCommonForm { return ReferenceFile.all(under: prefix, in: gitFolder) }
    let git = try handles()
    var iterator: OpaquePointer?
    try git.check(
      "git_reference_iterator_glob_new",
      git.api.git_reference_iterator_glob_new(&iterator, git.repository, prefix + "*"))
    defer { git.api.git_reference_iterator_free(iterator) }
    var found: [(name: String, id: ObjectID)] = []
    while true {
      var reference: OpaquePointer?
      let status = git.api.git_reference_next(&reference, iterator)
      if status == GIT_ITEROVER.rawValue { break }
      try git.check("git_reference_next", status)
      defer { git.api.git_reference_free(reference) }
      if let name = git.api.git_reference_name(reference),
        let target = git.api.git_reference_target(reference)
      {
        found.append((String(cString: name), target.pointee.objectID))
      }
    }
    return found.sorted { $0.name < $1.name }
  }

  /// Moves a reference, durably, if it still stands where it was seen; nil where there was none.
  public func update(
    reference name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws {
    if try moveFile(of: name, to: id, from: expected, message: message) {
      unreferenced = []
      return
    }
    let status = try create(
      name, id, isForced: expected != nil, matching: expected, message: message)
    if status == GIT_EMODIFIED.rawValue || status == GIT_EEXISTS.rawValue {
      throw GitError.referenceMoved(name)
    }
    if status == GIT_ELOCKED.rawValue { throw GitError.locked(name + ".lock") }
    try handles().check("git_reference_create_matching", status)
    unreferenced = []
  }

  /// Moves a reference that HEAD names, or that git keeps a log of and HEAD does not name; false where
  /// nothing was done.
  private func moveFile(
    of name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws -> Bool {
    guard let identity, isOfCommonForm else { return false }
    let isHead = ReferenceFile.firstLine(of: gitFolder + "/HEAD") == "ref: " + name
    guard isHead ? name.hasPrefix("refs/heads/") : name.hasPrefix("refs/remotes/")
    else { return false }
    return try ReferenceFile(name, in: gitFolder).move(
      to: id, from: expected, by: identity, message: message, logs: isHead ? ["HEAD"] : [],
      syncingObjects: syncPendingObjects)
  }

  private func create(
    _ name: String, _ id: ObjectID, isForced: Bool, matching expected: ObjectID?, message: String
  ) throws -> Int32 {
    try syncPendingObjects()
    // libgit2 makes all folders above a reference, those of a repository that was moved away as well.
    guard Counted.access(gitFolder + "/HEAD", F_OK) == 0 else {
      throw GitError.notARepository(gitFolder)
    }
    let git = try handles()
    if let identity {
      try git.check(
        "git_repository_set_ident",
        git.api.git_repository_set_ident(git.repository, identity.name, identity.email))
    }
    var target = git_oid(id)
    let current = git_oid(expected ?? .zero)
    var made: OpaquePointer?
    defer { git.api.git_reference_free(made) }
    return withUnsafePointer(to: current) { current in
      git.api.git_reference_create_matching(
        &made, git.repository, name, &target, isForced ? 1 : 0, expected == nil ? nil : current,
        message)
    }
  }

  /// Points a reference at `id` wherever it stood: for references that only this device writes.
  public func set(reference name: String, to id: ObjectID, message: String) throws {
    if let present = try reference(name),
      try moveFile(of: name, to: id, from: present, message: message)
    {
      return
    }
    let status = try create(name, id, isForced: true, matching: nil, message: message)
    try handles().check("git_reference_create_matching", status)
  }

  /// Points `copy` at where another reference stands, `id`: for references that only this device writes.
  /// Where the file system has hard links that costs no wait for the disk, and a power cut leaves the
  /// value before or this one.
  public func copy(reference name: String, at id: ObjectID, to copy: String) throws {
    let (file, other) = (
      ReferenceFile(name, in: gitFolder), ReferenceFile(copy, in: gitFolder)
    )
    if isOfCommonForm, file.content == .id(id), try file.link(as: other) { return }
    try set(reference: copy, to: id, message: "")
  }

  /// Whether the file of a reference says `id`. One without a file of its own is not looked for.
  public func hasFile(ofReference name: String, at id: ObjectID) -> Bool {
    ReferenceFile(name, in: gitFolder).content == .id(id)
  }

  /// Removes a reference; one that does not exist is no error.
  public func delete(reference name: String) throws {
    let git = try handles()
    var found: OpaquePointer?
    let status = git.api.git_reference_lookup(&found, git.repository, name)
    if status == GIT_ENOTFOUND.rawValue { return }
    try git.check("git_reference_lookup", status)
    defer { git.api.git_reference_free(found) }
    try git.check("git_reference_delete", git.api.git_reference_delete(found))
  }
}
