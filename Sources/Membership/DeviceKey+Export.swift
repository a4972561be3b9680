internal import COpenSSL
internal import Glibc
internal import System

// Moving the key to another place, or keeping a copy of it: notes-device(1).
extension DeviceKey {
  /// The cost of guessing a passphrase: scrypt with N = 2^14, r = 8, p = 8, which takes 16 MiB and
  /// about a third of a second. OpenSSL reads no file that needs more memory (32 MiB).
  static let exportCost = (n: UInt64(1 << 14), r: UInt64(8), p: UInt64(8))

  /// The shortest passphrase that `exported` takes, in characters.
  public static let shortestPassphrase = 8
  /// The longest, in bytes: what OpenSSL reads.
  static let longestPassphrase = 1024

  /// The key as encrypted PKCS #8 in PEM (RFC 5958, RFC 7914 for scrypt, AES-256-CBC), as
  /// `openssl pkey` reads it. Throws `passphraseRefused`.
  public func exported(passphrase: String) throws -> [UInt8] {
    let secret = Array(passphrase.utf8)
    guard passphrase.count >= Self.shortestPassphrase, secret.count <= Self.longestPassphrase else {
      throw MembershipError.passphraseRefused
    }
    let lib = try OpenSSL.library()
    let salt = try OpenSSL.random(16)
    return try withKey(lib) { key in
      let plain = try OpenSSL.check("EVP_PKEY2PKCS8", lib, lib.EVP_PKEY2PKCS8(key))
      defer { lib.PKCS8_PRIV_KEY_INFO_free(plain) }
      var mutableSalt = salt
      let algorithm = try OpenSSL.check(
        "PKCS5_pbe2_set_scrypt", lib,
        lib.PKCS5_pbe2_set_scrypt(
          lib.EVP_aes_256_cbc(), &mutableSalt, Int32(salt.count), nil, Self.exportCost.n,
          Self.exportCost.r, Self.exportCost.p))
      let characters = secret.map { CChar(bitPattern: $0) }
      // Takes the algorithm over, but only where it succeeds.
      guard let sealed = lib.PKCS8_set0_pbe(characters, Int32(characters.count), plain, algorithm)
      else {
        lib.X509_ALGOR_free(algorithm)
        throw OpenSSL.failure("PKCS8_set0_pbe", lib)
      }
      defer { lib.X509_SIG_free(sealed) }
      return try DeviceKey.pem(lib) {
        try OpenSSL.check("PEM_write_bio_PKCS8", lib, lib.PEM_write_bio_PKCS8($0, sealed))
      }
    }
  }

  /// Reads what `exported` made, or any encrypted Ed25519 key that OpenSSL wrote; nil when the
  /// passphrase is wrong, or the file is none.
  public init?(exported pem: [UInt8], passphrase: String) throws {
    guard pem.count <= DeviceKey.maximumFileSize,
      let raw = try DeviceKey.rawKey(of: pem, passphrase: Array(passphrase.utf8))
    else { return nil }
    try self.init(privateKey: raw)
  }

  /// Makes this the device key of `dataFolder`. A key that was there before is kept beside it under
  /// its device ID's first eight characters.
  ///
  /// - Returns: the path of the key that was there before; nil when there was none, or the same.
  public func store(in dataFolder: String) throws -> String? {
    let path = "\(dataFolder)/\(DeviceKey.fileName)"
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let before = try DeviceKey.load(in: dataFolder)
    if before?.deviceID == deviceID { return nil }
    var aside: String?
    if let before {
      let kept = "\(dataFolder)/device-key-\(before.deviceID.prefix(8)).pem"
      try Disk.rename(path, to: kept)
      aside = kept
    }
    guard try Disk.createSecret(path, pem()) else {
      throw MembershipError.system(call: "link", path: path, code: EEXIST)
    }
    return aside
  }
}
