package import Git
internal import Glibc
internal import System

/// The record of a checkout under way: `.git/notes/checkout/journal`, beside the staged files.
///
/// It is written when every staged file is on the disk and before the first file in the folder
/// changes, and removed when the index says what the folder holds. Whoever finds it finishes the
/// checkout: each step shows by its staged file whether it was done (see `Checkout`).
package struct CheckoutJournal {
  /// The commit the folder showed; nil for none.
  package let from: ObjectID?
  /// The commit the folder is to show.
  package let to: ObjectID
  /// Files that stood in the folder otherwise than `from` says: saves of editors that had loaded an
  /// older text.
  package var overlay: [Overlay] = []

  /// Files of `from` that are not in the folder, because it could not hold them.
  package var sparse: [TreePath] = []

  package struct Overlay {
    package let path: TreePath
    package let file: TreeEntry
    /// The version that has the file so.
    package let base: ObjectID

    package init(path: TreePath, file: TreeEntry, base: ObjectID) {
      self.path = path
      self.file = file
      self.base = base
    }
  }

  package init(
    from: ObjectID?, to: ObjectID, overlay: [Overlay] = [], sparse: [TreePath] = []
  ) {
    self.from = from
    self.to = to
    self.overlay = overlay
    self.sparse = sparse
  }

  static let format = "1"

  /// The folder that holds the journal and the staged files.
  static func folder(in stateFolder: String) -> String { stateFolder + "/checkout" }

  private static func path(in stateFolder: String) -> String {
    folder(in: stateFolder) + "/journal"
  }

  /// The journal of an interrupted checkout, or nil.
  package static func load(from stateFolder: String) throws -> CheckoutJournal? {
    let path = path(in: stateFolder)
    guard let content = try Disk.readIfThere(path) else { return nil }
    var lines = content.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self).split(separator: " ")
    }
    if let format = lines.first?.first, lines.first?.count == 1, format != Self.format,
      Int(format) != nil
    {
      throw NotebookError.newerFormat(String(format))
    }
    if lines.isEmpty { throw NotebookError.brokenState(path: path, "empty") }
    lines.removeFirst()
    guard lines.count >= 2, lines[0].count == 1, lines[1].count == 1,
      let from = ObjectID(hex: lines[0][0]), let to = ObjectID(hex: lines[1][0])
    else { throw NotebookError.brokenState(path: path, "not a checkout journal") }
    var journal = CheckoutJournal(from: from == .zero ? nil : from, to: to)
    let items = lines.dropFirst(2)
    journal.sparse = try items.filter { $0.count == 1 }.map { words in
      guard let name = [UInt8](hexadecimal: words[0]) else {
        throw NotebookError.brokenState(path: path, "not a checkout journal")
      }
      return TreePath(bytes: name)
    }
    journal.overlay = try items.filter { $0.count != 1 }.map { words in
      guard words.count == 4, let base = ObjectID(hex: words[0]), let id = ObjectID(hex: words[1]),
        let mode = UInt32(words[2], radix: 8), let name = [UInt8](hexadecimal: words[3])
      else { throw NotebookError.brokenState(path: path, "not a checkout journal") }
      let file = TreePath(bytes: name)
      return Overlay(
        path: file,
        file: TreeEntry(name: file.name, mode: FileMode(rawValue: mode), id: id), base: base)
    }
    return journal
  }

  /// Writes the journal under a name that does not count yet, which it returns; not durably.
  func write(in stateFolder: String) throws -> String {
    var text = "\(Self.format)\n\(from ?? .zero)\n\(to)\n"
    for item in overlay {
      text += "\(item.base) \(item.file.id) \(String(item.file.mode.rawValue, radix: 8)) "
      text += String(hexadecimal: item.path.bytes) + "\n"
    }
    for path in sparse { text += String(hexadecimal: path.bytes) + "\n" }
    let path = Self.path(in: stateFolder) + ".new"
    try Disk.create(path, Array(text.utf8), mode: 0o600, overLeftover: true, waits: false)
    return path
  }

  /// Lets a journal that is on the disk count, durably.
  static func begin(in stateFolder: String) throws {
    let path = path(in: stateFolder)
    try Disk.rename(path + ".new", to: path)
    try Disk.sync(folder: folder(in: stateFolder))
  }

  /// The version that has an overlaid file as it stood; nil for other files.
  package func base(of path: TreePath) -> ObjectID? { overlay.first { $0.path == path }?.base }

  /// What the checkout does to the folder.
  package func plan(in repository: Repository) throws -> CheckoutPlan {
    var old = try from.map { try repository.commit($0).tree }
    if !overlay.isEmpty {
      old = try repository.write(
        tree: old, replacing: Dictionary(overlay.map { ($0.path, $0.file) }) { _, last in last })
    }
    return try CheckoutPlan(
      from: old, to: repository.commit(to).tree, sparse: sparse, in: repository)
  }

  /// Ends the checkout: removes the journal, durably, and then the staged files, which mean nothing
  /// without it.
  package static func clear(in stateFolder: String) throws {
    try Disk.remove(path(in: stateFolder))
    try emptyStaging(in: stateFolder)
  }

  /// Removes staged files that no journal speaks of.
  package static func emptyStaging(in stateFolder: String) throws {
    let folder = folder(in: stateFolder)
    guard access(folder, F_OK) == 0 else { return }
    for name in try Disk.names(in: folder)
    where name != "journal" && unlink(folder + "/" + name) != 0 && errno != ENOENT {
      throw NotebookError.file(call: "unlink", path: folder + "/" + name, errno: errno)
    }
  }
}
