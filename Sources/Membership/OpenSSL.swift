internal import COpenSSL
internal import OpenSSLLoader

/// libcrypto, its failures turned into `MembershipError`.
enum OpenSSL {
  /// The table, with this thread's error queue emptied so that what is drained later is fresh.
  static func library() throws -> libcrypto {
    do throws(LoadedOpenSSL.Failure) {
      let lib = try LoadedOpenSSL.crypto.get()
      lib.ERR_clear_error()
      return lib
    } catch {
      throw MembershipError.libraryMissing(error.reason)
    }
  }

  /// The error queue as a typed error.
  static func failure(_ call: String, _ lib: libcrypto) -> MembershipError {
    .library(call: call, reasons: LoadedOpenSSL.drain(lib).map(\.text))
  }

  /// Requires OpenSSL's usual success value, a positive number.
  static func check(_ call: String, _ lib: libcrypto, _ result: Int32) throws {
    if result <= 0 { throw failure(call, lib) }
  }

  /// Requires a pointer.
  static func check<Pointer>(_ call: String, _ lib: libcrypto, _ pointer: Pointer?) throws
    -> Pointer
  {
    guard let pointer else { throw failure(call, lib) }
    return pointer
  }

  /// Cryptographically strong random bytes.
  static func random(_ count: Int) throws -> [UInt8] {
    let lib = try library()
    var bytes = [UInt8](repeating: 0, count: count)
    try check("RAND_bytes", lib, lib.RAND_bytes(&bytes, Int32(count)))
    return bytes
  }

  /// SHA-256.
  static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
    let lib = try library()
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    try check(
      "EVP_Digest", lib,
      lib.EVP_Digest(bytes, bytes.count, &digest, &length, lib.EVP_sha256(), nil))
    return digest
  }

  /// What an `i2d` function writes.
  static func encoding(
    _ call: String, _ lib: libcrypto,
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) throws -> [UInt8] {
    let size = write(nil)
    try check(call, lib, size)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    try bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      try check(call, lib, write(&cursor))
    }
    return bytes
  }

  /// Reads with a `d2i` function, and hands the object to `body`. Nil when the bytes are not
  /// exactly one object.
  static func decoding<Value>(
    _ bytes: [UInt8],
    _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?,
    free: (OpaquePointer?) -> Void,
    _ body: (OpaquePointer) throws -> Value
  ) rethrows -> Value? {
    var consumed = 0
    let object = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      let object = read(&cursor, buffer.count)
      if let start = buffer.baseAddress, let cursor { consumed = cursor - start }
      return object
    }
    guard let object else { return nil }
    defer { free(object) }
    if consumed != bytes.count { return nil }
    return try body(object)
  }

  /// As `decoding`, for what a peer sent. Throws `CertificateDefect.tooLarge` for more than `limit`
  /// bytes, and `.encoding` for what is not exactly one object.
  static func reading<Value>(
    _ bytes: [UInt8], atMost limit: Int,
    _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?,
    free: (OpaquePointer?) -> Void,
    _ body: (OpaquePointer) throws -> Value
  ) throws -> Value {
    if bytes.count > limit { throw CertificateDefect.tooLarge(bytes.count) }
    guard let value = try decoding(bytes, read, free: free, body) else {
      throw CertificateDefect.encoding
    }
    return value
  }

  /// The content of an ASN.1 string or integer.
  static func content(_ string: UnsafePointer<ASN1_STRING>?, _ lib: libcrypto) -> [UInt8] {
    guard let string, let data = lib.ASN1_STRING_get0_data(string) else { return [] }
    return Array(UnsafeBufferPointer(start: data, count: Int(lib.ASN1_STRING_length(string))))
  }
}
