internal import Glibc
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "The device key".
@Suite("Membership: the device key", .timeLimit(.minutes(20)))
struct DeviceKeyTests {
  @Test("It is made once, readable by its owner alone, and found again")
  func made() throws {
    let folder = try TemporaryFolder()
    let data = folder["share/notes"]
    #expect(try DeviceKey.load(in: data) == nil)
    let key = try DeviceKey.loadOrCreate(in: data)
    #expect(try DeviceKey.loadOrCreate(in: data).privateKey == key.privateKey)
    var status = stat()
    #expect(stat("\(data)/device-key.pem", &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o600)
    #expect(stat(data, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o700)
    #expect(try run(["ls", "-A", data]).lines == ["device-key.pem"])
  }

  @Test("openssl reads it; the device ID is base32 of SHA-256 of the public key's SPKI")
  func thirdParty() throws {
    let folder = try TemporaryFolder()
    let key = try DeviceKey.loadOrCreate(in: folder.path)
    let script = """
      openssl pkey -in "$1" -pubout -outform DER | openssl dgst -sha256 -binary | base32 -w0 | tr -d =
      """
    let result = try run(["sh", "-c", script, "sh", folder["device-key.pem"]])
    #expect(result.text == key.deviceID)
    #expect(key.deviceID.count == 52)
    let text = try run(["openssl", "pkey", "-in", folder["device-key.pem"], "-noout", "-text"])
    #expect(text.text.hasPrefix("ED25519 Private-Key:"))
  }

  // "nor a symbolic link"
  @Test("A key behind a symbolic link is refused, and stays")
  func link() throws {
    let folder = try TemporaryFolder()
    _ = try DeviceKey.loadOrCreate(in: folder["elsewhere"])
    #expect(mkdir(folder["data"], 0o700) == 0)
    let path = folder["data/device-key.pem"]
    #expect(symlink(folder["elsewhere/device-key.pem"], path) == 0)
    let refusal = MembershipError.deviceKeyUnusable(path: path, defect: .isLink)
    #expect(throws: refusal) { _ = try DeviceKey.load(in: folder["data"]) }
    #expect(throws: refusal) { _ = try DeviceKey.loadOrCreate(in: folder["data"]) }
  }

  @Test("A key in another form of PEM is read as well")
  func otherForm() throws {
    let folder = try TemporaryFolder()
    let key = try DeviceKey.loadOrCreate(in: folder.path)
    let path = folder["device-key.pem"]
    let own = try readFile(path)
    #expect(DeviceKey.rawKey(ofOwn: own) == key.privateKey)
    let lines = String(decoding: own, as: UTF8.self).split(separator: "\n")
    let folded =
      "a comment\n\(lines[0])\n\(lines[1].prefix(32))\n\(lines[1].dropFirst(32))\n\(lines[2])\n"
    for text in [folded, folded.replacing("\n", with: "\r\n")] {
      #expect(DeviceKey.rawKey(ofOwn: Array(text.utf8)) == nil)
      try folder.write(text, to: "device-key.pem")
      #expect(try DeviceKey.load(in: folder.path)?.deviceID == key.deviceID)
    }
    // An X25519 key is of the same length.
    var other = own
    other[other.firstRange(of: Array("K2Vw".utf8))!.upperBound] = UInt8(ascii: "A")
    #expect(DeviceKey.rawKey(ofOwn: other) == nil)
    try folder.write(String(decoding: other, as: UTF8.self), to: "device-key.pem")
    #expect(failure { _ = try DeviceKey.load(in: folder.path) } != nil)
  }

  @Test("Eight threads that ask at once get the same key")
  func atOnce() throws {
    let folder = try TemporaryFolder()
    let log = EventLog<[UInt8]>()
    for _ in 0..<8 {
      startThread {
        log.append((try? DeviceKey.loadOrCreate(in: folder["notes"]).privateKey) ?? [])
      }
    }
    #expect(log.wait { $0.count == 8 })
    #expect(Set(log.all).count == 1)
    #expect(log.all.first?.count == 32)
  }

  @Test("A key that others may read or write is refused", arguments: [0o640, 0o604, 0o620, 0o602])
  func openToOthers(mode: mode_t) throws {
    let folder = try TemporaryFolder()
    _ = try DeviceKey.loadOrCreate(in: folder.path)
    let path = folder["device-key.pem"]
    #expect(chmod(path, mode) == 0)
    #expect(
      failure { _ = try DeviceKey.loadOrCreate(in: folder.path) }
        == .deviceKeyUnusable(path: path, defect: .openToOthers(mode: mode)))
  }

  @Test("A key file of another user is refused", .enabled(if: geteuid() == 0, "gives a file away"))
  func foreignOwner() throws {
    let folder = try TemporaryFolder()
    _ = try DeviceKey.loadOrCreate(in: folder.path)
    let path = folder["device-key.pem"]
    #expect(chown(path, 12345, 12345) == 0)
    #expect(
      failure { _ = try DeviceKey.loadOrCreate(in: folder.path) }
        == .deviceKeyUnusable(path: path, defect: .foreignOwner(12345)))
  }

  @Test(
    "A file that is no unencrypted Ed25519 key is an error, and stays as it is",
    arguments: [
      "true", "echo garbage",
      "openssl genpkey -algorithm ED25519 | head -c 60",
      "openssl genpkey -algorithm X25519",
      "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
      "openssl genpkey -algorithm ED25519 | openssl pkey -pubout",
      "head -c 1000000 /dev/zero",
    ])
  func broken(command: String) throws {
    let folder = try TemporaryFolder()
    let path = folder["device-key.pem"]
    _ = try run(["sh", "-c", "umask 077; \(command) > \"$1\"", "sh", path])
    let before = try folder.read("device-key.pem")
    #expect(
      failure { _ = try DeviceKey.loadOrCreate(in: folder.path) }
        == .deviceKeyUnusable(path: path, defect: .notAKey))
    #expect(try folder.read("device-key.pem") == before)
  }

  @Test(
    "An exported key in its place is named as one that a passphrase protects",
    arguments: [0, 40_000])
  func encrypted(memberships: Int) throws {
    let folder = try TemporaryFolder()
    let exported = try DeviceKey.random().exported(passphrase: "correct horse")
    let path = folder["device-key.pem"]
    try folder.write(exported + [UInt8](repeating: 0x0A, count: memberships), to: "device-key.pem")
    #expect(chmod(path, 0o600) == 0)
    #expect(
      failure { _ = try DeviceKey.loadOrCreate(in: folder.path) }
        == .deviceKeyUnusable(path: path, defect: .encrypted))
  }

  @Test("A folder or a FIFO in its place is refused, without waiting")
  func notAFile() throws {
    for make in ["mkdir", "mkfifo"] {
      let folder = try TemporaryFolder()
      let path = folder["device-key.pem"]
      _ = try run([make, path])
      #expect(
        failure { _ = try DeviceKey.loadOrCreate(in: folder.path) }
          == .deviceKeyUnusable(path: path, defect: .notAFile))
    }
  }

  @Test("Its description and its reflection show the device ID alone")
  func descriptions() throws {
    let key = try DeviceKey.random()
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] {
      #expect(text.contains(key.deviceID))
      #expect(!text.contains("privateKey"))
      #expect(text.count < 160)
    }
  }
}
