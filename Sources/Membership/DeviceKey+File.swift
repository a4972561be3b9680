internal import COpenSSL
internal import Glibc
internal import System

extension DeviceKey {
  /// The key's file in the data folder.
  public static let fileName = "device-key.pem"

  static let maximumFileSize = 16 * 1024

  /// The key kept in `dataFolder`, or a new one, stored there before it is returned.
  ///
  /// A key file that cannot be used is an error and stays as it is: a new key would make this
  /// device a stranger to its own notebooks.
  public static func loadOrCreate(in dataFolder: String) throws -> DeviceKey {
    if let key = try load(in: dataFolder) { return key }
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let key = try DeviceKey.random()
    if try Disk.createSecret("\(dataFolder)/\(fileName)", key.pem()) { return key }
    // Another process of this user made one at the same moment.
    guard let key = try load(in: dataFolder) else {
      throw MembershipError.system(
        call: "open", path: "\(dataFolder)/\(fileName)", code: ENOENT)
    }
    return key
  }

  /// The key kept in `dataFolder`; nil when there is none.
  public static func load(in dataFolder: String) throws -> DeviceKey? {
    let path = "\(dataFolder)/\(fileName)"
    // O_NONBLOCK: a FIFO in the file's place must not hold us up.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0 {
      if errno == ENOENT { return nil }
      throw MembershipError.system(call: "open", path: path, code: errno)
    }
    defer { close(file) }
    func unusable(_ defect: KeyFileDefect) -> MembershipError {
      .deviceKeyUnusable(path: path, defect: defect)
    }
    var status = stat()
    if fstat(file, &status) != 0 {
      throw MembershipError.system(call: "fstat", path: path, code: errno)
    }
    if status.st_mode & S_IFMT != S_IFREG { throw unusable(.notAFile) }
    if status.st_uid != geteuid() { throw unusable(.foreignOwner(status.st_uid)) }
    if status.st_mode & 0o077 != 0 {
      throw unusable(.openToOthers(mode: status.st_mode & 0o7777))
    }
    if status.st_size > maximumFileSize { throw unusable(.notAKey) }
    let pem = try Disk.read(file, path: path, limit: maximumFileSize)
    guard let key = try DeviceKey(pem: pem) else { throw unusable(.notAKey) }
    return key
  }

  /// PKCS #8 in PEM, as `openssl pkey` reads it.
  func pem() throws -> [UInt8] {
    let lib = try OpenSSL.library()
    return try withKey(lib) { key in
      try DeviceKey.pem(lib) {
        try OpenSSL.check(
          "PEM_write_bio_PKCS8PrivateKey", lib,
          lib.PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil))
      }
    }
  }

  /// What `write` puts into a BIO.
  static func pem(_ lib: libcrypto, _ write: (OpaquePointer) throws -> Void) throws -> [UInt8] {
    let memory = try OpenSSL.check("BIO_new", lib, lib.BIO_new(lib.BIO_s_mem()))
    defer { _ = lib.BIO_free(memory) }
    try write(memory)
    var bytes = [UInt8](repeating: 0, count: DeviceKey.maximumFileSize)
    let count = lib.BIO_read(memory, &bytes, Int32(bytes.count))
    try OpenSSL.check("BIO_read", lib, count)
    return Array(bytes[..<Int(count)])
  }

  /// Nil unless the text holds an unencrypted Ed25519 private key.
  private init?(pem: [UInt8]) throws {
    guard let raw = try DeviceKey.rawKey(of: pem, passphrase: nil) else { return nil }
    try self.init(privateKey: raw)
  }

  /// The 32 bytes of the Ed25519 key in the text; nil when it holds none, or another passphrase
  /// opens it.
  static func rawKey(of pem: [UInt8], passphrase: [UInt8]?) throws -> [UInt8]? {
    let lib = try OpenSSL.library()
    var secret = Passphrase(bytes: passphrase)
    // The BIO reads the bytes where they are, so they have to stay there until it is freed.
    return try pem.withUnsafeBytes { pem in
      let memory = try OpenSSL.check(
        "BIO_new_mem_buf", lib, lib.BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)))
      defer { _ = lib.BIO_free(memory) }
      // Without a callback OpenSSL would ask at the terminal. It answers -1, "no passphrase", where
      // there is none.
      let read = withUnsafeMutablePointer(to: &secret) { secret in
        lib.PEM_read_bio_PrivateKey(
          memory, nil,
          { buffer, size, _, secret in
            guard let buffer, let secret,
              let bytes = secret.assumingMemoryBound(to: Passphrase.self).pointee.bytes,
              bytes.count <= Int(size)
            else { return -1 }
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            return Int32(bytes.count)
          }, secret)
      }
      guard let key = read else { return nil }
      defer { lib.EVP_PKEY_free(key) }
      if lib.EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 { return nil }
      var raw = [UInt8](repeating: 0, count: 32)
      var size = raw.count
      try OpenSSL.check(
        "EVP_PKEY_get_raw_private_key", lib, lib.EVP_PKEY_get_raw_private_key(key, &raw, &size))
      return raw
    }
  }

  private struct Passphrase {
    var bytes: [UInt8]?
  }
}
