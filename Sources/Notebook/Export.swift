public import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// The files that an export wrote.
public struct Exported: Sendable {
  /// The exported version.
  public let version: ObjectID
  /// The number of files, notes and others.
  public let files: Int
  /// The total size of the files in bytes.
  public let bytes: Int
}

/// The target of an export; it must not exist yet.
public enum ExportTarget: Sendable {
  /// A folder; an empty one may exist.
  case folder(String)
  /// An archive, written by the git program.
  case archive(String, ArchiveForm)

  /// The kind of target that a path's name implies: notes-export(1).
  public init(path: String) {
    self = ArchiveForm(fileName: path).map { .archive(path, $0) } ?? .folder(path)
  }
}

extension Notebook {
  /// Writes the files of a version to a place outside of the notebook. Each file gets the time of its last
  /// change up to that version. An export that fails leaves nothing there.
  ///
  /// - Parameters:
  ///   - paths: files and folders of the version; all if empty.
  ///   - program: the program that writes an archive.
  ///   - progress: called with the bytes written, and their total if it is known.
  /// - Throws: `HistoryError.notInVersion`, `.file`; `TransferError`.
  public func export(
    _ version: Commit, only paths: [TreePath] = [], to target: ExportTarget,
    by program: GitProgram = GitProgram(), progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> Exported {
    let all = try repository.files(in: version.tree)
    for path in paths where !all.contains(where: { $0.path == path || $0.path.isBelow(path) }) {
      throw HistoryError.notInVersion(path, version.id)
    }
    let files = all.filter { file in
      paths.isEmpty || paths.contains { file.path == $0 || file.path.isBelow($0) }
    }
    let bytes = try files.reduce(0) { try $0 + repository.header(of: $1.entry.id).size }
    switch target {
    case .archive(let file, let form):
      var program = program
      // git prints nothing while it writes the archive.
      program.patience = .infinity
      try Transfer(repository, by: program).archive(version.id, paths, as: form, to: file) {
        try progress(min($0, bytes), bytes)
      }
    case .folder(let folder):
      try write(files, of: version, to: folder) { try progress($0, bytes) }
    }
    return Exported(version: version.id, files: files.count, bytes: bytes)
  }

  private func write(
    _ files: [(path: TreePath, entry: TreeEntry)], of version: Commit, to folder: String,
    progress: (Int) throws -> Void
  ) throws {
    let isNew = mkdir(folder, 0o777) == 0
    guard try isNew || Disk.names(in: folder).isEmpty else {
      throw WorkTreeError.file(call: "mkdir", path: folder, errno: EEXIST)
    }
    do {
      let times = try history.times(of: files.map(\.path), at: version)
      let access = try FolderAccess(folder: folder)
      var bytes = 0
      for ((path, entry), time) in zip(files, times) {
        let text = try repository.blob(entry.id)
        try access.create(path, text, modified: time ?? version.author.time)
        bytes += text.count
        try progress(bytes)
      }
      try Disk.syncFileSystem(of: folder)
    } catch {
      for name in Disk.namesIfAny(in: folder) { Disk.removeTree(folder + "/" + name) }
      if isNew { rmdir(folder) }
      throw error
    }
  }
}
