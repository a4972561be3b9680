import System
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Pairing".
@Suite("Membership: invitation codes")
struct InvitationCodeTests {
  @Test("A code is two digits and ten symbols of Crockford's base32, and reads back")
  func form() throws {
    var codes: Set<String> = []
    for _ in 0..<200 {
      let code = try InvitationCode.random()
      let text = code.description
      codes.insert(text)
      #expect(text.count == 14)
      #expect(text.allSatisfy { "0123456789ABCDEFGHJKMNPQRSTVWXYZ-".contains($0) })
      #expect(text.hasPrefix(code.locator + "-"))
      #expect(InvitationCode(parsing: text) == code)
    }
    #expect(codes.count == 200)
  }

  @Test(
    "What people type is forgiven",
    arguments: [
      "47-10AB-CDEFGH", "47-10ab-cdefgh", "4710ABCDEFGH", " 47 IOAB CDEFGH ",
      "47-l0ab-cdefgh", "47–LoAB–CDEFGH", "4-7-1-0-A-B-C-D-E-F-G-H\n",
    ])
  func forgiving(text: String) {
    #expect(InvitationCode(parsing: text)?.description == "47-10AB-CDEFGH")
  }

  @Test(
    "Anything else is no code",
    arguments: [
      "", "47", "47-10AB-CDEF", "47-10AB-CDEFGHJ", "4A-10AB-CDEFGH", "47-10AU-CDEFGH",
      "47-10AB-CD_FGH", "47-10AB-CDÉFGH", "47-10AB-CDEFGH47-10AB-CDEFGH", "٤٧-10AB-CDEFGH",
    ])
  func refused(text: String) {
    #expect(InvitationCode(parsing: text) == nil)
  }

  @Test("The key is scrypt with N 32768, r 8, p 1, salted with the identity: openssl kdf agrees")
  func key() throws {
    let code = try #require(InvitationCode(parsing: "47-10AB-CDEFGH"))
    let identity = try PairingIdentity(locator: code.locator)
    let key = try code.preSharedKey(for: identity)
    let result = try run([
      "openssl", "kdf", "-keylen", "32", "-kdfopt", "pass:10ABCDEFGH", "-kdfopt",
      "hexsalt:\(String(hexadecimal: identity.bytes))", "-kdfopt", "n:32768", "-kdfopt", "r:8",
      "-kdfopt", "p:1", "-kdfopt", "maxmem_bytes:67108864", "SCRYPT",
    ])
    let printed = result.text.filter { $0 != ":" && $0 != "\n" }.lowercased()
    #expect(printed == String(hexadecimal: key))
  }

  @Test("Another code, and another attempt with the same code, have other keys")
  func otherKeys() throws {
    let code = try #require(InvitationCode(parsing: "47-10AB-CDEFGH"))
    let other = try #require(InvitationCode(parsing: "47-10AB-CDEFGJ"))
    let first = try PairingIdentity(locator: "47")
    let second = try PairingIdentity(locator: "47")
    #expect(first != second)
    let keys = [
      try code.preSharedKey(for: first), try code.preSharedKey(for: second),
      try other.preSharedKey(for: first),
    ]
    #expect(Set(keys).count == 3)
  }

  @Test("An identity reads back, and nothing else is one")
  func identities() throws {
    let identity = try PairingIdentity(locator: "07")
    #expect(PairingIdentity(bytes: identity.bytes) == identity)
    #expect(String(decoding: identity.bytes, as: UTF8.self).hasPrefix("notes-pair/1 07 "))
    for index in identity.bytes.indices {
      var changed = identity.bytes
      changed[index] = UInt8(ascii: "g")
      #expect(PairingIdentity(bytes: changed) == nil)
    }
    #expect(PairingIdentity(bytes: []) == nil)
    #expect(PairingIdentity(bytes: identity.bytes + [0x30]) == nil)
    #expect(PairingIdentity(bytes: identity.bytes.dropLast()) == nil)
  }
}
