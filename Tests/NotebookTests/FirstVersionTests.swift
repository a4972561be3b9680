import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import Rewriting

/// notes-forget(1), "The first version", against what a writer could make: versions with the author, the dates and the
/// place of another's, evil merges, and wrong clocks.
@Suite("The first version, whoever made versions like others")
struct FirstVersionTests {
  let ada: Fixture
  let ben: Fixture

  init() throws {
    ada = try Fixture()
    try ada.write("Start.txt", "begins here\n")
    ada.seconds.now += 10
    _ = try ada.notebook.save()
    ben = try ada.clone(device: "Ben")
    for device in [ada, ben] { obey(device) }
  }

  /// In these notebooks each device is an admin, and signs.
  func obey(_ device: Fixture) {
    let signature = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
    device.notebook.signer = VersionSigner(
      load: { _ in { _ in Array(signature.utf8) } }, counts: { _, _, _ in true })
  }

  func tick(_ others: [Fixture] = []) {
    let now = ([ada, ben] + others).map(\.seconds.now).max() ?? 0
    for device in [ada, ben] + others { device.seconds.now = now + 10 }
  }

  func save(_ device: Fixture, _ name: String, _ text: String) throws {
    tick([device])
    try device.write(name, text)
    #expect(try device.notebook.save().version != nil)
  }

  func remove(_ name: String, on device: Fixture) throws {
    tick([device])
    try device.remove(name)
    #expect(try device.notebook.save().version != nil)
  }

  func forgetOlder(on device: Fixture) throws {
    tick()
    _ = try device.notebook.forget(.before(device.seconds.now))
    tick()
  }

  func take(_ device: Fixture, from other: Fixture) throws {
    tick([device, other])
    try device.receive(from: other)
  }

  /// A version with the author, the dates and the place of another one, or another place.
  func twin(
    of version: ObjectID, on device: Fixture, parents: [ObjectID]? = nil,
    files: [TreePath: String?], isRewritten: Bool = false
  ) throws -> ObjectID {
    let repository = device.notebook.repository
    var twin = try RewrittenCommit(of: repository.object(version).data, id: version)
    if let parents { twin.parents = parents }
    let entries = try files.map { path, text in
      (
        path,
        try text.map {
          TreeEntry(
            name: path, mode: .regular,
            id: try repository.write(blob: Array($0.utf8)))
        }
      )
    }
    twin.tree = try repository.write(
      tree: repository.commit(twin.parents[0]).tree,
      replacing: Dictionary(uniqueKeysWithValues: entries))
    if isRewritten { twin.add(header: Forgetting.header, "signed") }
    return try repository.write(twin)
  }

  /// The IDs of notes whose first version was signed.
  func ids(_ device: Fixture) throws -> [String: String] {
    let notes = try device.notebook.history.notes().filter { $0.path != "Start.txt" }
    return Dictionary(uniqueKeysWithValues: notes.map { ("\($0.path)", $0.id) })
  }

  func tip(_ device: Fixture) throws -> ObjectID {
    try #require(try device.notebook.state().tip)
  }

  func expectAlike(_ devices: [Fixture], without text: String) throws {
    for device in devices {
      #expect(try tip(device) == tip(ada), "\(device.path)")
      #expect(try !device.git(["log", "-p", "-m", "--all"]).contains(text), "\(device.path)")
    }
  }

