internal import COpenSSL
internal import Glibc
internal import System

// The key's file, and copies or moves of it: notes-device(1).
extension DeviceKey {
  /// The key's file in the data folder.
  public static let fileName = "device-key.pem"

  private static let maximumFileSize = 16 * 1024

  /// The cost of guessing a passphrase: scrypt with N = 2^14, r = 8, p = 8, which takes 16 MiB and
  /// about a third of a second. OpenSSL refuses files that need more memory (32 MiB).
  private static let exportCost = (n: UInt64(1 << 14), r: UInt64(8), p: UInt64(8))

  /// The shortest passphrase that `exported` accepts, in characters.
  public static let shortestPassphrase = 8
  /// OpenSSL's limit for reading, in bytes.
  private static let longestPassphrase = 1024

  /// The key stored in `dataFolder`, or a new one, stored there before it is returned.
  ///
  /// An unusable key file is an error and is not changed: with a new key, this device would be a
  /// stranger to its own notebooks.
  public static func loadOrCreate(in dataFolder: String) throws -> DeviceKey {
    if let key = try load(in: dataFolder) { return key }
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let path = "\(dataFolder)/\(fileName)"
    let key = try DeviceKey.random()
    // If the file already exists, another process of this user made it at the same moment: use that key.
    _ = try Disk.createSecret(path, key.pem())
    guard let key = try load(in: dataFolder) else {
      throw MembershipError.system(call: "open", path: path, code: ENOENT)
    }
    return key
  }

  /// The key stored in `dataFolder`; nil if there is none.
  public static func load(in dataFolder: String) throws -> DeviceKey? {
    try read("\(dataFolder)/\(fileName)")
  }

  /// The key in a file; nil if there is no file.
  static func read(_ path: String) throws -> DeviceKey? {
    func unusable(_ defect: KeyFileDefect) -> MembershipError {
      .deviceKeyUnusable(path: path, defect: defect)
    }
    // A person may have put an exported file here, with memberships after the key.
    let limit = maximumFileSize + largestMemberships
    guard let pem = try SecretFile.read(path, limit: limit, unusable) else { return nil }
    if pem.starts(with: encryptedHead) { throw unusable(.encrypted) }
    guard pem.count <= maximumFileSize,
      let raw = try rawKey(ofOwn: pem) ?? rawKey(of: pem, passphrase: nil)
    else { throw unusable(.notAKey) }
    return try DeviceKey(privateKey: raw, in: Disk.parent(of: path))
  }

  /// Makes this the device key of `dataFolder`. A former key is kept beside it, named after the
  /// first eight characters of its device ID.
  ///
  /// - Returns: the path of the former key; nil if there was none, or the same one.
  public func store(in dataFolder: String) throws -> String? {
    let path = "\(dataFolder)/\(DeviceKey.fileName)"
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let before = try DeviceKey.load(in: dataFolder)
    if before?.deviceID == deviceID { return nil }
    let aside = before.map { "\(dataFolder)/device-key-\($0.deviceID.prefix(8)).pem" }
    if let aside { try Disk.rename(path, to: aside) }
    guard try Disk.createSecret(path, pem()) else {
      throw MembershipError.system(call: "link", path: path, code: EEXIST)
    }
    return aside
  }

