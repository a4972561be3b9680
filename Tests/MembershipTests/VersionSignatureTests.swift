import System
import TestSupport
import Testing

@testable import Membership

/// notes-security(7), SIGNATURES.
@Suite struct VersionSignatureTests {
  private let content = Array("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nA version\n".utf8)

  @Test("a signature is read again, is good over its content, and over no other")
  func round() throws {
    let key = try DeviceKey.random()
    let made = try VersionSignature(over: content, by: key)
    let read = try #require(VersionSignature(armored: made.armored))
    #expect(read == made)
    #expect(try read.deviceID == key.deviceID)
    #expect(try read.isGood(over: content))
    for place in content.indices {
      var other = content
      other[place] ^= 1
      #expect(try !read.isGood(over: other))
    }
    #expect(try VersionSignature(over: content, by: key) == made, "it is the same every time")
  }

  @Test("no changed byte makes a good signature, or another spelling of it")
  func everyByte() throws {
    let key = try DeviceKey.random()
    let armored = try VersionSignature(over: content, by: key).armored
    for place in armored.indices {
      for bit in [UInt8(1), 0x20] {
        var other = armored
        other[place] ^= bit
        guard let read = VersionSignature(armored: other) else { continue }
        #expect(try !read.isGood(over: content) || read.deviceID != key.deviceID)
      }
    }
    for cut in armored.indices { #expect(VersionSignature(armored: Array(armored[..<cut])) == nil) }
    #expect(VersionSignature(armored: armored + [0x0A]) == nil)
  }

  @Test("ssh-keygen takes what is signed here, by the file of allowed signers, and signs the same")
  func keygen() throws {
    let folder = try TemporaryFolder()
    let key = try DeviceKey.loadOrCreate(in: folder["data"])
    let address = "\(key.deviceID.lowercased())@notes.invalid"
    try AllowedSigners.add([key.publicKey], in: folder["allowed"])
    try folder.write("\(String(decoding: content, as: UTF8.self))", to: "content")
    let signature = try VersionSignature(over: content, by: key)
    try folder.write(String(decoding: signature.armored, as: UTF8.self), to: "signature")
    let verify = "ssh-keygen -Y verify -n git -f allowed -s signature -I \(address) < content"
    let verified = try run(["sh", "-c", "cd \(folder.path) && \(verify)"])
    #expect(verified.isSuccess, "\(verified)")
    #expect(verified.text.contains("Good \"git\" signature for \(address)"))
    // Ed25519 is deterministic: who signs with ssh-keygen gets the same bytes.
    try writeFile(folder["id"], key.pem())
    let mode = try run(["chmod", "600", folder["id"]])
    #expect(mode.isSuccess)
    let signed = try run(
      ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", folder["id"], folder["content"]])
    // Older ones read no key in this form.
    if signed.isSuccess {
      #expect(try folder.text("content.sig") == folder.text("signature"))
    }
  }
}
