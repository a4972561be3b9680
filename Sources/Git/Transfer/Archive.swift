internal import Glibc
internal import System

/// The forms of archives that the git program writes.
public enum ArchiveForm: String, CaseIterable, Sendable {
  case zip, tar
  case tarGzip = "tar.gz"

  /// The form for the suffix of a file name; nil for an unknown suffix.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    switch true {
    case name.hasSuffix(".zip"): self = .zip
    case name.hasSuffix(".tar"): self = .tar
    case name.hasSuffix(".tar.gz"), name.hasSuffix(".tgz"): self = .tarGzip
    default: return nil
    }
  }
}

extension Transfer {
  /// Attributes that override a version's `.gitattributes`, so that an archive contains every file
  /// unchanged: gitattributes(5).
  private static let attributes =
    "* -export-ignore -export-subst -text -ident !eol !filter !working-tree-encoding\n"

  /// Writes the files of a commit into a new archive, in a folder named after the archive. When this returns,
  /// the archive is complete and on the disk; after an error there is no archive.
  ///
  /// - Parameters:
  ///   - paths: files and folders of the commit; all if empty.
  ///   - onTick: called regularly with the number of bytes written so far.
  /// - Throws: `TransferError`, `GitError`.
  public func archive(
    _ commit: ObjectID, _ paths: [TreePath] = [], as form: ArchiveForm, to file: String,
    onTick: (Int) throws -> Void = { _ in }
  ) throws {
    try Disk.makeFolder(folder.path + "/info", mode: 0o700)
    try put("info/attributes", Self.attributes)
    // O_EXCL overwrites nothing, and the file gets the permissions of a new file.
    try Disk.create(file, [], mode: 0o666, waits: false)
    let temporary = Disk.unique(beside: file)
    do {
      try write(commit, paths, as: form, named: file, to: temporary, onTick: onTick)
      try Disk.sync(file: temporary)
      try Disk.rename(temporary, to: file)
    } catch {
      unlink(temporary)
      unlink(file)
      throw error
    }
    try Disk.sync(folder: Disk.parent(of: file))
  }

  private func write(
    _ commit: ObjectID, _ paths: [TreePath], as form: ArchiveForm, named file: String,
    to output: String, onTick: (Int) throws -> Void
  ) throws {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let prefix = name.prefix { $0 != "." }
    let ending = try run(
      [
        "--literal-pathspecs", "archive", "--format=" + form.rawValue, "--output=" + output,
        "--prefix=\(prefix.isEmpty ? "notes" : String(prefix))/", commit.hex, "--",
      ] + paths.map(\.description)
    ) { _ in
      var status = stat()
      try onTick(Counted.stat(output, &status) == 0 ? Int(status.st_size) : 0)
    }
    guard ending.status == 0 else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
  }
}
