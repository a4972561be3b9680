internal import Git
internal import Glibc

/// Versions of what somebody wrote while a checkout ran. References keep them until they are part of
/// the tip: a run that is killed before leaves them to the next.
struct RescuedVersions {
  static let folder = "refs/notes-state/rescued"

  private let writer: VersionWriter

  init(_ writer: VersionWriter) { self.writer = writer }

  private var folderPath: String { writer.repository.gitFolder + "/" + Self.folder }

  func keep(_ versions: [ObjectID]) throws {
    for id in versions {
      try writer.setDeviceReference(
        Self.folder + "/" + id.hex, to: id, message: "notes: rescued")
    }
  }

  /// The versions that are kept so.
  func kept() throws -> [ObjectID] {
    guard access(folderPath, F_OK) == 0 else { return [] }
    return try writer.repository.references(under: Self.folder + "/").map(\.id)
  }

  /// Forgets them: they are part of the tip.
  func forget() throws {
    guard access(folderPath, F_OK) == 0 else { return }
    for reference in try writer.repository.references(under: Self.folder + "/") {
      try writer.repository.delete(reference: reference.name)
    }
    rmdir(folderPath)
  }

  /// Those of the files that do not stand so in a version that is kept already.
  func unkept(_ files: [TreePath: TreeEntry?]) throws -> [TreePath: TreeEntry?] {
    if files.isEmpty { return files }
    let trees = try kept().map { try writer.repository.commit($0).tree }
    return try files.filter { path, file in
      try !trees.contains { tree in
        let known = try writer.repository.entry(at: path, in: tree)
        return known?.id == file?.id && known?.mode == file?.mode
      }
    }
  }
}
