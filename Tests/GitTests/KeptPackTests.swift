import Glibc
import TestSupport
import Testing

@testable import Git

/// git-repack(1) and git-gc(1) beside a notebook: what has come stays until a reference leads to it.
@Suite("Packs that no reference leads to yet")
struct KeptPackTests {
  let sender: PackRepository
  let receiver: PackRepository
  let head: ObjectID

  init() throws {
    sender = try PackRepository()
    receiver = try PackRepository()
    head = try sender.commit(["a.txt": "one\n", "b.txt": "two\n"])
    let own = try receiver.commit(["own.txt": "own\n"])
    try receiver.git("update-ref", "refs/heads/main", own.hex)
  }

  private func arrive() throws -> Quarantine {
    let quarantine = try receiver.repository.quarantine()
    try quarantine.append(sender.pack(wants: [head]))
    try quarantine.join(promised: [head])
    return quarantine
  }

  private var names: [String] {
    get throws {
      try run(["find", ".git/objects/pack", "-name", "*.keep"], in: receiver.folder.path).lines
    }
  }

  private func isThere() throws -> Bool {
    try run(["git", "cat-file", "-e", head.hex], in: receiver.folder.path).isSuccess
  }

  @Test(
    "git repacks and prunes: it stays",
    arguments: [["repack", "-adq"], ["gc", "-q", "--prune=now"]])
  func stays(command: [String]) throws {
    let quarantine = try arrive()
    #expect(try names.count == 1)
    #expect(try run(["git"] + command, in: receiver.folder.path).isSuccess)
    #expect(try isThere())
    try receiver.git("update-ref", "refs/heads/main", head.hex)
    quarantine.discard()
    #expect(try names.isEmpty)
    try receiver.git("fsck", "--strict")
  }

  @Test("when nobody wants it any more it is garbage like any other")
  func goes() throws {
    try arrive().discard()
    #expect(try names.isEmpty)
    try receiver.git("repack", "-adq")
    #expect(try !isThere())
  }

  @Test("the mark of a process that was killed goes; one that somebody set stays")
  func leftovers() throws {
    let quarantine = try arrive()
    let mark = try #require(try names.first)
    // What another process, which is gone, says of its own.
    let text = try readFile(receiver.folder.path + "/" + mark)
    chmod(receiver.folder.path + "/" + mark, 0o644)
    try writeFile(receiver.folder.path + "/" + mark, text.dropLast() + Array("x\n".utf8))
    let own = receiver.folder.path + "/.git/objects/pack/pack-0.keep"
    try writeFile(own, [])
    receiver.repository.removeQuarantineLeftovers()
    #expect(try names == [".git/objects/pack/pack-0.keep"])
    withExtendedLifetime(quarantine) {}
  }
}
