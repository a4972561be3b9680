internal import CLinux
package import Git
internal import Glibc
internal import System

extension Checkout {
  /// Throws if the folder's permissions forbid writing these notes. This is checked before anything changes, so
  /// a command that changes a note here fails; versions from other devices wait.
  ///
  /// - Throws: `file`.
  package func checkAccess(in access: FolderAccess, to wanted: Set<TreePath>) throws {
    if wanted.isEmpty { return }
    let files = Set(plan.steps.lazy.filter { $0.new == nil }.map(\.path))
    var rest = plan.steps.filter { wanted.contains($0.path) }[...]
    while let next = rest.first {
      let steps = rest.prefix { $0.isBeside(next) }
      rest = rest.dropFirst(steps.count)
      let folder = next.path.parent ?? TreePath("")
      // The checkout removes a file with this name before it makes the folder: there is nothing to check yet.
      if files.contains(folder) || folder.ancestors.contains(where: files.contains) { continue }
      guard let first = steps.first?.path else { continue }
      let isThere: Void? = try access.withFolder(folder, of: first, failing: folder) { here in
        try Self.checkIsWritable(here, folder)
        for step in steps {
          var status = stat()
          let name = step.path.name.cString
          guard Counted.fstatat(here, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG, try !access.isTakenForAnother(step.path)
          else { continue }
          if let number = Self.whyItStays(status, name, in: here) {
            throw WorkTreeError.file(
              call: "write", path: step.path.description, errno: number)
          }
          // A file that is swapped out must be readable, to be compared with the expected one.
          guard status.st_mode & 0o444 == 0o444 || Counted.faccessat(here, name, R_OK, 0) == 0
          else {
            throw WorkTreeError.file(call: "read", path: step.path.description, errno: errno)
          }
        }
      }
      if isThere == nil, steps.contains(where: { $0.new != nil }) {
        try checkCanBeMade(folder, for: first, in: access)
      }
    }
  }

  /// Throws if a missing folder cannot be made in its nearest existing ancestor.
  private func checkCanBeMade(
    _ folder: TreePath, for file: TreePath, in access: FolderAccess
  ) throws {
    for folder in folder.ancestors + [""] {
      let isThere: Void? = try access.withFolder(folder, of: file, failing: folder) { here in
        try Self.checkIsWritable(here, folder)
      }
      if isThere != nil { return }
    }
  }

  private static func checkIsWritable(_ descriptor: Int32, _ folder: TreePath) throws {
    let mayWrite = Counted.faccessat(descriptor, ".", W_OK | X_OK, 0) == 0
    let isImmutable =
      mayWrite && notes_file_attributes(descriptor, "") & UInt(NOTES_ATTRIBUTE_IMMUTABLE) != 0
    if mayWrite, !isImmutable { return }
    throw WorkTreeError.file(
      call: "write", path: folder.isEmpty ? "." : folder.description,
      errno: isImmutable ? EPERM : errno)
  }

  /// The error number with which the system would refuse to replace or remove this file; nil if it would
  /// probably succeed.
  private static func whyItStays(
    _ file: stat, _ name: [CChar], in folder: Int32
  ) -> Int32? {
    let attributes = notes_file_attributes(folder, name)
    if attributes & UInt(NOTES_ATTRIBUTE_MOUNT_ROOT) != 0 { return EBUSY }
    let stays = UInt(NOTES_ATTRIBUTE_IMMUTABLE | NOTES_ATTRIBUTE_APPEND)
    if attributes & stays != 0 || notes_file_attributes(folder, "") & stays != 0 { return EPERM }
    var parent = stat()
    let user = geteuid()
    // In a folder with the sticky bit, only owners can remove and replace files.
    guard user != 0, Counted.fstat(folder, &parent) == 0, parent.st_mode & S_ISVTX != 0,
      file.st_uid != user, parent.st_uid != user
    else { return nil }
    return EPERM
  }
}
