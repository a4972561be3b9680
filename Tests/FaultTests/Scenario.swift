import FoundationEssentials
import Git
import Glibc
import TestSupport

@testable import History
@testable import Notebook

/// An operation of the library on a notebook, to be interrupted everywhere.
struct Scenario: Sendable, CustomStringConvertible {
  let name: String
  /// Makes the notebook in `folder` and what else the operation needs beside it; returns the
  /// subject's arguments, where `NOTEBOOK` stands for the notebook's folder.
  let prepare: @Sendable (Template) throws -> [String]
  /// What an editor does to the notebook's files before the operation.
  let edit: @Sendable (String) throws -> Void

  var description: String { name }

  static let all = [save, saveMany, first, fastForward, merge, receive, restore]

  static let save = Scenario(name: "save") { template in
    try template.makeNotebook()
    return ["save", "NOTEBOOK"]
  } edit: { folder in
    try writeFile(folder + "/1.txt", Array("one, edited\n".utf8))
    try writeFile(folder + "/deep/er/new.txt", Array("new\n".utf8))
    try writeFile(folder + "/2.txt", [])
    unlink(folder + "/3.txt")
    rename(folder + "/folder/4.txt", folder + "/4 renamed.txt")
    chmod(folder + "/5.txt", 0o755)
  }

  /// More files than are synced one by one.
  static let saveMany = Scenario(name: "save of many files") { template in
    try template.makeNotebook()
    return ["save", "NOTEBOOK"]
  } edit: { folder in
    for number in 0..<24 {
      try writeFile(folder + "/many/\(number).txt", Array("note \(number)\n".utf8))
    }
  }

  static let first = Scenario(name: "init") { template in
    try template.write(Template.files)
    return ["init", "NOTEBOOK"]
  } edit: { _ in
  }

  static let fastForward = Scenario(name: "join, nothing of one's own") { template in
    let notebook = try template.makeNotebook()
    let head = try template.remoteVersion(of: notebook)
    return ["join", "NOTEBOOK", head.hex]
  } edit: { _ in
  }

  /// With edits that are not saved yet: one in conflict, one beside, one of a file the other side
  /// deletes.
  static let merge = Scenario(name: "join with edits of one's own") { template in
    let notebook = try template.makeNotebook()
    let head = try template.remoteVersion(of: notebook)
    return ["join", "NOTEBOOK", head.hex]
  } edit: { folder in
    try writeFile(folder + "/1.txt", Array("first, edited here\nsecond\nthird\n".utf8))
    try writeFile(folder + "/2.txt", Array("two\nlast line edited here\n".utf8))
    try writeFile(folder + "/3.txt", Array("edited here, deleted there\n".utf8))
    try writeFile(folder + "/mine.txt", Array("mine\n".utf8))
  }

  /// The receiving half of a sync: a pack through quarantine, then the join.
  static let receive = Scenario(name: "receive a pack and join") { template in
    let notebook = try template.makeNotebook()
    let base = try notebook.state().heads
    let away = try template.copyAside(notebook)
    let head = try template.remoteVersion(of: away)
    let writer = try away.repository.pack(wants: [head], haves: base)
    var pack: [UInt8] = []
    while let piece = try writer.next() { pack += piece }
    try writeFile(template.aside + "/pack", pack)
    return ["receive", "NOTEBOOK", template.aside + "/pack", head.hex]
  } edit: { folder in
    try writeFile(folder + "/1.txt", Array("first, edited here\nsecond\nthird\n".utf8))
  }

  static let restore = Scenario(name: "restore") { template in
    let notebook = try template.makeNotebook()
    let version = try notebook.state().tip
    try writeFile(notebook.folder + "/1.txt", Array("later text\n".utf8))
    _ = try notebook.save()
    return ["restore", "NOTEBOOK", "1.txt", version?.hex ?? ""]
  } edit: { folder in
    try writeFile(folder + "/2.txt", Array("an edit that is not saved yet\n".utf8))
  }
}

/// The state that each run of a scenario starts from.
struct Template: Sendable {
  let folder: String
  var notebookFolder: String { folder + "/notebook" }
  var aside: String { folder + "/aside" }

  static let files = [
    "1.txt": "first\nsecond\nthird\n", "2.txt": "two\nlast line\n", "3.txt": "three\n",
    "folder/4.txt": "four\nand more\nand more\n", "5.txt": "five\n", "swap": "a file\n",
  ]

  func write(_ files: [String: String]) throws {
    for (name, text) in files { try writeFile(notebookFolder + "/" + name, Array(text.utf8)) }
  }

  /// A notebook with one version of the usual files.
  @discardableResult
  func makeNotebook() throws -> Notebook {
    try write(Self.files)
    _ = try Notebook.prepare(at: notebookFolder)
    let notebook = try Notebook.adopt(
      at: notebookFolder,
      as: NotebookIdentity(
        id: "fault", name: "Fault", device: DeviceIdentity(name: "Ada", deviceID: "ADA")))
    notebook.clock = Clock { (1_700_000_000, 60) }
    _ = try notebook.save()
    return notebook
  }

  /// A copy of the notebook, as another device's.
  func copyAside(_ notebook: Notebook) throws -> Notebook {
    try makeFolder(aside)
    try FileManager.default.copyItem(atPath: notebook.folder, toPath: aside + "/away")
    let copy = try Notebook.open(at: aside + "/away")
    copy.clock = notebook.clock
    return copy
  }

  /// A version that another device made on the notebook's tip, in the notebook's objects only:
  /// edits, a deletion, new files and folders, a file that becomes a folder, a mode.
  func remoteVersion(of notebook: Notebook) throws -> ObjectID {
    let repository = notebook.repository
    guard let tip = try notebook.state().tip else { throw Missing() }
    func file(_ path: String, _ text: String, _ mode: FileMode = .regular) throws -> TreeEntry {
      TreeEntry(
        name: TreePath(path).name, mode: mode, id: try repository.write(blob: Array(text.utf8)))
    }
    let tree = try repository.write(
      tree: repository.commit(tip).tree,
      replacing: [
        TreePath("1.txt"): try file("1.txt", "first, edited there\nsecond\nthird\n"),
        TreePath("2.txt"): try file("2.txt", "two, edited there\nlast line\n"),
        TreePath("3.txt"): nil,
        TreePath("folder/4.txt"): nil,
        TreePath("5.txt"): try file("5.txt", "five\n", .executable),
        TreePath("swap"): nil,
        TreePath("swap/inside.txt"): try file("inside.txt", "inside\n"),
        TreePath("theirs/deep/new.txt"): try file("new.txt", "theirs\n"),
      ])
    let bob = Signature(name: "Bob", email: "bob@notes.invalid", time: 1_700_000_500, offset: 0)
    return try repository.write(
      commit: tree, parents: [tip], author: bob, committer: bob, message: "Theirs\n")
  }

  struct Missing: Error {}
}
