import TestSupport
import Testing

@testable import Membership

// notes-device(1): the file is PKCS #8 in PEM, encrypted under scrypt; OpenSSL reads it.
@Suite("Membership: a copy of the device key", .timeLimit(.minutes(20)))
struct ExportTests {
  private let folder: TemporaryFolder
  private let key: DeviceKey

  init() throws {
    folder = try TemporaryFolder()
    key = try DeviceKey.random()
  }

  @Test("openssl pkey reads it with the passphrase, and with no other")
  func openssl() throws {
    let sealed = try key.exported(passphrase: "correct horse")
    #expect(String(decoding: sealed, as: UTF8.self).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY"))
    try folder.write(sealed, to: "key.pem")
    func publicKey(_ passphrase: String) throws -> ProcessResult {
      try run([
        "openssl", "pkey", "-in", folder["key.pem"], "-passin", "pass:\(passphrase)", "-pubout",
        "-outform", "DER",
      ])
    }
    #expect(try publicKey("correct horse").output == PublicKey.subjectPublicKeyInfo(key.publicKey))
    #expect(try !publicKey("another horse").isSuccess)
    // 2^14, 8 and 8, as the page says.
    let text = try run(["openssl", "asn1parse", "-in", folder["key.pem"]]).text
    for part in ["scrypt", "aes-256-cbc", "INTEGER           :4000", "INTEGER           :08"] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
  }

  @Test("it comes back with the passphrase alone")
  func back() throws {
    let sealed = try key.exported(passphrase: "correct horse")
    #expect(try DeviceKey(exported: sealed, passphrase: "correct horse")?.deviceID == key.deviceID)
    #expect(try DeviceKey(exported: sealed, passphrase: "correct hors") == nil)
    #expect(try DeviceKey(exported: sealed, passphrase: "") == nil)
    #expect(try DeviceKey(exported: Array(sealed.dropLast(90)), passphrase: "correct horse") == nil)
    #expect(try DeviceKey(exported: [], passphrase: "correct horse") == nil)
    // No two copies are alike.
    #expect(try key.exported(passphrase: "correct horse") != sealed)
  }

  @Test("a short passphrase is refused")
  func short() {
    #expect(failure { _ = try key.exported(passphrase: "seven77") } == .passphraseRefused)
  }

  @Test("stored, it is the device's key; the former one is kept beside it")
  func stored() throws {
    let data = folder["data"]
    #expect(try key.store(in: data) == nil)
    #expect(try DeviceKey.load(in: data)?.deviceID == key.deviceID)
    #expect(try key.store(in: data) == nil)
    let other = try DeviceKey.random()
    let kept = try #require(try other.store(in: data))
    #expect(kept.hasSuffix("device-key-\(key.deviceID.prefix(8)).pem"))
    #expect(try DeviceKey.load(in: data)?.deviceID == other.deviceID)
    #expect(try run(["openssl", "pkey", "-in", kept, "-noout"]).isSuccess)
  }
}
