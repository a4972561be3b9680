import Glibc
import TestSupport
import Testing

@testable import Git

/// A pack of much is put together from what packs that are here hold.
@Suite struct PackCopyingTests {
  /// A repository of some notes and versions, all in one pack of git's.
  private func packed(_ notes: Int = 40) throws -> (sender: PackRepository, tip: ObjectID) {
    let sender = try PackRepository()
    var files: [String: String] = [:]
    for note in 0..<notes {
      files["\(note % 4)/\(note).txt"] = (0..<40).map { "line \($0 * note)\n" }.joined()
    }
    var tip = try sender.commit(files)
    for number in 0..<notes {
      files["\(number % 4)/\(number).txt", default: ""] += "more \(number)\n"
      tip = try sender.commit(files, parents: [tip], time: Int64(number + 1))
    }
    try sender.git("update-ref", "refs/heads/main", tip.hex)
    try sender.git("gc", "--quiet", "--prune=now")
    sender.repository.close()
    return (sender, tip)
  }

  @Test func `a whole notebook is sent as its pack holds it, and no note is unpacked for that`()
    throws
  {
    let (sender, tip) = try packed()
    let writer = try sender.repository.pack(wants: [tip], haves: [], copiesFrom: 0)
    let planned = try sender.repository.packs().unpackedBytes
    var pack: [UInt8] = []
    while let piece = try writer.next() { pack += piece }
    // Counters: what the plan has to read are versions and folders.
    #expect(try sender.repository.packs().unpackedBytes == planned)
    let stored = try run(
      ["sh", "-c", "cat .git/objects/pack/*.pack | wc -c"], in: sender.folder.path)
    let size = try #require(Int(stored.lines[0].filter { $0.isNumber }))
    #expect(abs(pack.count - size) < size / 50)
    let receiver = try PackRepository()
    try receiver.receive(pack, promised: [tip])
    try receiver.git("update-ref", "refs/heads/main", tip.hex)
    try receiver.git("fsck", "--strict", "--no-dangling")
    // And so is what came as it is.
    let next = try PackRepository()
    receiver.repository.close()
    try next.receive(receiver.pack(wants: [tip], copies: true), promised: [tip])
    try next.git("update-ref", "refs/heads/main", tip.hex)
    try next.git("fsck", "--strict", "--no-dangling")
  }

  @Test func `what the receiver has is left out, and deltas against it are made anew`() throws {
    let (sender, tip) = try packed()
    let base = try sender.repository.commit(tip).parents[0]
    let receiver = try PackRepository()
    try receiver.receive(sender.pack(wants: [base], copies: true), promised: [base])
    let pack = try sender.pack(wants: [tip], haves: [base], copies: true)
    #expect(pack.count < 1000)
    #expect(try receiver.receive(pack, promised: [tip]) == 1)
    try receiver.git("update-ref", "refs/heads/main", tip.hex)
    try receiver.git("fsck", "--strict", "--no-dangling")
  }

  /// notes-protocol(7), PACKS: "If the version that lists the forgettings of
  /// the sender's history is in the pack, it comes first".
  @Test(arguments: [true, false])
  func `a commit that is to come first does, as a whole object`(copies: Bool) throws {
    let (sender, tip) = try packed()
    for first in [tip, try sender.repository.commit(tip).parents[0]] {
      let writer = try sender.repository.pack(
        wants: [tip], haves: [], first: first, copiesFrom: copies ? 0 : .max)
      var pack: [UInt8] = []
      while let piece = try writer.next() { pack += piece }
      let (id, count) = try pack.withUnsafeBytes { bytes in
        let entry = UnsafeRawBufferPointer(rebasing: bytes[PackFormat.headerBytes...])
        let header = try #require(try PackEntryHeader(entry))
        #expect(header.kind == .commit)
        let body = UnsafeRawBufferPointer(rebasing: entry[header.length...])
        let content = try #require(try Inflater().inflate(body, size: header.size))
        return (try ObjectID.hashing(.commit, content), writer.objectsWritten)
      }
      #expect(id == first && count == writer.objectCount)
      let receiver = try PackRepository()
      #expect(try receiver.receive(pack, promised: [tip]) == 41)
      try receiver.git("update-ref", "refs/heads/main", tip.hex)
      try receiver.git("fsck", "--strict", "--no-dangling")
    }
  }

  @Test func `an object that is damaged in its pack is not sent`() throws {
    let (sender, tip) = try packed()
    let path = try run(["find", ".git/objects/pack", "-name", "*.pack"], in: sender.folder.path)
      .lines[0]
    // In the middle of the notes, which stand last.
    let place = sender.folder.path + "/" + path
    var bytes = try readFile(place)
    bytes[bytes.count - 500] ^= 0xff
    #expect(chmod(place, 0o600) == 0)
    try writeFile(place, bytes)
    #expect(throws: GitError.self) { try sender.pack(wants: [tip], copies: true) }
  }
}
