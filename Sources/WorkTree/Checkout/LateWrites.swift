package import Git
internal import Glibc
package import State
internal import System

/// Files that a checkout swapped out while a program still had them open for writing.
///
/// Such a program goes on writing into the file it opened, wherever that is now. So the file stays,
/// in `.git/notes/lingering/`, until nobody writes any more; what was written by then becomes a
/// version on the text that the program had opened.
package struct LateWrites {
  /// A file of that kind.
  package struct Item {
    package let number: Int
    /// The note it was.
    package let path: TreePath
    package let mode: FileMode
    /// A commit that has the note as it stood when it was swapped out, and its blob there; nil when
    /// it was new then.
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

  /// Takes over a swapped-out file.
  package func adopt(
    _ staged: String, path: TreePath, mode: FileMode, base: ObjectID?, blob: ObjectID?
  ) throws {
    try Disk.makeFolder(folder, mode: 0o777)
    let number = (try items().map(\.number).max() ?? 0) + 1
    // The description first: a file without one would never be looked at again.
    try describe(Item(number: number, path: path, mode: mode, base: base, blob: blob))
    try Disk.rename(staged, to: self.path(number))
    try Disk.sync(folder: folder)
  }

  /// The files that wait, in the order they came.
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

  /// Whether there is anything to look at.
  package var isEmpty: Bool { Counted.access(folder, F_OK) != 0 }

  /// The bytes of a file; nil when a killed run had not moved it here yet.
  package func content(of item: Item) throws -> [UInt8]? { try Disk.readIfThere(path(item.number)) }

  /// Whether a file is larger than any device takes, so that no version can hold it.
  package func isTooLarge(_ item: Item) -> Bool {
    var status = stat()
    return Counted.lstat(path(item.number), &status) == 0 && FolderAccess.isTooLarge(status)
  }

  /// Lets a file go, which gets a name of its own in the notebook's folder.
  package func setAside(_ item: Item, in access: FolderAccess) throws {
    try access.setAside(path(item.number), beside: item.path)
    try remove(item)
  }

  /// Whether a program still has it open for writing.
  package func hasWriter(_ item: Item) -> Bool { OpenWriter.exists(of: path(item.number)) }

  /// Says what a file holds by now, and in which commit.
  package func describe(_ item: Item) throws {
    let text =
      "1 \(item.base ?? .zero) \(item.blob ?? .zero) \(item.mode.octal) \(item.path.hexadecimal)\n"
    try Disk.replace(path(item.number) + ".about", with: Array(text.utf8))
  }

  /// Lets a file go.
  package func remove(_ item: Item) throws {
    try Disk.remove(path(item.number))
    try Disk.remove(path(item.number) + ".about")
    rmdir(folder)
  }
}
