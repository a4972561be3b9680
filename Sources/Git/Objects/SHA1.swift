internal import COpenSSL
internal import Glibc
internal import OpenSSLLoader

/// SHA-1 by libcrypto over bytes that arrive in pieces: the checksum at the end of packs, their
/// indexes and the index file. The IDs of objects of other devices are computed by libgit2, which
/// detects collisions.
final class SHA1 {
  private let library: libcrypto
  private let context: OpaquePointer
  private var isFailed = false

  /// Throws `GitError.libraryMissing` without libcrypto.
  init() throws {
    do throws(LoadedOpenSSL.Failure) {
      library = try LoadedOpenSSL.crypto.get()
    } catch {
      throw GitError.libraryMissing("libcrypto", reason: error.reason)
    }
    guard let context = library.EVP_MD_CTX_new() else { throw Self.failure }
    self.context = context
    isFailed = library.EVP_DigestInit_ex(context, Self.function, nil) != 1
  }

  deinit { library.EVP_MD_CTX_free(context) }

  func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if library.EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 { isFailed = true }
  }

  /// The 20 bytes of the sum. Throws `GitError.library` if libcrypto refuses, as it can if an administrator forbids
  /// SHA-1.
  func finish() throws -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: ObjectID.byteCount)
    guard !isFailed, library.EVP_DigestFinal_ex(context, &sum, nil) == 1 else { throw Self.failure }
    return sum
  }

  static func of(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    let checksum = try SHA1()
    checksum.update(bytes)
    return try checksum.finish()
  }

  static func ofFile(_ descriptor: Int32, size: Int, path: String) throws -> [UInt8] {
    let checksum = try SHA1()
    try withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 16) { buffer in
      var position = 0
      while position < size {
        let count = pread(
          descriptor, buffer.baseAddress, min(buffer.count, size - position), off_t(position))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw GitError.system(call: "read", path: path, errno: errno) }
        checksum.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        position += count
      }
    }
    return try checksum.finish()
  }

  /// Fetched once, because `EVP_sha1` would be looked up for each sum; nil without libcrypto or SHA-1. Unsafe only
  /// by its type: nothing changes a fetched algorithm, and threads may share it (openssl-threads(7)).
  nonisolated(unsafe) private static let function = (try? LoadedOpenSSL.crypto.get())?
    .EVP_MD_fetch(nil, "SHA1", nil)

  private static var failure: GitError {
    let reasons = LoadedOpenSSL.drain().map(\.text).joined(separator: ", ")
    return .library(call: "EVP_Digest", code: 0, message: reasons.isEmpty ? "no message" : reasons)
  }
}
