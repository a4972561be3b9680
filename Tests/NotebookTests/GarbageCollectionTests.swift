import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook

@Suite("Garbage collection")
struct GarbageCollectionTests {
  let home: Fixture

  init() throws {
    home = try Fixture()
    for number in 0..<40 { try home.write("f\(number % 3)/n\(number).txt", "note \(number)\n") }
    _ = try home.notebook.save()
  }

  private func edit(_ rounds: Range<Int>) throws {
    for round in rounds {
      try home.write("f\(round % 3)/n\(round % 3).txt", String(repeating: "\(round)\n", count: 50))
      _ = try home.notebook.save()
    }
  }

  private func counts() throws -> [String: Int] {
    let lines = try run(["git", "-C", home.path, "count-objects", "-v"]).text.split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let words = line.split(separator: ":")
        return (String(words[0]), Int(words[1].dropFirst()) ?? -1)
      })
  }

  private func allObjects() throws -> String {
    try run([
      "git", "-C", home.path, "cat-file", "--batch-all-objects", "--batch-check", "--unordered",
    ]).text.split(separator: "\n").sorted().joined(separator: "\n")
  }

  @Test("files of objects that a killed process left go when nobody can be writing them any more")
  func unfinishedObjects() throws {
    let objects = home.path + "/.git/objects"
    let names = ["ab/tmp_obj_old", "tmp_object_git2_old", "ab/tmp_obj_new", "tmp_object_git2_new"]
    for name in names { try home.write(".git/objects/" + name, "x") }
    for name in names.prefix(2) {
      try #require(try run(["touch", "-d", "2 days ago", objects + "/" + name]).isSuccess)
    }
    _ = try home.notebook.collectGarbage()
    #expect(names.map { access(objects + "/" + $0, F_OK) == 0 } == [false, false, true, true])
  }

  @Test("everything ends in one pack that git accepts; nothing is dropped, reachable or not")
  func one() throws {
    try edit(0..<70)
    let lost = try home.notebook.repository.write(blob: Array("nothing leads to me".utf8))
    let before = try allObjects()
    let other = try Repository.open(at: home.path)
    #expect(try other.contains(lost))
    var seen: [Int] = []
    let looseBytes =
      try run(["sh", "-c", "find \(home.path)/.git/objects/?? -type f -printf '%b\\n'"])
      .lines.reduce(0) { $0 + (Int($1) ?? 0) * 512 }
    let done = try #require(try home.notebook.collectGarbage { done, _ in seen.append(done) })
    #expect(done.objectsPacked == before.split(separator: "\n").count)
    #expect(seen.last == done.objectsPacked)
    #expect(try allObjects() == before)
    let counts = try counts()
    #expect(counts["count"] == 0 && counts["packs"] == 1 && counts["garbage"] == 0)
    #expect(done.bytesAfter * 4 < done.bytesBefore)
    // Each is what the files take: nothing is estimated.
    #expect(done.bytesBefore == looseBytes)
    #expect(try run(["git", "-C", home.path, "fsck", "--strict", "--full"]).isSuccess)
    // Chains of deltas stay within git's own bound.
    let chains = try run([
      "sh", "-c", "git -C \(home.path) verify-pack -v \(home.path)/.git/objects/pack/*.idx",
    ])
    #expect(chains.isSuccess && !chains.text.contains("chain length = 51"))
    #expect(chains.text.contains("chain length = 20"))
    // Whoever opened the repository before finds everything in its new place.
    #expect(try other.blob(lost) == Array("nothing leads to me".utf8))
    #expect(try home.notebook.collectGarbage()?.objectsPacked == 0)
  }

  @Test("tidying packs what is loose and leaves large packs alone")
  func tidy() throws {
    _ = try home.notebook.collectGarbage()
    for round in 0..<12 {
      try edit((round * 3)..<(round * 3 + 3))
      let done = try #require(try home.notebook.collectGarbageIncrementally())
      #expect(done.objectsPacked >= 9)
    }
    let counts = try counts()
    #expect(counts["count"] == 0 && (counts["packs"] ?? 0) <= 10)
    #expect(try run(["git", "-C", home.path, "fsck", "--strict"]).isSuccess)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("while git gc runs, and for a pack somebody keeps, nothing is done")
  func careful() throws {
    try edit(0..<3)
    let pidFile = home.path + "/.git/gc.pid"
    var name = [CChar](repeating: 0, count: 256)
    #expect(gethostname(&name, 255) == 0)
    let host = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try writeFile(pidFile, Array("\(getpid()) \(host)".utf8))
    #expect(try home.notebook.collectGarbage() == nil)
    #expect(access(pidFile, F_OK) == 0)
    // The process is gone: what it left holds nobody up.
    try writeFile(pidFile, Array("999999999 \(host)".utf8))
    #expect(try home.notebook.collectGarbage() != nil)
    #expect(access(pidFile, F_OK) != 0)
    let kept = try #require(home.notebook.repository.replaceablePacks().first)
    try #require(
      try run([
        "sh", "-c", "cd \(home.path)/.git/objects/pack; for i in *.idx; do : >${i%.idx}.keep; done",
      ])
      .isSuccess)
    try edit(3..<6)
    _ = try home.notebook.collectGarbage()
    #expect(try counts()["packs"] == 2 && kept.size > 0)
  }

  // Between fork and exec a started program has a copy of every descriptor.
  @Test("a program that is being started holds nothing up")
  func started() throws {
    let lock = home.path + "/.git/notes/gc.lock"
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    _ = try home.notebook.collectGarbage { _, _ in
      guard copies.isEmpty else { return }
      let held = (3..<Int32(getdtablesize())).filter { target(of: $0) == lock }
      copies = held.map { dup($0) }
    }
    #expect(copies.count == 1)
    #expect(try home.notebook.collectGarbage() != nil)
  }

  private func target(of descriptor: Int32) -> String {
    var name = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
    return String(decoding: name.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test("a damaged loose object stays where it is and holds nothing up")
  func damaged() throws {
    let id = try home.notebook.repository.write(blob: Array("soon damaged".utf8)).hex
    let path = home.path + "/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))"
    try #require(unlink(path) == 0)
    try writeFile(path, [])
    #expect(try home.notebook.collectGarbage() != nil)
    #expect(try counts()["count"] == 1)
    #expect(access(path, F_OK) == 0)
  }

  @Test("git gc and ours run at once without losing anything")
  func together() throws {
    try edit(0..<60)
    let before = try allObjects()
    let git = try RunningProcess(["git", "-C", home.path, "gc", "-q"])
    _ = try home.notebook.collectGarbage()
    _ = try git.wait()
    _ = try home.notebook.collectGarbage()
    #expect(try allObjects() == before)
    #expect(try run(["git", "-C", home.path, "fsck", "--strict"]).isSuccess)
  }
}
