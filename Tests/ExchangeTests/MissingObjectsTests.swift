import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-protocol(7), "Missing objects".
@Suite("Objects that are missing", .timeLimit(.minutes(5)))
struct MissingObjectsTests {
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    _ = try ada.notebook().save()
    _ = try sync(bob, ada)
    try bob.write("by bob\n", to: "B.txt")
    _ = try sync(bob, ada)
  }

  /// What may be lost.
  enum Lost: CaseIterable { case tip, tree, note, former }

  private func lose(_ lost: Lost, of device: Device) throws -> ObjectID {
    let repository = try device.notebook().repository
    let tip = try repository.commit(#require(try device.tip()))
    let id: ObjectID =
      switch lost {
      case .tip: tip.id
      case .tree: tip.tree
      case .note: try #require(try repository.entry(at: "A.txt", in: tip.tree)).id
      case .former: try #require(tip.parents.first)
      }
    // In files of their own, whatever they came in.
    let packs = device.notes + "/.git/objects/pack"
    for name in try TestSupport.run(["ls", packs]).lines where name.hasSuffix(".pack") {
      try #require(rename("\(packs)/\(name)", device.folder[name]) == 0)
      unlink("\(packs)/\(name.dropLast(5)).idx")
      let unpacked = try TestSupport.run(
        ["git", "-C", device.notes, "unpack-objects", "-q"], input: readFile(device.folder[name]))
      try #require(unpacked.isSuccess)
    }
    let hex = id.hex
    try #require(
      unlink("\(device.notes)/.git/objects/\(hex.prefix(2))/\(hex.dropFirst(2))") == 0)
    return id
  }

  private func isWhole(_ device: Device) throws -> Bool {
    try device.git("fsck", "--full").isSuccess
      && device.notebook().missingObjects.all(in: device.notebook().repository).isEmpty
  }

  @Test("another device is asked for them", arguments: Lost.allCases)
  func device(lost: Lost) throws {
    let id = try lose(lost, of: bob)
    // Somebody has to come upon it.
    bob.notebookOrNil()?.record(missing: [id])
    try ada.write("two\n", to: "A.txt")
    _ = try sync(bob, ada)
    #expect(try isWhole(bob))
    #expect(try bob.text("A.txt") == "two\n" && bob.tip() == ada.tip())
    // As ever.
    try bob.write("three\n", to: "B.txt")
    _ = try sync(bob, ada)
    #expect(try ada.text("B.txt") == "three\n")
  }

  @Test("a hub is asked for them", arguments: Lost.allCases)
  func hub(lost: Lost) throws {
    let hub = try FolderHub()
    for device in [ada, bob, ada] { try device.meet(hub) }
    let id = try lose(lost, of: bob)
    bob.notebookOrNil()?.record(missing: [id])
    try bob.meet(hub)
    #expect(try isWhole(bob))
    #expect(try bob.tip() == hub.tip())
  }

  @Test(
    "where this device has not noticed, a session that fails by it says so, and the next one asks")
  func noticed() throws {
    let id = try lose(.former, of: bob)
    // A device that has nothing yet is to get everything.
    let cleo = try Device("Cleo", certifiedBy: ada)
    let results = try withConnections(from: cleo, to: bob) { [context = bob.context] in
      try Session.run(on: $0, as: context)
    } call: {
      try Session.run(on: $0, as: cleo.context)
    }
    #expect {
      _ = try results.called.get()
    } throws: {
      "\($0)".contains(id.hex)
    }
    let notebook = try bob.notebook()
    #expect(try notebook.status().missing == [id])
    _ = try sync(bob, ada)
    #expect(try isWhole(bob) && bob.notebook().status().missing.isEmpty)
  }

  @Test("a text of the latest version is missed by the next session, whoever came upon it")
  func unnoticed() throws {
    let id = try lose(.note, of: bob)
    try bob.write("one\nand more\n", to: "A.txt")
    #expect(try bob.notebook().status().missing == [id])
    _ = try sync(bob, ada)
    #expect(try isWhole(bob) && bob.notebook().status().missing.isEmpty)
    #expect(try ada.text("A.txt") == "one\nand more\n")
  }

  @Test("a text of the latest version that nobody has any more is named by the session")
  func nowhere() throws {
    try bob.write("by bob alone\n", to: "C.txt")
    _ = try bob.notebook().save()
    let tree = try bob.notebook().repository.commit(#require(try bob.tip())).tree
    let id = try #require(try bob.notebook().repository.entry(at: "C.txt", in: tree)).id
    try #require(
      unlink("\(bob.notes)/.git/objects/\(id.hex.prefix(2))/\(id.hex.dropFirst(2))") == 0)
    try bob.write("by bob, later\n", to: "C.txt")
    #expect(throws: (any Error).self) { try sync(bob, ada) }
    #expect(try bob.notebook().status().missing == [id])
  }

  @Test("a text that stands in the folder is stored anew, and nobody is asked")
  func folder() throws {
    try bob.write("nobody else has it\n", to: "C.txt")
    let notebook = try bob.notebook()
    _ = try notebook.save()
    let tree = try notebook.repository.commit(#require(try bob.tip())).tree
    let id = try #require(try notebook.repository.entry(at: "C.txt", in: tree)).id
    try #require(
      unlink("\(bob.notes)/.git/objects/\(id.hex.prefix(2))/\(id.hex.dropFirst(2))") == 0)
    try bob.notebook().record(missing: [id])
    #expect(try isWhole(bob))
    _ = try sync(bob, ada)
    #expect(try ada.text("C.txt") == "nobody else has it\n")
  }

  @Test("who was asked in vain is not asked for everything again")
  func asked() throws {
    let id = try lose(.former, of: bob)
    let missing = try bob.notebook().missingObjects
    missing.record([id])
    #expect(missing.isNews(for: ada.key.deviceID))
    missing.record(asked: ada.key.deviceID)
    #expect(!missing.isNews(for: ada.key.deviceID) && missing.isNews(for: "hub"))
    missing.record([ObjectID(hex: String(repeating: "1", count: 40))!])
    #expect(missing.isNews(for: ada.key.deviceID))
  }
}

extension Device {
  fileprivate func notebookOrNil() -> Notebook? { try? notebook() }
}
