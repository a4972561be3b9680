internal import CLinux
internal import Git
internal import Glibc
internal import System

/// The files that a checkout writes to the staging folder, each opened once, and their status at that
/// time. The status shows later whether they are unchanged.
///
/// A first checkout stages its files in the folders of their tree. So it places each entry at the top
/// of the notebook in one step, with its whole content. If something is in the way of an entry, its
/// files become separate staged files, as in any other checkout.
final class StagedFiles {
  private let staging: String
  private let treePath: String
  /// The status of each step's file that was staged here; nil if it no longer proves the content.
  private var statuses: [FileStatus?] = []

  init(in staging: String) {
    self.staging = staging
    treePath = staging + "/tree"
  }

  /// The status of a step's staged file with the right content; nil if unknown.
  func status(of step: CheckoutSteps.Step) -> FileStatus? {
    step.number < statuses.count ? statuses[step.number] : nil
  }

  private func begin(_ plan: CheckoutPlan) {
    statuses = [FileStatus?](repeating: nil, count: plan.steps.count)
  }

  /// Writes the new bytes of all steps, a file for each; not durably. Returns the files' paths.
  func write(_ plan: CheckoutPlan, of workTree: WorkTree, _ meter: WorkMeter?) throws -> [String] {
    begin(plan)
    let folder = try Disk.open(staging, O_RDONLY | O_DIRECTORY)
    defer { close(folder) }
    return try plan.steps.compactMap { step in
      guard let new = step.new else { return nil }
      let bytes = try workTree.repository.blobReadOnce(new.id)
      let name = TreePath("\(step.number)")
      statuses[step.number] = try Self.write(
        bytes, of: step.path, as: workTree.fileModes.permissions(of: new.mode), to: folder, name,
        showsReading: step.old != nil)
      meter?.count(bytes: bytes.count)
      return "\(staging)/\(step.number)"
    }
  }

  /// Writes a file that must not exist yet, not durably, and returns its status.
  static func write(
    _ bytes: [UInt8], of path: TreePath, as permissions: mode_t, to folder: Int32, _ name: TreePath,
    showsReading: Bool = false
  ) throws -> FileStatus? {
    let file = Counted.openat(
      folder, name.cString, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions)
    guard file >= 0 else {
      throw WorkTreeError.file(call: "open", path: path.description, errno: errno)
    }
    defer { close(file) }
    try Disk.write(bytes, to: file, path: path.description)
    if showsReading { FileReading.markUnread(file) }
    var status = stat()
    return Counted.fstat(file, &status) == 0 ? FileStatus(status) : nil
  }

  // MARK: The tree of a first checkout

  /// Removes the tree of a checkout that did not begin or is over.
  func removeTree() { if Counted.access(treePath, F_OK) == 0 { Disk.removeTree(treePath) } }

  /// Writes the new bytes of all steps, not durably. No step may have an old file.
  ///
  /// - Returns: false if the file system refuses some of the names.
  func write(treeOf plan: CheckoutPlan, of workTree: WorkTree, _ meter: WorkMeter?) throws -> Bool {
    try Disk.makeFolder(treePath, mode: 0o777)
    begin(plan)
    do {
      let writer = StagedTreeWriter(
        plan.steps, to: treePath, modes: workTree.fileModes, meter: meter)
      for (number, status) in try writer.write(from: workTree.repository) {
        statuses[number] = status
      }
    } catch WorkTreeError.file(_, _, let number)
      where FolderAccess.isOfName(number) || number == EEXIST
    {
      removeTree()
      return false
    }
    return true
  }

  /// Moves the staged files, of this run or of a killed one, to their places in the folder.
  ///
  /// - Parameter done: called with the number of each step that this completes. The other steps then have a
  ///   staged file of their own, unless they were already done.
  func place(_ plan: CheckoutPlan, in folder: FolderAccess, _ done: (Int) -> Void) throws {
    // Without the tree, each step places its own file.
    guard let tree = try? FolderAccess(folder: treePath) else { return }
    var rest = plan.steps[...]
    while let first = rest.first {
      let top = first.path.bytes.prefix { $0 != UInt8(ascii: "/") }
      let steps = rest.prefix { step in
        let path = step.path.bytes
        return path.starts(with: top)
          && (path.count == top.count || path[top.count] == UInt8(ascii: "/"))
      }
      let name = TreePath(bytes: top).cString
      if notes_renameat2(tree.root, name, folder.root, name, NOTES_RENAME_NOREPLACE) == 0 {
        if first.path.bytes.count == top.count { follow(first, to: folder.root, name) }
        for step in steps { done(step.number) }
      } else {
        for step in steps { try separate(step, of: tree) }
      }
      rest = rest.dropFirst(steps.count)
    }
  }

  /// Files move to their places from now on. If a file was last written at this very instant, its status would
  /// not show a write that happens during the move.
  func forgetLatest() {
    let time = WallClock.ofFiles
    for number in statuses.indices
    where statuses[number].map({ !$0.isModified(before: time) }) ?? false {
      statuses[number] = nil
    }
  }

  /// Records the status of a file after its move, which the rename has changed.
  func follow(_ step: CheckoutSteps.Step, to folder: Int32, _ name: [CChar]) {
    guard let former = status(of: step) else { return }
    var status = stat()
    let isThere = Counted.fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    let now = FileStatus(status)
    statuses[step.number] = isThere && now.isSameContent(as: former) ? now : nil
  }

  private func separate(_ step: CheckoutSteps.Step, of tree: FolderAccess) throws {
    if step.number < statuses.count { statuses[step.number] = nil }
    let file = "\(staging)/\(step.number)"
    guard renameat(tree.root, step.path.cString, AT_FDCWD, file) != 0,
      errno != ENOENT, errno != ENOTDIR
    else { return }
    throw WorkTreeError.file(call: "rename", path: step.path.description, errno: errno)
  }
}
