import Git
import History
import Membership
import Notebook
import State
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7), SIGNATURES: what is signed, and what git says to it.
@Suite struct SignedVersionTests {
  @Test("git log --show-signature says Good for every version of ours, and of every member's")
  func git() throws {
    let ada = try Device(founding: "ada")
    let ben = try Device("ben", certifiedBy: ada)
    try ada.write("one\n", to: "a.txt")
    _ = try sync(ben, ada)
    try ben.write("two\n", to: "b.txt")
    try ada.write("one more\n", to: "a.txt")
    try ada.save()
    _ = try sync(ben, ada)
    for device in [ada, ben] {
      let log = try device.git("log", "--show-signature", "--format=> %ae")
      #expect(log.isSuccess, "\(log)")
      // A version's signature comes before what is told of it.
      let told = log.text.split(separator: "> ", omittingEmptySubsequences: false)
      var signed = 0
      for (before, after) in zip(told, told.dropFirst()) {
        let author = after.prefix { !$0.isNewline }
        guard author != "merge@notes.invalid" else { continue }
        #expect(before.contains("Good \"git\" signature for \(author)"), "\(before)")
        signed += 1
      }
      #expect(signed == 3)
    }
    #expect(try ada.git("fsck", "--strict").isSuccess)
  }

  @Test("what was verified is not verified again; what was not, or is not kept whole, is")
  func verified() throws {
    let ada = try Device(founding: "ada")
    for text in ["one\n", "two\n", "three\n"] {
      try ada.write(text, to: "a.txt")
      try ada.save()
    }
    let notebook = try ada.notebook()
    let tip = try #require(try ada.tip())
    let signed = try notebook.repository.commits(from: [tip])
    _ = try ada.git(
      "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--allow-empty", "-m", "x")
    let unsigned = try #require(notebook.repository.head().commit)
    let proofs = VersionProofs(in: notebook)
    for id in signed {
      #expect(try proofs.author(of: id).proof == .verified)
    }
    #expect(try proofs.author(of: unsigned).proof == .unsigned)
    #expect(!VersionMemory(.verified, in: notebook.stateFolder).contains(signed[0]))
    proofs.remember()
    let kept = VersionMemory(.verified, in: notebook.stateFolder)
    #expect(signed.allSatisfy(kept.contains) && !kept.contains(unsigned))
    // What a power cut left of the file is no proof.
    let file = notebook.stateFolder.path + "/cache/verified"
    try writeFile(file, Array(readFile(file).dropLast(30)) + [UInt8](repeating: 0, count: 30))
    let left = VersionProofs(in: notebook)
    #expect(try left.author(of: unsigned).proof == .unsigned)
    for id in signed {
      #expect(try left.author(of: id).proof == .verified)
    }
    left.remember()
    #expect(signed.allSatisfy(VersionMemory(.verified, in: notebook.stateFolder).contains))
  }

  @Test("what leads a hub's branch forward is signed by the device that pushes it")
  func hubMerge() throws {
    let hub = try FolderHub()
    let ada = try Device(founding: "ada")
    try ada.write("one\n", to: "a.txt")
    try ada.save()
    let notebook = try ada.context.notebook()
    let tip = try #require(try ada.tip())
    let made = try notebook.hubMerge(of: tip, over: tip)
    let commit = try #require(SignedCommit(parsing: notebook.repository.object(made).data))
    let signature = try #require(VersionSignature(armored: commit.signature))
    #expect(try signature.deviceID == ada.key.deviceID)
    #expect(try signature.isGood(over: commit.content))
    _ = hub
  }

  @Test("devices of one name, upper or lower case, are told apart in versions and conflict markers")
  func oneName() throws {
    let one = try Device(founding: "Desk")
    try one.write("first\n", to: "a.txt")
    try one.save()
    let other = try Device("desk", certifiedBy: one)
    let names = [(one, "Desk"), (other, "desk")].map { device, name in
      "\(name) (\(device.key.deviceID.prefix(8)))"
    }
    _ = try sync(other, one)
    for (device, name) in zip([one, other], names) {
      try device.write("by \(name)\n", to: "a.txt")
      try device.save()
      let tip = try #require(try device.tip())
      #expect(try device.notebook().repository.commit(tip).author.name == name)
    }
    _ = try sync(other, one)
    let text = String(decoding: try one.folder.read("notes/a.txt"), as: UTF8.self)
    for name in names { #expect(text.contains(" \(name) · "), "\(text)") }
    #expect(try one.tip() == other.tip())
    let authors = try one.git("log", "--format=%an").text.split(separator: "\n")
    #expect(authors.last == "Desk")
  }

  @Test("a device whose key is away saves all the same, and does not name itself")
  func withoutKey() throws {
    let ada = try Device(founding: "ada")
    try ada.write("one\n", to: "a.txt")
    let notebook = try ada.notebook()
    notebook.signer = VersionSigner { _ in nil }
    let version = try #require(try notebook.save().version)
    let commit = try notebook.repository.commit(version)
    #expect(commit.author.email == "unsigned@notes.invalid")
    #expect(commit.deviceID == nil)
  }

  @Test("a setting of the user's for allowed signers stays, one of a moved notebook follows")
  func setting() throws {
    let ada = try Device(founding: "ada")
    try ada.write("one\n", to: "a.txt")
    try ada.save()
    let key = "gpg.ssh.allowedSignersFile"
    let own = try #require(try ada.notebook().repository.setting(key))
    #expect(own.hasSuffix("/notes/.git/notes/allowed-signers"))
    _ = try ada.git("config", key, "/elsewhere/.git/notes/allowed-signers")
    try ada.write("two\n", to: "a.txt")
    try ada.save()
    #expect(try ada.notebook().repository.setting(key) == own)
    _ = try ada.git("config", key, "/home/ada/.ssh/signers")
    try ada.write("three\n", to: "a.txt")
    try ada.save()
    #expect(try ada.notebook().repository.setting(key) == "/home/ada/.ssh/signers")
  }
}

extension Device {
  /// Saves what is in the folder, signed.
  @discardableResult func save() throws -> ObjectID? { try context.notebook().save().version }
}
