internal import CLinux
package import Git
internal import Glibc
internal import State
internal import System

/// Brings the folder from one commit's tree to another's without losing anything that somebody writes in the
/// meantime: each new file is swapped with the one in the folder, which is then compared with the expected one.
///
/// A step's staged file shows whether the step was done, so that a later run can finish an interrupted
/// checkout:
///
/// | step | staged file before | after |
/// |---|---|---|
/// | new file | the new bytes | none |
/// | changed file | the new bytes | the file that was in the folder |
/// | deleted file | none | the file that was in the folder |
///  A file that cannot be put into the folder stays in the staging folder until the checkout ends, and a run
/// that finishes the checkout tries it again. The files of a first checkout are staged as one tree, see
/// `StagedFiles`.
package struct Checkout {
  let workTree: WorkTree
  let folder: FolderAccess
  let staging: String
  let journal: CheckoutJournal
  package let plan: CheckoutPlan

  /// Bytes that somebody wrote on top of the old tree while the checkout ran: they become a version
  /// on it. Nil means that the file was deleted.
  package private(set) var rescued: [TreePath: TreeEntry?] = [:]

  private(set) var sparse: Set<TreePath> = []
  /// The steps that wait because something is in their place, or because their file could not be
  /// made.
  package private(set) var held: [WaitingFile] = []

  /// The notes that still have their former text under another name on the disk (a hard link).
  package var parted: Set<TreePath> = []

  /// The files that were swapped out of the folder, by the numbers of their steps.
  package private(set) var replacedFiles: [Int: ReplacedFile] = [:]

  let stagedFiles: StagedFiles
  let goneFiles: GoneFiles
  let privateFiles: PrivateFiles
  private let keptBack: KeptBackFiles
  /// The files that were in the way before this checkout.
  private let waitingBefore: WaitingFiles

  /// Whether the file system can swap two files in one step; true until it has refused.
  private var canExchange: Bool

  package init(
    in workTree: WorkTree, plan: CheckoutPlan, journal: CheckoutJournal, canExchange: Bool = true
  ) throws {
    self.canExchange = canExchange
    self.workTree = workTree
    self.journal = journal
    self.plan = plan
    goneFiles = GoneFiles(of: plan)
    folder = try FolderAccess(folder: workTree.folder)
    keptBack = KeptBackFiles(of: workTree, index: try workTree.indexFile(), folder)
    waitingBefore = try WaitingFiles(in: workTree.stateFolder)
    privateFiles = PrivateFiles(in: workTree.stateFolder)
    staging = workTree.stateFolder[.checkout]
    stagedFiles = StagedFiles(in: staging)
  }

  // MARK: Staging

  /// Writes the new bytes of all steps to the staging folder and then the journal, durably.
  package func stage(meter: WorkMeter? = nil) throws {
    try Disk.makeFolder(staging, mode: 0o777)
    try CheckoutJournal.emptyStaging(in: workTree.stateFolder)
    if workTree.fileModes.isTrusted,
      plan.steps.contains(where: { $0.new.map { workTree.fileModes.leavesOut($0.mode) } ?? false })
    {
      try workTree.trustFileModes(false)
    }
    meter?.begin(files: plan.steps.count { $0.new != nil })
    // In a staged tree, names that differ only by case would clash.
    let isWhole =
      try journal.from == nil && plan.steps.allSatisfy { $0.old == nil } && !folder.foldsNames
      && stagedFiles.write(treeOf: plan, of: workTree, meter)
    var written = isWhole ? [] : try stagedFiles.write(plan, of: workTree, meter)
    try written.append(journal.write(in: workTree.stateFolder))
    if isWhole || written.count > Self.oneSyncThreshold {
      try Disk.syncFileSystem(of: staging)
    } else {
      for path in written { try Disk.sync(file: path) }
      try Disk.sync(folder: staging)
    }
    // Wait for the names of the objects here: the disk has just been synced, so little is left to write.
    try workTree.repository.syncPendingObjects()
    // The journal counts only now, when everything it names is on the disk.
    try CheckoutJournal.begin(in: workTree.stateFolder)
  }

  // For more than a few files, one sync of the file system is cheaper than one for each file.
  private static let oneSyncThreshold = 16

  // MARK: Swapping

  /// Carries out the steps that are not done yet.
  package mutating func run() throws {
    var isPlaced = [Bool](repeating: false, count: plan.steps.count)
    folder.keepsOpen = true
    defer { folder.keepsOpen = false }
    stagedFiles.forgetLatest()
    try stagedFiles.place(plan, in: folder) { isPlaced[$0] = true }
    for step in plan.steps where !isPlaced[step.number] {
      if let obstacle = try keptBack.obstacle(onTheWayTo: step.path), try isToDo(step) {
        try hold(step, by: obstacle)
        continue
      }
      do {
        if stagedFiles.status(of: step) == nil {
          try finishExchange(step)
          try putBackObstacle(path(of: step), of: step)
        }
        switch (step.wasSparse ? nil : step.old, step.new) {
        case (nil, nil): break
        case (_, nil): try delete(step)
        case (nil, let new?): try add(step, new)
        case (let old?, let new?): try replace(step, old, new)
        }
      } catch WorkTreeError.obstructed {
        if step.new != nil { leaveOut(step) }
      } catch let error as NoteWaits {
        try hold(step, by: error.obstacle)
      } catch let error as WorkTreeError {
        guard case .file(_, _, let number) = error, Obstacle.isOfOneFile(number), try isToDo(step)
        else { throw error }
        try hold(step, by: Obstacle(path: step.path, kind: .refused, errno: number))
      }
    }
  }

  /// Whether the folder is still as it was before a step, and the staging folder has no file that was swapped
  /// out of it.
  private func isToDo(_ step: CheckoutSteps.Step) throws -> Bool {
    if Counted.faccessat(AT_FDCWD, asidePath(of: step), F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
      return false
    }
    guard let new = step.new else { return !stagedExists(step) }
    return try isStaged(step, new) == true
  }

  /// Postpones a step and leaves its file in the folder as it is.
  private mutating func hold(_ step: CheckoutSteps.Step, by obstacle: Obstacle) throws {
    if step.new != nil { leaveOut(step) }
    // If the status cannot be read, the step is postponed as if no file were there.
    let present = try? folder.status(of: step.path)
    let isFile = present.map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    // A file that does not exist needs no deletion.
    if step.new == nil, !isFile { return }
    let old = step.wasSparse || !isFile ? nil : step.old
    held.append(
      WaitingFile(
        path: step.path, obstacle: obstacle,
        file: old.map { TreeEntry(name: step.path.name, mode: $0.mode, id: $0.id) },
        base: old == nil
          ? waitingBefore[step.path]?.base ?? (step.old == nil ? journal.from : nil)
          : journal.base(of: step.path)))
  }

  private mutating func leaveOut(_ step: CheckoutSteps.Step) {
    folder.removeEmptyFolders(above: step.path)
    sparse.insert(step.path)
  }

  private mutating func delete(_ step: CheckoutSteps.Step) throws {
    if !stagedExists(step) {
      guard let status = try folder.status(of: step.path) else { return }
      guard status.st_mode & S_IFMT == S_IFREG else { return }
      try checkMayReplace(status, of: step, expected: step.old)
      try rename(step, into: .staging)
    }
    try rescueUnexpected(step, expected: step.old)
    folder.removeEmptyFolders(above: step.path)
  }

  private mutating func add(_ step: CheckoutSteps.Step, _ new: CheckoutSteps.File) throws {
    guard let isNew = try isStaged(step, new) else { return }
    guard isNew else {
      // The step has swapped its own file with one that somebody made there in the meantime.
      return try rescueUnexpected(step, expected: nil)
    }
    do {
      if try folder.isTakenForAnother(step.path) { return leaveOut(step) }
      if !takeOverTraits(to: step) { try keepPrivate(step) }
      if try rename(step, into: .folder) { return }
    } catch WorkTreeError.file(_, _, let number)
      where FolderAccess.isOfName(number) && folder.refuses(step.path)
    {
      return leaveOut(step)
    }
    let present = try folder.status(of: step.path)
    if let present, present.st_mode & S_IFMT == S_IFREG {
      if let obstacle = try keptBack.obstacle(by: present, at: step.path) {
        throw NoteWaits(obstacle: obstacle)
      }
      try checkMayReplace(present, of: step, expected: nil)
    }
    try exchange(step, for: present)
    try rescueUnexpected(step, expected: new)
  }

  private mutating func replace(
    _ step: CheckoutSteps.Step, _ old: CheckoutSteps.File, _ new: CheckoutSteps.File
  ) throws {
    guard let isNew = try isStaged(step, new) else { return }
    if isNew, old.id != new.id {
      guard let present = try folder.status(of: step.path) else {
        if folder.obstacle(of: step.path) != nil { return leaveOut(step) }
        // The user deleted the file during the checkout, which is an edit of the old tree like any other.
        rescued[step.path] = .some(nil)
        try rename(step, into: .folder)
        return
      }
      try checkMayReplace(present, of: step, expected: old)
      try exchange(step, for: present)
    } else if old.id == new.id {
      return try setMode(step, new)
    }
    try rescueUnexpected(step, expected: old)
  }

  /// Throws `NoteWaits` if the file in a note's place may have content that is in no version and cannot be
  /// saved, because the file is unreadable or too large.
  private func checkMayReplace(
    _ present: stat, of step: CheckoutSteps.Step, expected: CheckoutSteps.File?
  ) throws {
    guard present.st_mode & S_IFMT == S_IFREG else { return }
    func waits(_ kind: Obstacle.Kind, _ errno: Int32? = nil) -> NoteWaits {
      NoteWaits(obstacle: Obstacle(path: step.path, kind: kind, errno: errno))
    }
    let isReadable = try folder.withParent(of: step.path, create: false) { parent, name in
      present.st_mode & 0o444 == 0o444 || Counted.faccessat(parent, name, R_OK, 0) == 0
        || errno == ENOENT
    }
    if isReadable == false { throw waits(.unreadable, EACCES) }
    let size = Int(present.st_size)
    guard size > workTree.sizeLimit else { return }
    let repository = workTree.repository
    if let expected, try repository.header(of: expected.id).size == size,
      case .read(let content) = try FileContent.read(
        step.path, in: workTree.folder, sizeLimit: .max),
      try repository.hash(blob: content.bytes) == expected.id
    {
      return
    }
    throw waits(.tooLarge)
  }

  private enum Direction { case folder, staging }

  /// Renames between the staging folder and the notebook's folder; returns false if a rename that must
  /// not replace anything found something in its way.
  @discardableResult
  private func rename(
    _ step: CheckoutSteps.Step, into direction: Direction, flags: UInt32 = NOTES_RENAME_NOREPLACE
  ) throws -> Bool {
    let moved = try folder.withParent(of: step.path, create: direction == .folder) { parent, name in
      var (old, new) = ((AT_FDCWD, Array(path(of: step).utf8CString)), (parent, name))
      if direction == .staging { swap(&old, &new) }
      if notes_renameat2(old.0, old.1, new.0, new.1, flags) == 0 {
        if direction == .folder { stagedFiles.follow(step, to: parent, name) }
        return true
      }
      if errno == EEXIST { return false }
      if errno == EINVAL || errno == ENOSYS, flags == NOTES_RENAME_NOREPLACE {
        // On file systems that cannot promise to replace nothing, a check comes first.
        if Counted.faccessat(new.0, new.1, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return false }
        if renameat(old.0, old.1, new.0, new.1) == 0 { return true }
      }
      throw WorkTreeError.file(call: "rename", path: step.path.description, errno: errno)
    }
    return moved ?? false
  }

  private mutating func exchange(_ step: CheckoutSteps.Step, for present: stat?) throws {
    let kind = present.map { $0.st_mode & S_IFMT }
    if kind == S_IFREG {
      if let present, present.st_nlink > 1 { parted.insert(step.path) }
      keepTraits(of: step)
      if canExchange {
        do {
          try rename(step, into: .folder, flags: NOTES_RENAME_EXCHANGE)
          return try putBackObstacle(path(of: step), of: step)
        } catch WorkTreeError.file(_, _, EINVAL), WorkTreeError.file(_, _, ENOSYS) {
          canExchange = false
        }
      }
      // In two steps, for file systems that cannot swap in one: for a moment the folder has no such
      // file. A process killed then leaves both files in the staging folder for `finishExchange`.
      if try takeOut(step) { return try finishExchange(step) }
    } else if kind != nil, try !folder.removeEmptyFolder(step.path) {
      throw WorkTreeError.obstructed(path: step.path.description)
    }
    // The file in the folder was removed in the meantime, so the new file is only moved there.
    try rename(step, into: .folder)
  }

  private func asidePath(of step: CheckoutSteps.Step) -> String { path(of: step) + ".out" }

  /// Moves the file in the folder aside; returns false if it no longer exists.
  private func takeOut(_ step: CheckoutSteps.Step) throws -> Bool {
    let moved = try folder.withParent(of: step.path, create: false) { parent, name in
      if renameat(parent, name, AT_FDCWD, asidePath(of: step)) == 0 { return true }
      if errno == ENOENT { return false }
      throw WorkTreeError.file(call: "rename", path: step.path.description, errno: errno)
    }
    return moved ?? false
  }

  /// Puts back a thing that is not a file and that appeared in the note's place just before the swap.
  ///
  /// - Throws: `obstructed`.
  private func putBackObstacle(_ path: String, of step: CheckoutSteps.Step) throws {
    var status = stat()
    guard Counted.lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    _ = try folder.withParent(of: step.path, create: true) { parent, name in
      for flags in [NOTES_RENAME_EXCHANGE, NOTES_RENAME_NOREPLACE, 0] {
        if notes_renameat2(AT_FDCWD, path, parent, name, flags) == 0 { return }
      }
      throw WorkTreeError.file(call: "rename", path: step.path.description, errno: errno)
    }
    throw WorkTreeError.obstructed(path: step.path.description)
  }

  /// The second half of a swap in two steps, begun by this run or by a killed one.
  private func finishExchange(_ step: CheckoutSteps.Step) throws {
    guard Counted.faccessat(AT_FDCWD, asidePath(of: step), F_OK, AT_SYMLINK_NOFOLLOW) == 0 else {
      return
    }
    try putBackObstacle(asidePath(of: step), of: step)
    if stagedExists(step), try !rename(step, into: .folder) {
      // The user made a new file at that moment: it is an edit of its own. The file that was moved aside is
      // compared like any file that was swapped out.
      return try leave(asidePath(of: step), of: step, mode: step.old?.mode ?? .regular)
    }
    try Disk.rename(asidePath(of: step), to: path(of: step))
  }

  private func setMode(_ step: CheckoutSteps.Step, _ new: CheckoutSteps.File) throws {
    if folder.obstacle(of: step.path) != nil {
      throw WorkTreeError.obstructed(path: step.path.description)
    }
    // If the mode does not count here, a file that the user made executable may stay executable.
    if workTree.fileModes.leavesOut(new.mode) { return }
    let permissions = workTree.fileModes.permissions(of: new.mode)
    try folder.setExecutable(permissions & 0o111 != 0, step.path)
  }

  /// Saves the file that was swapped out of the folder, if it differs from the old tree's.
  private mutating func rescueUnexpected(
    _ step: CheckoutSteps.Step, expected: CheckoutSteps.File?
  ) throws {
    guard let file = try openStaged(step) else { return }
    defer { close(file) }
    guard LateWrites.waitForWriters(of: file) else {
      return try leave(path(of: step), of: step, mode: expected?.mode ?? step.new?.mode ?? .regular)
    }
    var status = stat()
    if Counted.fstat(file, &status) == 0, FolderAccess.isTooLarge(status),
      try !isExpected(status, expected)
    {
      return try folder.setAside(path(of: step), beside: step.path)
    }
    let (bytes, mode, replaced) = try read(step, file)
    replacedFiles[step.number] = replaced
    let id = try workTree.repository.hash(blob: bytes)
    guard id != expected?.id else { return }
    // The text was written in the moment before the swap and is not in any version: the file goes
    // back.
    if bytes.count > workTree.sizeLimit {
      let flags = step.new == nil ? NOTES_RENAME_NOREPLACE : NOTES_RENAME_EXCHANGE
      // If the file cannot go back, its text is rescued below.
      if (try? rename(step, into: .folder, flags: flags)) == true {
        throw NoteWaits(obstacle: Obstacle(path: step.path, kind: .tooLarge))
      }
    }
    let stored = try workTree.repository.write(blob: bytes)
    let known = (step.old ?? step.new)?.mode
    rescued[step.path] = TreeEntry(
      name: step.path.name, mode: workTree.fileModes.mode(of: mode, known: known), id: stored)
  }

  /// Whether a file's size is that of the file in the tree, so that the contents may be equal.
  private func isExpected(_ status: stat, _ expected: CheckoutSteps.File?) throws -> Bool {
    guard let expected else { return false }
    return try workTree.repository.header(of: expected.id).size == Int(status.st_size)
  }

  private func leave(_ file: String, of step: CheckoutSteps.Step, mode: FileMode) throws {
    try LateWrites(stateFolder: workTree.stateFolder).adopt(
      file, path: step.path, mode: mode, base: journal.base(of: step.path), blob: step.old?.id)
  }
}
