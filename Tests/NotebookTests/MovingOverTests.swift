import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import Rewriting
@testable import WorkTree

/// notes-forget(1), "Other devices".
@Suite("Moving over to a history from which something went")
struct MovingOverTests {
  private static let secret = "hunter2-pass-9f"
  let ada: Fixture
  let ben: Fixture

  init() throws {
    ada = try Fixture()
    Self.obey(ada)
    try ada.write("Wifi.txt", "Home\nkey: \(Self.secret)\nbelow the stairs\n")
    try ada.write("List.txt", "milk\n")
    try Self.save(ada)
    try ada.write("List.txt", "milk\nbread\n")
    try Self.save(ada)
    ben = try ada.clone(device: "Ben")
    Self.obey(ben)
  }

  /// In these notebooks each device is an admin.
  private static func obey(_ device: Fixture) {
    device.notebook.signer = VersionSigner(load: { _ in nil }, counts: { _, _, _ in true })
  }

  private static func save(_ device: Fixture, _ message: String? = nil) throws {
    device.seconds.now += 10
    _ = try device.notebook.save(message: message)
  }

  private func forget(_ target: ForgetTarget = .text(Array(secret.utf8))) throws {
    ada.seconds.now = max(ada.seconds.now, ben.seconds.now) + 10
    _ = try ada.notebook.forget(target)
  }

  /// Ben takes what Ada has, then Ada what Ben has: both show the same.
  private func meet(_ ben: Fixture? = nil) throws {
    let ben = ben ?? self.ben
    ben.seconds.now = max(ada.seconds.now, ben.seconds.now) + 10
    try ben.receive(from: ada)
    try ada.receive(from: ben)
    #expect(try ada.notebook.state().tip == ben.notebook.state().tip)
    for device in [ada, ben] {
      #expect(try device.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
      #expect(try device.git(["status", "--porcelain"]).isEmpty)
      #expect(access(device.path + "/.git.new", F_OK) != 0)
    }
  }

  private func expectGone(_ text: String = secret, from device: Fixture? = nil) throws {
    #expect(try Leftovers(in: (device ?? ben).path).places(of: text) == [], "\(text)")
  }

  @Test("A device that has seen all becomes what the other one is")
  func seen() throws {
    try forget()
    let tip = try ada.notebook.state().tip
    try meet()
    #expect(try ben.notebook.state().tip == tip)
    try expectGone()
    #expect(try ben.read("Wifi.txt") == "Home\nkey: [forgotten]\nbelow the stairs\n")
    // And once more there is nothing to do.
    #expect(try ben.receive(from: ada).tip == tip)
  }

