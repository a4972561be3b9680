internal import COpenSSL
internal import OpenSSLLoader

/// Access to libcrypto, with its failures as `MembershipError`.
enum OpenSSL {
  /// The function table. Empties this thread's error queue, so that later errors in it are new.
  static func library() throws -> libcrypto {
    do throws(LoadedOpenSSL.Failure) {
      let lib = try LoadedOpenSSL.crypto.get()
      lib.ERR_clear_error()
      return lib
    } catch {
      throw MembershipError.libraryMissing(error.reason)
    }
  }

  static func failure(_ call: String) -> MembershipError {
    .library(call: call, reasons: LoadedOpenSSL.drain().map(\.text))
  }

  static func check(_ call: String, _ result: Int32) throws {
    if result <= 0 { throw failure(call) }
  }

  static func check<Pointer>(_ call: String, _ pointer: Pointer?) throws -> Pointer {
    guard let pointer else { throw failure(call) }
    return pointer
  }

  static func random(_ count: Int) throws -> [UInt8] {
    let lib = try library()
    var bytes = [UInt8](repeating: 0, count: count)
    try check("RAND_bytes", lib.RAND_bytes(&bytes, Int32(count)))
    return bytes
  }

  static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
    let lib = try library()
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    try check(
      "EVP_Digest", lib.EVP_Digest(bytes, bytes.count, &digest, &length, lib.EVP_sha256(), nil))
    return digest
  }

  static func encoding(
    _ call: String, _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) throws -> [UInt8] {
    let size = write(nil)
    try check(call, size)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    try bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      try check(call, write(&cursor))
    }
    return bytes
  }

  /// Decodes with a `d2i` function, and passes the object to `body`. Throws
  /// `CertificateDefect.tooLarge` for more than `limit` bytes, and `.encoding` for bytes that are not
  /// exactly one object.
  static func decoding<Value>(
    _ bytes: [UInt8], atMost limit: Int, _ read: Decode, free: (libcrypto, OpaquePointer?) -> Void,
    _ body: (OpaquePointer, libcrypto) throws -> Value
  ) throws -> Value {
    let (object, lib) = try decoded(bytes, atMost: limit, read, free: free)
    defer { free(lib, object) }
    return try body(object, lib)
  }

  typealias Decode =
    (libcrypto, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> OpaquePointer?

  /// Decodes like `decoding`. The caller frees the object.
  static func decoded(
    _ bytes: [UInt8], atMost limit: Int, _ read: Decode, free: (libcrypto, OpaquePointer?) -> Void
  ) throws -> (OpaquePointer, libcrypto) {
    let lib = try library()
    if bytes.count > limit { throw CertificateDefect.tooLarge(bytes.count) }
    return try bytes.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      guard let object = read(lib, &cursor, buffer.count) else { throw CertificateDefect.encoding }
      if cursor == buffer.baseAddress.map({ $0 + buffer.count }) { return (object, lib) }
      free(lib, object)
      throw CertificateDefect.encoding
    }
  }

  static func content(_ string: UnsafePointer<ASN1_STRING>?, _ lib: libcrypto) -> [UInt8] {
    guard let string, let data = lib.ASN1_STRING_get0_data(string) else { return [] }
    return Array(UnsafeBufferPointer(start: data, count: Int(lib.ASN1_STRING_length(string))))
  }
}
