internal import Git
internal import Glibc

extension Checkout {
  /// Whether the folder lets the checkout write what it has to: asked before anything changes,
  /// because a checkout that stops half-way keeps every later command waiting for its end.
  ///
  /// - Throws: `file` for a folder that can't be written or a note that can't be read, `obstructed`
  ///   for a name that something else than a file has.
  package func checkAccess(in access: FolderAccess) throws {
    let deleted = plan.steps.filter { $0.new == nil }.map(\.path)
    let leaving = Set(deleted.flatMap(\.folders))
    let files = Set(deleted)
    for (parent, steps) in Dictionary(grouping: plan.steps, by: \.path.parent) {
      let folder = parent ?? TreePath("")
      // Where a file goes before its name becomes a folder's.
      if files.contains(folder) || folder.folders.contains(where: files.contains) { continue }
      guard let first = steps.first?.path else { continue }
      let isThere: Void? = try Self.open(folder, for: first, in: access) { here in
        try Self.checkIsWritable(here, folder)
        for step in steps {
          var status = stat()
          let name = step.path.name.cString
          guard fstatat(here, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            try !access.isTakenForAnother(step.path)
          else { continue }
          let kind = status.st_mode & S_IFMT
          if kind == S_IFREG {
            // What comes out of the folder is compared with what was expected.
            guard status.st_mode & 0o444 == 0o444 || faccessat(here, name, R_OK, 0) == 0 else {
              throw NotebookError.file(call: "read", path: step.path.description, errno: errno)
            }
            continue
          }
          // A folder may go before the file comes.
          if step.new == nil || kind == S_IFDIR && leaving.contains(step.path) { continue }
          // An empty one holds nothing.
          if kind == S_IFDIR, unlinkat(here, name, AT_REMOVEDIR) == 0 { continue }
          throw NotebookError.obstructed(path: step.path.description)
        }
      }
      if isThere == nil, steps.contains(where: { $0.new != nil }) {
        try checkCanBeMade(folder, for: first, in: access)
      }
    }
  }

  /// A folder that is missing is made in the nearest one above it.
  private func checkCanBeMade(
    _ folder: TreePath, for file: TreePath, in access: FolderAccess
  ) throws {
    var current = folder
    while !current.isEmpty {
      current = current.parent ?? TreePath("")
      let isThere: Void? = try Self.open(current, for: file, in: access) { here in
        try Self.checkIsWritable(here, current)
      }
      if isThere != nil { return }
    }
  }

  /// Runs `body` with a folder that `file` is in, and returns nil where there is none.
  private static func open(
    _ folder: TreePath, for file: TreePath, in access: FolderAccess,
    _ body: (Int32) throws -> Void
  ) throws -> Void? {
    let some = folder.appending("x")
    do {
      return try access.withParent(of: some, create: false) { here, _ in try body(here) }
    } catch NotebookError.obstructed(let path) where path == some.description {
      throw NotebookError.obstructed(path: file.description)
    } catch NotebookError.file(let call, let path, let errno) where path == some.description {
      throw NotebookError.file(call: call, path: folder.description, errno: errno)
    }
  }

  private static func checkIsWritable(_ descriptor: Int32, _ folder: TreePath) throws {
    guard faccessat(descriptor, ".", W_OK | X_OK, 0) != 0 else { return }
    throw NotebookError.file(
      call: "write", path: folder.isEmpty ? "." : folder.description, errno: errno)
  }
}

extension TreePath {
  /// The folders the path is in, innermost first.
  fileprivate var folders: [TreePath] {
    Array(sequence(first: self) { $0.parent }.dropFirst())
  }
}
