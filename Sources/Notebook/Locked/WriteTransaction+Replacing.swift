internal import Git
internal import History
internal import Merge
internal import WorkTree

// Changing files.
extension WriteTransaction {
  /// Throws if other devices would refuse the result, or if there is a file in the way that no version could
  /// keep.
  private func checkFits(_ files: [TreePath: TreeEntry?]) throws {
    let access = try FolderAccess(folder: workTree.folder)
    for (path, entry) in files.sorted(by: { $0.key < $1.key }) {
      if entry != nil, let why = NameRules.problem(withPath: path) {
        throw NotebookError.unfitPath(path, why)
      }
      if let bytes = try access.excessiveSize(of: path) {
        throw NotebookError.fileTooLarge(path, bytes: bytes)
      }
    }
  }

  /// Makes a version of the tip with some files replaced (nil removes a file), and updates the folder to it.
  /// The folder must be saved. Returns nil if nothing differs.
  ///
  /// - Parameter base: the version on which the files are based, if that is not the tip. They are then merged
  ///   with the later changes.
  func replace(
    _ files: [TreePath: TreeEntry?], on base: ObjectID? = nil, message: String,
    trailers: [String] = [], conflicts: [TreePath: Int] = [:], operation: OperationKind,
    allowsMassDeletion: Bool = false
  ) throws -> ObjectID? {
    try checkNoConversion(of: files)
    try restoreDamagedFiles()
    try checkFits(files)
    let parent = try base.map(repository.commit) ?? writer.tip()
    // A line break in a name would end the subject.
    let subject = String(message.map { $0.isNewline ? " " : $0 })
    let id = try repository.withBatchedWrites(isBeforeMove: true) { () -> ObjectID? in
      let tree = try repository.write(tree: parent?.tree, replacing: files)
      guard tree != parent?.tree else { return nil }
      return try writer.makeVersion(
        of: tree, parents: parent.map { [$0] } ?? [], message: subject, trailers: trailers,
        conflicts: conflicts, guest: guest)
    }
    guard let id else { return nil }
    var options = MergeOptions(allowsMassDeletion: allowsMassDeletion, operation: operation)
    options.mustBeWritten = Set(files.keys)
    tellWaiting(after: try merge([id], options: options))
    return id
  }

  /// Throws `converted` if git converts a file with that path and this text, which is not stored
  /// yet.
  func checkNoConversion(at path: TreePath, holding text: [UInt8]) throws {
    let rules = try ConversionRules(of: workTree, index: try workTree.indexFile())
    if let conversion = try rules.conversion(of: path, holding: { text }) {
      throw NotebookError.converted(path, by: conversion)
    }
  }

  /// Throws `converted` if git converts one of these files: the bytes in the folder and in versions differ,
  /// and neither may replace the other.
  private func checkNoConversion(of files: [TreePath: TreeEntry?]) throws {
    let rules = try ConversionRules(of: workTree, index: try workTree.indexFile())
    for (path, file) in files {
      let conversion = try rules.conversion(of: path) {
        try file.map { try repository.blob($0.id) }
      }
      if let conversion { throw NotebookError.converted(path, by: conversion) }
    }
  }
}
