internal import Git
internal import Glibc

/// The record of a checkout under way: `.git/notes/checkout/journal`, beside the staged files.
///
/// It is written when every staged file is on the disk and before the first file in the folder
/// changes, and removed when the index says what the folder holds. Whoever finds it finishes the
/// checkout: each step shows by its staged file whether it was done (see `Checkout`).
struct CheckoutJournal {
  /// The commit the folder showed; nil for none.
  let from: ObjectID?
  /// The commit the folder is to show.
  let to: ObjectID

  static let format = "1"

  /// The folder that holds the journal and the staged files.
  static func folder(in stateFolder: String) -> String { stateFolder + "/checkout" }

  private static func path(in stateFolder: String) -> String {
    folder(in: stateFolder) + "/journal"
  }

  /// The journal of an interrupted checkout, or nil.
  static func load(from stateFolder: String) throws -> CheckoutJournal? {
    let path = path(in: stateFolder)
    guard let content = try StateFile.read(path) else { return nil }
    let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.first.map(String.init) == Self.format else {
      throw NotebookError.newerFormat("of the checkout journal")
    }
    guard words.count == 3, let from = ObjectID(hex: words[1]), let to = ObjectID(hex: words[2])
    else { throw NotebookError.brokenState(path: path, "not a checkout journal") }
    return CheckoutJournal(from: from == .zero ? nil : from, to: to)
  }

  /// Writes the journal, durably.
  func store(in stateFolder: String) throws {
    try StateFile.write(
      Array("\(Self.format)\n\(from ?? .zero)\n\(to)\n".utf8), to: Self.path(in: stateFolder))
  }

  /// Ends the checkout: removes the journal, durably, and then the staged files, which mean nothing
  /// without it.
  static func clear(in stateFolder: String) throws {
    try StateFile.remove(path(in: stateFolder))
    try emptyStaging(in: stateFolder)
  }

  /// Removes staged files that no journal speaks of.
  static func emptyStaging(in stateFolder: String) throws {
    let folder = folder(in: stateFolder)
    guard let stream = opendir(folder) else {
      if errno == ENOENT { return }
      throw NotebookError.file(call: "opendir", path: folder, errno: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = String(decoding: entry.nameBytes, as: UTF8.self)
      if name != "." && name != ".." && name != "journal" { names.append(name) }
    }
    for name in names where unlink(folder + "/" + name) != 0 && errno != ENOENT {
      throw NotebookError.file(call: "unlink", path: folder + "/" + name, errno: errno)
    }
  }
}
