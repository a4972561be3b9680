package import Git
internal import Glibc
package import State
internal import System

/// Files that a checkout swapped out while a program still had them open for writing.
///
/// Such a program continues to write into the file that it opened, wherever that is now. So the file is kept in
/// `.git/notes/lingering/` until no program has it open. Then its text becomes a version based on the text that
/// the program had opened.
package struct LateWrites {
  /// A swapped-out file.
  package struct Item {
    package let number: Int
    /// The path of the note.
    package let path: TreePath
    package let mode: FileMode
    /// A commit that has the note as it was when the file was swapped out, and the note's blob there; nil if
    /// the note was new then.
    package var base: ObjectID?
    package var blob: ObjectID?
  }

  private let folder: String

  package init(stateFolder: StateFolder) { folder = stateFolder[.lingering] }

  private func path(_ number: Int) -> String { "\(folder)/\(number)" }

  static func waitForWriters(of file: Int32) -> Bool {
    var waited = 0
    while OpenWriter.exists(of: file) {
      guard OpenWriter.wait(after: waited) else { return false }
      waited += 1
    }
    return true
  }

  /// Moves a swapped-out file into the folder `lingering`.
  package func adopt(
    _ staged: String, path: TreePath, mode: FileMode, base: ObjectID?, blob: ObjectID?
  ) throws {
    try Disk.makeFolder(folder, mode: 0o777)
    let number = (try items().map(\.number).max() ?? 0) + 1
    // The description first: a file without a description would never be read again.
    try describe(Item(number: number, path: path, mode: mode, base: base, blob: blob))
    try Disk.rename(staged, to: self.path(number))
    try Disk.sync(folder: folder)
  }

  /// The files that wait, oldest first.
  package func items() throws -> [Item] {
    guard !isEmpty else { return [] }
    var found: [Item] = []
    for name in try Disk.names(in: folder) {
      guard name.hasSuffix(".about"), let number = Int(name.dropLast(6)),
        let lines = try Disk.lines(of: folder + "/" + name)
      else { continue }
      guard let words = lines.lines.first?.words, words.count == 5, words[0] == "1",
        let base = words.id(1), let blob = words.id(2),
        let mode = words.mode(3), let path = words.path(4)
      else { throw StateDamage(folder + "/" + name, "not a description") }
      found.append(
        Item(number: number, path: path, mode: mode, base: base.unlessZero, blob: blob.unlessZero))
    }
    return found.sorted { $0.number < $1.number }
  }

  /// Whether no file waits.
  package var isEmpty: Bool { Counted.access(folder, F_OK) != 0 }

  /// The bytes of a file; nil if a run was killed before it moved the file here.
  package func content(of item: Item) throws -> [UInt8]? { try Disk.readIfThere(path(item.number)) }

  /// Whether a file exceeds the limit of all devices, so that it cannot be in a version.
  package func isTooLarge(_ item: Item) -> Bool {
    var status = stat()
    return Counted.lstat(path(item.number), &status) == 0 && FolderAccess.isTooLarge(status)
  }

  /// Moves a file into the notebook's folder, under a free name.
  package func setAside(_ item: Item, in access: FolderAccess) throws {
    try access.setAside(path(item.number), beside: item.path)
    try remove(item)
  }

  /// Whether a program still has the file open for writing.
  package func hasWriter(_ item: Item) -> Bool { OpenWriter.exists(of: path(item.number)) }

  /// Records which text a file has by now, and in which commit.
  package func describe(_ item: Item) throws {
    let text =
      "1 \(item.base ?? .zero) \(item.blob ?? .zero) \(item.mode.octal) \(item.path.hexadecimal)\n"
    try Disk.replace(path(item.number) + ".about", with: Array(text.utf8))
  }

  /// Removes a file.
  package func remove(_ item: Item) throws {
    try Disk.remove(path(item.number))
    try Disk.remove(path(item.number) + ".about")
    rmdir(folder)
  }
}
