internal import COpenSSL
internal import Glibc
internal import OpenSSLLoader

/// libssl and libcrypto, by the tables of functions in shim.h, with their failures as
/// `ChannelError`.
final class OpenSSL: Sendable {
  let crypto: libcrypto
  let ssl: libssl

  private init() throws(ChannelError) {
    do throws(LoadedOpenSSL.Failure) {
      crypto = try LoadedOpenSSL.crypto.get()
      ssl = try LoadedOpenSSL.ssl.get()
    } catch {
      throw .libraryMissing(error.reason)
    }
    // Writing to a disconnected peer must be an error, and not end the process.
    signal(SIGPIPE, SIG_IGN)
  }

  private static let loaded = Result<OpenSSL, ChannelError> { () throws(ChannelError) in
    try OpenSSL()
  }

  static func library() throws(ChannelError) -> OpenSSL { try loaded.get() }

  func failure(_ call: String) -> ChannelError {
    .tls(call: call, reasons: LoadedOpenSSL.drain().map(\.text))
  }

  func check(_ call: String, _ result: some BinaryInteger) throws(ChannelError) {
    if result <= 0 { throw failure(call) }
  }

  func check(_ call: String, _ pointer: OpaquePointer?) throws(ChannelError) -> OpaquePointer {
    guard let pointer else { throw failure(call) }
    return pointer
  }
}

/// The OpenSSL of this system.
public enum TLSLibrary {
  /// The version whose headers the program was built with, such as "3.0.17".
  public static let builtWith =
    "\(OPENSSL_VERSION_MAJOR).\(OPENSSL_VERSION_MINOR).\(OPENSSL_VERSION_PATCH)"

  /// The version, such as "3.0.17"; throws `ChannelError.libraryMissing`.
  public static func version() throws(ChannelError) -> String {
    let text = try OpenSSL.library().crypto.OpenSSL_version(OPENSSL_VERSION_STRING)
    return text.map { String(cString: $0) } ?? ""
  }
}
