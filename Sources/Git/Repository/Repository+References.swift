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
    let prefix = "refs/heads/"
    guard reference.hasPrefix(prefix) else { return nil }
    return String(reference.dropFirst(prefix.count))
  }
}

extension String {
  /// Without the spaces, tabs and line ends at its end, as git reads a reference.
  fileprivate var withoutEndingSpace: String {
    var text = self[...]
    while let last = text.utf8.last, [0x20, 0x09, 0x0a, 0x0d].contains(last) {
      text = text[..<text.utf8.index(before: text.endIndex)]
    }
    return String(text)
  }
}

extension Repository {
  /// What HEAD says, read from the files so that it costs no library.
  public func head() throws -> Head {
    // Of a file that is there but says nothing known, nobody can tell which branch it named.
    guard let text = ReferenceFile.firstLine(of: gitFolder + "/HEAD")?.withoutEndingSpace else {
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
    case .none where isOfCommonForm: return Head(reference: name, commit: file.packed)
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
    let git = try handles()
    var oid = git_oid()
    let status = git.library.api.git_reference_name_to_id(&oid, git.repository, name)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    try git.library.check("git_reference_name_to_id", status)
    return oid.objectID
  }

  /// The references whose names begin with `prefix` (for instance `refs/remotes/`), by name.
  public func references(under prefix: String) throws -> [(name: String, id: ObjectID)] {
    let git = try handles()
    var iterator: OpaquePointer?
    try git.library.check(
      "git_reference_iterator_glob_new",
      git.library.api.git_reference_iterator_glob_new(&iterator, git.repository, prefix + "*"))
    defer { git.library.api.git_reference_iterator_free(iterator) }
    var found: [(name: String, id: ObjectID)] = []
    while true {
      var reference: OpaquePointer?
      let status = git.library.api.git_reference_next(&reference, iterator)
      if status == GIT_ITEROVER.rawValue { break }
      try git.library.check("git_reference_next", status)
      defer { git.library.api.git_reference_free(reference) }
      if let name = git.library.api.git_reference_name(reference),
        let target = git.library.api.git_reference_target(reference)
      {
        found.append((String(cString: name), target.pointee.objectID))
      }
    }
    return found.sorted { $0.name < $1.name }
  }

  /// Moves a reference, durably, if it still stands where it was seen.
  ///
  /// - Parameter expected: where it stands now; nil when it does not exist yet.
  /// - Throws: `GitError.referenceMoved` when it stands elsewhere.
  public func update(
    reference name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws {
    if try moveFile(of: name, to: id, from: expected, message: message) { return }
    let git = try handlesWithIdentity()
    var target = git_oid(id)
    var made: OpaquePointer?
    defer { git.library.api.git_reference_free(made) }
    let status: Int32
    if let expected {
      var current = git_oid(expected)
      status = git.library.api.git_reference_create_matching(
        &made, git.repository, name, &target, 1, &current, message)
    } else {
      status = git.library.api.git_reference_create(
        &made, git.repository, name, &target, 0, message)
    }
    if status == GIT_EMODIFIED.rawValue || status == GIT_EEXISTS.rawValue {
      throw GitError.referenceMoved(name)
    }
    if status == GIT_ELOCKED.rawValue { throw GitError.locked(name + ".lock") }
    try git.library.check("git_reference_create", status)
  }

  /// Moves the branch that HEAD names, where that can be done without libgit2; false where it can't.
  private func moveFile(
    of name: String, to id: ObjectID, from expected: ObjectID?, message: String
  ) throws -> Bool {
    guard let identity, name.hasPrefix("refs/heads/"), isOfCommonForm,
      ReferenceFile.firstLine(of: gitFolder + "/HEAD") == "ref: " + name
    else { return false }
    return try ReferenceFile(name, in: gitFolder).move(
      to: id, from: expected, by: identity, message: message, syncingObjects: syncPendingObjects)
  }

  /// The handles for moving a reference, libgit2 knowing who does.
  private func handlesWithIdentity() throws -> Handles {
    try syncPendingObjects()
    let git = try handles()
    if let identity {
      try git.library.check(
        "git_repository_set_ident",
        git.library.api.git_repository_set_ident(git.repository, identity.name, identity.email))
    }
    return git
  }

  /// Points a reference at `id` wherever it stood: for references that only this device writes.
  public func set(reference name: String, to id: ObjectID, message: String) throws {
    let git = try handlesWithIdentity()
    var target = git_oid(id)
    var made: OpaquePointer?
    defer { git.library.api.git_reference_free(made) }
    try git.library.check(
      "git_reference_create",
      git.library.api.git_reference_create(&made, git.repository, name, &target, 1, message))
  }

  /// Removes a reference; one that does not exist is no error.
  public func delete(reference name: String) throws {
    let git = try handles()
    var found: OpaquePointer?
    let status = git.library.api.git_reference_lookup(&found, git.repository, name)
    if status == GIT_ENOTFOUND.rawValue { return }
    try git.library.check("git_reference_lookup", status)
    defer { git.library.api.git_reference_free(found) }
    try git.library.check("git_reference_delete", git.library.api.git_reference_delete(found))
  }
}