  /// The key as PKCS #8 in PEM, which `openssl pkey` reads.
  func pem() throws -> [UInt8] {
    try withKey { key in
      try DeviceKey.pem("PEM_write_bio_PKCS8PrivateKey") {
        $1.PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil)
      }
    }
  }

  /// The key as encrypted PKCS #8 in PEM (RFC 5958, RFC 7914 for scrypt, AES-256-CBC), as
  /// `openssl pkey` reads it. Throws `passphraseRefused`.
  public func exported(passphrase: String) throws -> [UInt8] {
    let secret = passphrase.utf8.map { CChar(bitPattern: $0) }
    guard passphrase.count >= Self.shortestPassphrase, secret.count <= Self.longestPassphrase else {
      throw MembershipError.passphraseRefused
    }
    let lib = try OpenSSL.library()
    var salt = try OpenSSL.random(16)
    return try withKey { key in
      let plain = try OpenSSL.check("EVP_PKEY2PKCS8", lib.EVP_PKEY2PKCS8(key))
      defer { lib.PKCS8_PRIV_KEY_INFO_free(plain) }
      let algorithm = try OpenSSL.check(
        "PKCS5_pbe2_set_scrypt",
        lib.PKCS5_pbe2_set_scrypt(
          lib.EVP_aes_256_cbc(), &salt, Int32(salt.count), nil, Self.exportCost.n,
          Self.exportCost.r, Self.exportCost.p))
      // PKCS8_set0_pbe takes ownership of the algorithm, but only if it succeeds.
      guard let sealed = lib.PKCS8_set0_pbe(secret, Int32(secret.count), plain, algorithm) else {
        lib.X509_ALGOR_free(algorithm)
        throw OpenSSL.failure("PKCS8_set0_pbe")
      }
      defer { lib.X509_SIG_free(sealed) }
      return try DeviceKey.pem("PEM_write_bio_PKCS8") { $1.PEM_write_bio_PKCS8($0, sealed) }
    }
  }

  static func pem(_ call: String, _ write: (OpaquePointer, libcrypto) -> Int32) throws
    -> [UInt8]
  {
    let lib = try OpenSSL.library()
    let memory = try OpenSSL.check("BIO_new", lib.BIO_new(lib.BIO_s_mem()))
    defer { _ = lib.BIO_free(memory) }
    try OpenSSL.check(call, write(memory, lib))
    var bytes = [UInt8](repeating: 0, count: maximumFileSize)
    let count = lib.BIO_read(memory, &bytes, Int32(bytes.count))
    try OpenSSL.check("BIO_read", count)
    return Array(bytes[..<Int(count)])
  }

  /// Reads the result of `exported`, or any encrypted Ed25519 key written by OpenSSL; nil if the
  /// passphrase is wrong, or if the file is something else.
  public init?(exported file: [UInt8], passphrase: String) throws {
    // Memberships may follow the key.
    let end = Array("-----END ENCRYPTED PRIVATE KEY-----\n".utf8)
    let pem = Array(file[..<(file.firstRange(of: end)?.upperBound ?? file.endIndex)])
    guard pem.count <= DeviceKey.maximumFileSize,
      let raw = try DeviceKey.rawKey(of: pem, passphrase: Array(passphrase.utf8))
    else { return nil }
    try self.init(privateKey: raw)
  }

  /// Reads a text made by `pem()`; nil for any other text. OpenSSL would try all its decoders, which takes a
  /// tenth of a sync's instructions.
  static func rawKey(ofOwn pem: [UInt8]) -> [UInt8]? {
    let (head, tail) = ("-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----\n")
    guard pem.starts(with: head.utf8), pem.suffix(tail.utf8.count).elementsEqual(tail.utf8),
      pem.count == head.utf8.count + 64 + tail.utf8.count,
      let der = [UInt8](base64: Array(pem[head.utf8.count..<head.utf8.count + 64])),
      der.starts(with: oneKey)
    else { return nil }
    return Array(der.dropFirst(oneKey.count))
  }

  /// The first line of an encrypted key: RFC 7468, section 11.
  private static let encryptedHead = Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\n".utf8)

  /// The bytes before the 32 of a key: RFC 8410, section 7.
  private static let oneKey: [UInt8] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]

  /// The 32 bytes of the Ed25519 key in the text; nil if it has none, or if the passphrase is
  /// wrong.
  private static func rawKey(of pem: [UInt8], passphrase: [UInt8]?) throws -> [UInt8]? {
    let lib = try OpenSSL.library()
    var passphrase = passphrase
    // The BIO reads the bytes in place, so they must not move until it is freed.
    return try pem.withUnsafeBytes { pem in
      let memory = try OpenSSL.check(
        "BIO_new_mem_buf", lib.BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)))
      defer { _ = lib.BIO_free(memory) }
      // Without a callback OpenSSL would ask at the terminal. The callback returns -1, "no
      // passphrase", if there is none.
      let read = withUnsafeMutablePointer(to: &passphrase) { passphrase in
        lib.PEM_read_bio_PrivateKey(
          memory, nil,
          { buffer, size, _, passphrase in
            guard let buffer,
              let bytes = passphrase?.assumingMemoryBound(to: [UInt8]?.self).pointee,
              bytes.count <= Int(size)
            else { return -1 }
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            return Int32(bytes.count)
          }, passphrase)
      }
      guard let key = read else { return nil }
      defer { lib.EVP_PKEY_free(key) }
      if lib.EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 { return nil }
      var raw = [UInt8](repeating: 0, count: 32)
      var size = raw.count
      try OpenSSL.check(
        "EVP_PKEY_get_raw_private_key", lib.EVP_PKEY_get_raw_private_key(key, &raw, &size))
      return raw
    }
  }
}
