internal import Git
internal import History

/// A file that a hub stores besides the versions: a commit without parents and with only that file. Its author
/// and time are fixed, so devices that write the same content make the same commit.
enum HubFile {
  /// Stores the commit and returns its ID.
  static func write(
    _ content: [UInt8], as name: TreePath, _ message: String, to repository: Repository
  ) throws -> ObjectID {
    let author = Signature(name: "notes", email: "members@notes.invalid", time: 0, offset: 0)
    return try repository.withBatchedWrites {
      let blob = try repository.write(blob: content)
      let tree = try repository.write(tree: [TreeEntry(name: name, mode: .regular, id: blob)])
      return try repository.write(
        commit: tree, parents: [], author: author, committer: author, message: message + "\n")
    }
  }

  /// The content of the file in a commit that is here, or in the quarantine; nil if there is no
  /// such file.
  static func content(
    of commit: ObjectID, as name: TreePath, in repository: Repository,
    arriving quarantine: Quarantine?
  ) throws -> [UInt8]? {
    if let quarantine { return try quarantine.file(name, of: commit) }
    let tree = try repository.tree(repository.commit(commit).tree)
    guard let entry = tree.entries.first(where: { $0.name == name }), entry.mode.isFile
    else { return nil }
    return try repository.blob(entry.id)
  }

  /// Nil if the content is not readable as such a file.
  static func ifReadable<Value>(_ read: () throws -> Value?) throws -> Value? {
    do {
      return try read()
    } catch GitError.missing, GitError.wrongKind, GitError.malformed, GitError.objectTooLarge {
      return nil
    } catch is PackError {
      return nil
    }
  }
}
