import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-watch(1): "When the notebook's folder is unmounted or moved away, its notes are left as they are in
/// history, and it is watched again when it is back." It cannot come back where something stands in its place.
@Suite("What is written while the folder is away")
struct FolderAwayTests {
  private let parent: TemporaryFolder
  private let place: String
  private let ada: Fixture
  private let tip: ObjectID

  init() throws {
    parent = try TemporaryFolder()
    place = parent["place"]
    try #require(mkdir(place, 0o700) == 0)
    ada = try Fixture(in: place)
    try ada.write("n.txt", "1\n")
    try ada.write(".gitignore", "x\n")
    tip = try #require(ada.notebook.save().version)
    try #require(rename(place, parent["elsewhere"]) == 0)
  }

  @Test func `State makes no folder above its own`() throws {
    let difference = TipDifference(
      device: String(repeating: "A", count: 52), tip: tip, rules: 1, peerTip: tip, peerRules: nil)
    #expect(throws: (any Error).self) { try ada.notebook.remember(difference) }
    #expect(throws: (any Error).self) {
      try LateWrites(stateFolder: ada.notebook.stateFolder)
        .adopt(ada.path + "/x", path: "x", mode: .regular, base: nil, blob: nil)
    }
    // A file that is gone is agreed to no more, which needs no folder.
    try ada.notebook.workTree.agree(toFilesAmong: [".gitignore"])
    #expect(throws: (any Error).self) { try ada.notebook.workTree.beginAgreements() }
    #expect(access(place, F_OK) != 0)
  }

  @Test(arguments: ["refs/heads/main", "refs/heads/other", "refs/notes/x"])
  func `A reference makes no folder above the repository`(name: String) {
    let repository = ada.notebook.repository
    #expect(throws: (any Error).self) {
      try repository.update(reference: name, to: tip, from: nil, message: "m")
    }
    #expect(throws: (any Error).self) { try repository.set(reference: name, to: tip, message: "m") }
    #expect(throws: (any Error).self) {
      try repository.copy(reference: "refs/heads/main", at: tip, to: name)
    }
    #expect(access(place, F_OK) != 0)
  }
}
