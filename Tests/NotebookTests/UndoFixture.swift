import Git
import NotebookSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

extension Fixture {
  /// A notebook with some history and an open conflict.
  static func withHistory() throws -> Fixture {
    let home = try Fixture()
    try home.write("Note.txt", "one\ntwo\n")
    try home.write("Clash.txt", "x\n")
    _ = try home.notebook.save()
    let ben = try home.clone(device: "Ben")
    home.seconds.now += 60
    try home.write("Note.txt", "one\ntwo\nthree\n")
    try home.write("Clash.txt", "ours\n")
    try home.write("trips/Rome.md", "forum\n")
    _ = try home.notebook.save()
    ben.seconds.now += 120
    try ben.write("Clash.txt", "theirs\n")
    _ = try ben.notebook.save()
    try home.receive(from: ben)
    home.seconds.now += 300
    return home
  }

  /// Every file in the folder, with its bytes.
  func texts() throws -> [TreePath: [UInt8]] {
    var found: [TreePath: [UInt8]] = [:]
    for file in try notebook.history.files() {
      found[file.path] = try notebook.workTree.text(of: file.path)
    }
    return found
  }

  /// Who wrote what is in conflict.
  func sides() throws -> [String] {
    try notebook.history.conflicts().map { conflict in
      "\(conflict.path): \(conflict.sides.map { "\($0.name), \($0.date)" })"
    }
  }

  /// Runs `body`; whatever it does, the former tip is an ancestor of the new one.
  func growing<Result>(_ body: () throws -> Result) throws -> Result {
    let former = try #require(try notebook.state().tip)
    let result = try body()
    let tip = try #require(try notebook.state().tip)
    #expect(tip != former)
    #expect(try notebook.repository.isAncestor(former, of: tip))
    return result
  }
}