  @Test("Versions that only this device had come along, without the text")
  func unseen() throws {
    try ben.write("Wifi.txt", "Home\nkey: \(Self.secret)!\nbelow the stairs\nask Ben\n")
    try Self.save(ben, "changed \(Self.secret)")
    try ben.write("Mine.txt", "of Ben, who has \(Self.secret), too\n")
    try Self.save(ben)
    try ben.write("List.txt", "milk\nbread\ntea\n")
    try ben.write("Wifi.txt.orig", "unsaved \(Self.secret)\n")
    try forget()
    try ada.write("List.txt", "eggs\nmilk\nbread\n")
    try Self.save(ada)
    try meet()
    try expectGone()
    try expectGone(from: ada)
    #expect(try ben.read("Mine.txt") == "of Ben, who has [forgotten], too\n")
    #expect(try ben.read("List.txt") == "eggs\nmilk\nbread\ntea\n")
    #expect(
      try ben.read("Wifi.txt")?.hasSuffix("key: [forgotten]!\nbelow the stairs\nask Ben\n") == true)
    let log = try ben.git(["log", "--format=%an %s"])
    #expect(log.contains("Ben changed [forgotten]"), "\(log)")
  }

  @Test("A note that somebody goes on writing: the lines that are new stay")
  func note() throws {
    try ben.write("Wifi.txt", "Home\nkey: \(Self.secret)\nbelow the stairs\nof Ben alone\n")
    try Self.save(ben)
    try ben.write("List.txt", "milk\nbread\ntea\n")
    try Self.save(ben)
    try forget(.note("Wifi.txt"))
    try meet()
    try expectGone()
    try expectGone("below the stairs")
    #expect(try ben.read("Wifi.txt") == "of Ben alone\n")
    #expect(try ada.read("List.txt") == "milk\nbread\ntea\n")
  }

  @Test("A note that was renamed meanwhile goes, too")
  func renamed() throws {
    ben.seconds.now += 10
    _ = try ben.notebook.rename("Wifi.txt", to: "Network.txt")
    try forget(.note("Wifi.txt"))
    try meet()
    try expectGone("below the stairs")
    #expect(try ben.read("Network.txt") == nil && ben.read("Wifi.txt") == nil)
  }

  @Test("Lines of a version go from that note alone")
  func lines() throws {
    let version = try #require(try ada.notebook.state().tip)
    try ben.write("List.txt", "milk\nbread\ntea\n")
    try ben.write("Other.txt", "bread\n")
    try Self.save(ben)
    try forget(.version("List.txt", version))
    try meet()
    #expect(try ben.read("List.txt") == "milk\n[forgotten]\ntea\n")
    #expect(try ben.read("Other.txt") == "bread\n")
  }

  @Test("Parts that were typed on the way to it go from unseen versions, too")
  func parts() throws {
    try ben.write("Pin.txt", "list\nzebra crossing\npin: \n")
    try Self.save(ben)
    for length in [5, 9, 15] {
      try ben.write("Pin.txt", "list\nzebra crossing\npin: \(Self.secret.prefix(length))\n")
      try Self.save(ben)
    }
    try ben.write("Pin.txt", "list\nzebra crossing\npin: \n")
    try Self.save(ben)
    try forget()
    try meet()
    try expectGone()
    try expectGone("hunter2-p")
    #expect(try ben.read("Pin.txt") == "list\nzebra crossing\npin: \n")
  }

  @Test("A device that was away for two forgettings takes both")
  func twice() throws {
    try ada.write("Code.txt", "the code is bananas-4711.\n")
    try Self.save(ada)
    try meet()
    try ben.write("Code.txt", "the code is bananas-4711.\nwritten down by Ben\n")
    try Self.save(ben)
    try forget()
    try forget(.text(Array("bananas-4711".utf8)))
    try meet()
    try expectGone()
    try expectGone("bananas-4711")
    #expect(try ben.read("Code.txt") == "the code is [forgotten].\nwritten down by Ben\n")
    #expect(try ben.notebook.history.obeyed()?.lines.count == 2)
  }

  @Test("A third device that gets its versions from who moved over moves, too")
  func chain() throws {
    let cleo = try ada.clone(device: "Cleo")
    Self.obey(cleo)
    try cleo.write("Theirs.txt", "of Cleo, \(Self.secret)\n")
    try Self.save(cleo)
    try ben.write("Mine.txt", "of Ben\n")
    try Self.save(ben)
    try forget()
    ben.seconds.now = ada.seconds.now + 10
    try ben.receive(from: ada)
    cleo.seconds.now = ben.seconds.now + 10
    try cleo.receive(from: ben)
    try meet(cleo)
    try expectGone(from: cleo)
    #expect(try ada.read("Theirs.txt") == "of Cleo, [forgotten]\n")
    #expect(try ada.read("Mine.txt") == "of Ben\n")
  }

  @Test("What somebody writes again afterwards stays")
  func again() throws {
    try forget()
    try ada.write("New.txt", "again \(Self.secret)\n")
    try Self.save(ada)
    try meet()
    #expect(try ben.read("New.txt") == "again \(Self.secret)\n")
    #expect(try ben.read("Wifi.txt") == "Home\nkey: [forgotten]\nbelow the stairs\n")
  }

  @Test("A stash, a branch, a tag and the staged content move over with the rest")
  func git() throws {
    _ = try ben.git(["tag", "start", "HEAD~1"])
    _ = try ben.git(["branch", "other", "HEAD"])
    try ben.write("List.txt", "milk\nbread, staged \(Self.secret)\n")
    _ = try ben.git(["stash", "-q"])
    try forget()
    try meet()
    try expectGone()
    #expect(try ben.git(["stash", "show", "-p"]).contains("staged [forgotten]"))
    #expect(try ben.git(["show", "start:Wifi.txt"]).contains("[forgotten]"))
  }

  @Test("What would take away more than half of the notes is asked for, and changes nothing before")
  func guarded() throws {
    for number in 0..<12 { try ada.write("n\(number).txt", "note \(number)\n") }
    try Self.save(ada)
    try meet()
    for number in 0..<12 { try ada.remove("n\(number).txt") }
    ada.seconds.now += 10
    _ = try ada.notebook.save(allowsMassDeletion: true)
    try forget(.deleted)
    let tip = try ben.notebook.state().tip
    do {
      _ = try ben.receive(from: ada)
      Issue.record("nothing was asked")
    } catch NotebookError.massDeletion(let deleted, _) {
      #expect(deleted == 12)
    }
    #expect(try ben.notebook.state().tip == tip && ben.read("n3.txt") == "note 3\n")
    _ = try ben.notebook.merge(
      ada.notebook.state().heads, options: MergeOptions(allowsMassDeletion: true))
    #expect(try ben.read("n3.txt") == nil)
    try expectGone("note 3")
  }

  @Test("Nobody takes back what a device has that has not moved over")
  func behind() throws {
    try ben.write("Mine.txt", "of Ben\n")
    try Self.save(ben)
    try forget()
    #expect(throws: NotebookError.self) { try ada.receive(from: ben) }
    // But who asks for that brings its versions over.
    ada.seconds.now += 10
    var options = MergeOptions()
    options.bringsOver = true
    _ = try ada.notebook.merge(ben.notebook.state().heads, options: options)
    try expectGone(from: ada)
    #expect(try ada.read("Mine.txt") == "of Ben\n")
    let tip = try ada.notebook.state().tip
    try meet()
    #expect(try ben.notebook.state().tip == tip)
  }

  @Test("Without an admin's word nothing changes")
  func forged() throws {
    ben.notebook.signer = nil
    try forget()
    let tip = try ben.notebook.state().tip
    #expect(throws: NotebookError.self) { try ben.receive(from: ada) }
    #expect(try ben.notebook.state().tip == tip)
  }

  /// Somebody merges the old and the new by hand.
  @Test("A merge of both by hand brings nothing back")
  func byHand() throws {
    let old = try #require(try ben.notebook.state().tip)
    try forget()
    let cleo = try Fixture(device: "Cleo")
    Self.obey(cleo)
    try cleo.copyObjects(from: ada)
    try cleo.copyObjects(from: ben)
    let top = try #require(try ada.notebook.state().tip)
    _ = try cleo.git(["update-ref", "refs/heads/main", top.hex])
    _ = try cleo.git(["reset", "-q", "--hard"])
    _ = try cleo.git([
      "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "both", old.hex,
    ])
    let head = try #require(ObjectID(hex: cleo.git(["rev-parse", "HEAD"]).prefix(40)))
    try ben.copyObjects(from: cleo)
    ben.seconds.now = ada.seconds.now + 10
    _ = try ben.notebook.merge([head])
    try expectGone()
    try meet()
  }
}