  @Test("two late writes of one second are older versions like any others")
  func twins() throws {
    try save(ada, "Twin.txt", "words that nobody wants\n")
    let other = try twin(of: tip(ada), on: ada, files: ["Late.txt": "words that nobody wants\n"])
    _ = try ada.notebook.merge([other])
    try save(ada, "More.txt", "more\n")
    try remove("Twin.txt", on: ada)
    try remove("Late.txt", on: ada)
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "of Ben\n")
    try forgetOlder(on: ada)
    try take(ben, from: ada)
    try take(ada, from: ben)
    try expectAlike([ada, ben], without: "words that nobody wants")
    #expect(try ada.read("Mine.txt") == "of Ben\n")
    #expect(try ada.read("More.txt") == "more\n")
  }

  @Test(
    "a copy from before, which lacks the first version, changes nothing and is told to be one",
    arguments: [1, 2])
  func restored(times: Int) throws {
    try save(ada, "Gone.txt", "words that nobody wants\n")
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "of Ben\n")
    try remove("Gone.txt", on: ada)
    for count in 0..<times {
      try save(ada, "More.txt", "more \(count)\n")
      try forgetOlder(on: ada)
    }
    let tips = try [ada, ben].map(tip)
    for (device, other) in [(ben, ada), (ada, ben)] {
      let error = #expect(throws: NotebookError.self) { try take(device, from: other) }
      guard case .wasForgotten? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(try [ada, ben].map(tip) == tips)
    #expect(try ben.read("Mine.txt") == "of Ben\n" && ada.read("Gone.txt") == nil)
    // Also if it comes from a hub.
    try ada.copyObjects(from: ben)
    var options = MergeOptions()
    options.bringsOver = true
    #expect(throws: NotebookError.self) {
      try ada.notebook.merge(ben.notebook.state().heads, options: options)
    }
    #expect(try tip(ada) == tips[0] && ada.read("Gone.txt") == nil)
  }

  // A device can join with a code in a git repository of its own.
  @Test("versions of another history are merged as they are")
  func unrelated() throws {
    let cleo = try Fixture()
    obey(cleo)
    try save(cleo, "Mine.txt", "of Cleo\n")
    try save(ada, "Gone.txt", "words that nobody wants\n")
    try remove("Gone.txt", on: ada)
    try forgetOlder(on: ada)
    try take(cleo, from: ada)
    try take(ada, from: cleo)
    #expect(try tip(ada) == tip(cleo))
    #expect(try ada.read("Mine.txt") == "of Cleo\n" && cleo.read("Start.txt") != nil)
  }

  @Test(
    "a version like another's, on the first one, takes nothing from that", arguments: [true, false])
  func forged(isListed: Bool) throws {
    try save(ada, "Plan.txt", "plan\n")
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "of Ben\n")
    let unseen = try tip(ben)
    try save(ada, "More.txt", "more\n")
    try take(ben, from: ada)
    try forgetOlder(on: ada)
    try ada.copyObjects(from: ben)
    let first = try #require(try ada.notebook.history.obeyed()?.begins.first?.version)
    let forged = try twin(of: unseen, on: ada, parents: [first], files: [:], isRewritten: true)
    _ = try ada.notebook.merge([forged])
    if isListed {
      // The list is on top of it.
      tick()
      _ = try ada.notebook.forget(.text(Array("more".utf8)))
    }
    try take(ben, from: ada)
    try take(ada, from: ben)
    for device in [ada, ben] {
      #expect(try device.read("Mine.txt") == "of Ben\n")
      #expect(try device.read("Plan.txt") == "plan\n")
    }
    #expect(try tip(ada) == tip(ben))
  }

  // A version whose ID covers no signature could only be found by its place, where anybody can make another.
  @Test(
    "the list always names the former ID, and a copy in its place takes nothing",
    arguments: [true, false])
  func copied(isOnEmptied: Bool) throws {
    try save(ada, "Wifi.txt", "key hunter2-pass\n")
    try save(ada, "Gone.txt", "words that nobody wants\n")
    try save(ada, "Plan.txt", "plan\n")
    let day = ada.seconds.now + 1
    tick()
    _ = try ada.notebook.forget(.text(Array("hunter2-pass".utf8)))
    #expect {
      try ada.notebook.forgetPlan(.before(day))
    } throws: { error in
      if case ForgetError.noFirstVersion = error { true } else { false }
    }
    try remove("Gone.txt", on: ada)
    let former = try tip(ada)
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "of Ben\n")
    try forgetOlder(on: ada)
    let begin = try #require(try ada.notebook.history.obeyed()?.begins.first)
    #expect(begin.formers == [former])
    let device = isOnEmptied ? ada : ben
    var copy = try RewrittenCommit(
      of: device.notebook.repository.object(isOnEmptied ? begin.version : former).data, id: former)
    copy.message = Array("Another message\n".utf8)
    if !isOnEmptied {
      copy.tree = try device.notebook.repository.write(
        tree: copy.tree, replacing: ["Plan.txt": nil])
    }
    tick()
    let made = try device.notebook.repository.write(copy)
    // Somebody's version on both, with the files as they were.
    var top = try RewrittenCommit(
      of: device.notebook.repository.object(tip(device)).data, id: tip(device))
    (top.parents, top.message) = ([try tip(device), made], Array("On both\n".utf8))
    _ = try device.notebook.merge([device.notebook.repository.write(top)])
    try take(ben, from: ada)
    try take(ada, from: ben)
    try take(ben, from: ada)
    for device in [ada, ben] {
      #expect(try device.read("Plan.txt") == "plan\n")
      #expect(try device.read("Mine.txt") == "of Ben\n")
      #expect(try device.read("Gone.txt") == nil)
      #expect(try device.notebook.history.conflicts().isEmpty)
    }
    #expect(try tip(ada) == tip(ben))
  }

  @Test("what an edit removed from a note before the first version is not forgotten elsewhere")
  func notLearned() throws {
    try save(ada, "Plan.txt", "a common-words b\n")
    try save(ada, "Wifi.txt", "key hunter2-pass\n")
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "also common-words\n")
    try save(ada, "Plan.txt", "a [forgotten] b\n")
    try save(ada, "More.txt", "more\n")
    try take(ben, from: ada)
    try forgetOlder(on: ada)
    _ = try ada.notebook.forget(.text(Array("hunter2-pass".utf8)))
    tick()
    try take(ben, from: ada)
    try take(ada, from: ben)
    #expect(try ada.read("Mine.txt") == "also common-words\n")
    #expect(try ada.read("Plan.txt") == "a [forgotten] b\n")
    #expect(try ada.read("Wifi.txt") == "key [forgotten]\n")
    try expectAlike([ada, ben], without: "hunter2-pass")
  }

  @Test("a second time keeps the IDs of notes, and names no former version but the first one's")
  func secondTime() throws {
    try save(ada, "Plan.txt", "words that nobody wants\n")
    let version = try tip(ada)
    try save(ada, "Plan.txt", "plan\n")
    tick()
    _ = try ada.notebook.restore(
      "Plan.txt", from: ada.notebook.repository.commit(version))
    let known = try ids(ada)
    var former = Set(try ada.notebook.repository.commits(from: [tip(ada)]))
    try forgetOlder(on: ada)
    #expect(try ids(ada) == known)
    try save(ada, "Plan.txt", "plan again\n")
    try save(ada, "Late.txt", "late\n")
    let late = try ids(ada)
    #expect(late["Plan.txt"] == known["Plan.txt"] && late.count == 2)
    former.formUnion(try ada.notebook.repository.commits(from: [tip(ada)]))
    try save(ada, "Late.txt", "later\n")
    try forgetOlder(on: ada)
    #expect(try ids(ada) == late)
    let left = Set(try ada.notebook.repository.commits(from: [tip(ada)]))
    let lines = try #require(try ada.notebook.history.obeyed()?.lines)
    let named = Set(lines.compactMap(\.beginning).flatMap(\.formers))
    #expect(lines.count == 2 && named.count == 2)
    for id in left {
      let content = String(
        decoding: try ada.notebook.repository.object(id).data, as: UTF8.self)
      for old in former where !left.contains(old) && !named.contains(old) {
        #expect(!content.contains(old.hex.prefix(10)), "\(old) in \(content)")
      }
    }
  }

  // Programs before 1.2 take a version as a list only if each of its lines has four words.
  @Test("the line names the first version and its former ID, so that older programs refuse it")
  func line() throws {
    try save(ada, "Plan.txt", "plan\n")
    let version = try tip(ada)
    try forgetOlder(on: ada)
    let line = try #require(try ada.notebook.history.obeyed()?.lines.first)
    #expect(line.beginning?.formers == [version])
    #expect(line.trailer.split(separator: " ").count == 6)
    _ = try ada.notebook.forget(.text(Array("plan".utf8)))
    let later = try #require(try ada.notebook.history.obeyed()?.lines.last)
    #expect(later.id == line.id && later.beginning?.formers == [version])
    #expect(later.beginning?.version != line.beginning?.version)
  }

  @Test(
    "git merged the two histories: nobody takes that, and a hub's is brought over if it can be",
    arguments: [true, false])
  func evilMerge(hasFirst: Bool) throws {
    let cleo = try ada.clone(device: "Cleo")
    obey(cleo)
    try save(ada, "Plan.txt", "words that nobody wants\n")
    try take(cleo, from: ada)
    try save(cleo, "Mine.txt", "of Cleo\n")
    try remove("Plan.txt", on: ada)
    for device in hasFirst ? [ben, cleo] : [ben] { try take(device, from: ada) }
    try forgetOlder(on: ada)
    try cleo.copyObjects(from: ada)
    _ = try cleo.git(
      ["merge", "--quiet", "--no-edit", "-s", "ours", "--allow-unrelated-histories"]
        + ada.notebook.state().heads.map(\.hex))
    #expect(throws: NotebookError.self) { try take(ada, from: cleo) }
    #expect(try ada.read("Plan.txt") == nil)
    try ada.copyObjects(from: cleo)
    var options = MergeOptions()
    options.bringsOver = true
    tick([cleo])
    let heads = try cleo.notebook.state().heads
    guard hasFirst else {
      #expect(throws: NotebookError.self) { try ada.notebook.merge(heads, options: options) }
      return #expect(try ada.read("Plan.txt") == nil)
    }
    _ = try ada.notebook.merge(heads, options: options)
    #expect(try ada.read("Mine.txt") == "of Cleo\n")
    #expect(try ada.read("Plan.txt") == nil)
    try take(ben, from: ada)
    try take(ada, from: ben)
    #expect(try tip(ada) == tip(ben))
    #expect(try ben.read("Start.txt") == "begins here\n")
  }

  @Test("versions with dates still to come neither hold up nor become the first one")
  func wrongClock() throws {
    let now = ada.seconds.now
    ada.seconds.now += 1_000_000_000
    try ada.write("Ahead.txt", "ahead\n")
    _ = try ada.notebook.save()
    ada.seconds.now = now
    try save(ada, "Plan.txt", "plan\n")
    let plan = try ada.notebook.forgetPlan(.before(ada.seconds.now + 1))
    #expect(try plan.first?.version == tip(ada))
    try forgetOlder(on: ada)
    #expect(try ada.read("Ahead.txt") == "ahead\n" && ada.read("Plan.txt") == "plan\n")
  }
}
