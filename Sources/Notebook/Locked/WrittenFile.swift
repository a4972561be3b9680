internal import Git
internal import WorkTree

/// A file that somebody wrote in the place of a waiting note.
struct WrittenFile {
  let path: TreePath
  let entry: TreeEntry
  /// The time, in seconds since 1970.
  let written: Int64
  /// The version on which it is based; nil if there is none.
  let base: ObjectID?

  /// Stores the texts of these files. Unreadable files are left for the next save.
  static func stored(
    _ files: [WrittenInPlace], of workTree: WorkTree
  ) throws -> [WrittenFile] {
    let repository = workTree.repository
    return try files.compactMap { file in
      let path = file.candidate.path
      guard
        case .read(let content) = try FileContent.read(
          path, in: workTree.folder, sizeLimit: workTree.sizeLimit)
      else { return nil }
      let base = try file.held.base.flatMap { try repository.contains($0) ? $0 : nil }
      let mode = workTree.fileModes.mode(of: content.mode, known: file.held.file?.mode)
      let id = try repository.write(blob: content.bytes)
      return WrittenFile(
        path: path, entry: TreeEntry(name: path.name, mode: mode, id: id),
        written: content.written, base: base)
    }
  }
}

extension WriteTransaction.Edits {
  /// Adds files that were written in the place of waiting notes. Each becomes a version on top of its base, so
  /// that later changes are merged with it.
  mutating func add(_ files: [WrittenFile], by writer: VersionWriter) throws {
    for file in files {
      let version = try writer.makeVersion(
        on: file.base, replacing: [file.path: file.entry], written: file.written)
      versions.append(version)
      overlay.append(CheckoutJournal.Overlay(path: file.path, file: file.entry, base: version))
    }
  }
}
