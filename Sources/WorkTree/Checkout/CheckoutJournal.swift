package import Git
internal import Glibc
package import State
internal import System

/// The record of a checkout in progress: `.git/notes/checkout/journal`, beside the staged files.
///
/// It is written when every staged file is on the disk, before the first file in the folder changes. It is
/// removed when the index describes the new folder. A command that finds it finishes the checkout: each step's
/// staged file shows whether the step was done (see `Checkout`).
package struct CheckoutJournal {
  /// The commit that the folder had before the checkout; nil if it had none.
  package let from: ObjectID?
  /// The commit that the checkout brings into the folder.
  package let to: ObjectID
  /// Files in the folder that differ from `from`: saves of editors that had loaded an older text.
  package var overlay: [Overlay] = []

  /// Files of `from` that are not in the folder because they could not be put there.
  package var sparse: [TreePath] = []

  package struct Overlay {
    package let path: TreePath
    package let file: TreeEntry
    /// The version with this text of the file.
    package let base: ObjectID

    package init(path: TreePath, file: TreeEntry, base: ObjectID) {
      self.path = path
      self.file = file
      self.base = base
    }
  }

  package init(from: ObjectID?, to: ObjectID, overlay: [Overlay] = [], sparse: [TreePath] = []) {
    self.from = from
    self.to = to
    self.overlay = overlay
    self.sparse = sparse
  }

  static let format = "1"

  /// The journal of an interrupted checkout; nil if there is none.
  package static func load(from state: StateFolder) throws -> CheckoutJournal? {
    let path = state[.journal]
    guard var lines = try Disk.lines(of: path)?.lines.map(\.words) else { return nil }
    guard let format = lines.first else { throw StateDamage(path, "it is empty") }
    if format.count == 1, format[0] != Self.format, Int(format[0]) != nil {
      throw WorkTreeError.newerFormat(format[0])
    }
    lines.removeFirst()
    let broken = StateDamage(path, "not a checkout journal")
    guard lines.count >= 2, lines[0].count == 1, lines[1].count == 1, let from = lines[0].id(0),
      let to = lines[1].id(0)
    else { throw broken }
    var journal = CheckoutJournal(from: from.unlessZero, to: to)
    for words in lines.dropFirst(2) {
      if words.count == 1, let path = words.path(0) {
        journal.sparse.append(path)
      } else if words.count == 4, let base = words.id(0), let id = words.id(1),
        let mode = words.mode(2), let path = words.path(3)
      {
        let file = TreeEntry(name: path.name, mode: mode, id: id)
        journal.overlay.append(Overlay(path: path, file: file, base: base))
      } else {
        throw broken
      }
    }
    return journal
  }

  /// Writes the journal under a temporary name, not durably, and returns that name.
  func write(in state: StateFolder) throws -> String {
    var text = "\(Self.format)\n\(from ?? .zero)\n\(to)\n"
    for item in overlay {
      text += "\(item.base) \(item.file.id) \(item.file.mode.octal) \(item.path.hexadecimal)\n"
    }
    for path in sparse { text += path.hexadecimal + "\n" }
    let path = state[.journal] + ".new"
    try Disk.create(path, Array(text.utf8), mode: 0o600, overLeftover: true, waits: false)
    return path
  }

  /// Puts a journal that is on the disk into effect, durably.
  static func begin(in state: StateFolder) throws {
    let path = state[.journal]
    try Disk.rename(path + ".new", to: path)
    try Disk.sync(folder: state[.checkout])
  }

  /// The version with the text of a file that was in the folder; nil if there is none.
  package func base(of path: TreePath) -> ObjectID? {
    overlay.first { $0.path == path }?.base ?? from
  }

  /// The steps of the checkout in the folder.
  package func plan(in repository: Repository) throws -> CheckoutPlan {
    var old = try from.map { try repository.commit($0).tree }
    if !overlay.isEmpty {
      old = try repository.write(
        tree: old, replacing: Dictionary(overlay.map { ($0.path, $0.file) }) { _, last in last })
    }
    return try CheckoutPlan(
      from: old, to: repository.commit(to).tree, sparse: sparse, in: repository)
  }

  /// Ends the checkout: removes the journal, durably, and then the staged files, which have no
  /// meaning without it.
  package static func clear(in state: StateFolder) throws {
    try Disk.remove(state[.journal])
    try emptyStaging(in: state)
  }

  /// Removes staged files that belong to no journal.
  package static func emptyStaging(in state: StateFolder) throws {
    let folder = state[.checkout]
    guard Counted.access(folder, F_OK) == 0 else { return }
    StagedFiles(in: folder).removeTree()
    for name in try Disk.names(in: folder)
    where name != "journal" && unlink(folder + "/" + name) != 0 && errno != ENOENT {
      throw WorkTreeError.file(call: "unlink", path: folder + "/" + name, errno: errno)
    }
  }
}
