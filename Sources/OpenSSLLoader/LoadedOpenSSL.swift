package import COpenSSL

/// The only access to OpenSSL: its tables of functions, listed in shim.h and loaded at first use, and the
/// messages in its error queue.
package enum LoadedOpenSSL {
  /// The loader's message if a library could not be loaded.
  package struct Failure: Error { package let reason: String }

  /// libcrypto.
  package static let crypto: Result<libcrypto, Failure> = table(libcrypto_load)
  /// libssl.
  package static let ssl: Result<libssl, Failure> = crypto.flatMap { _ in table(libssl_load) }
  /// The additional functions of libcrypto for a page for browsers.
  package static let cryptoOfPage: Result<libcrypto_page, Failure> = crypto.flatMap { _ in
    table(libcrypto_page_load)
  }
  /// The additional functions of libssl for a page for browsers.
  package static let sslOfPage: Result<libssl_page, Failure> = ssl.flatMap { _ in
    table(libssl_page_load)
  }

  private static func table<Table>(
    _ load: (UnsafeMutablePointer<Table>) -> UnsafePointer<CChar>?
  ) -> Result<Table, Failure> {
    let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    defer { table.deallocate() }
    if let missing = load(table) { return .failure(Failure(reason: String(cString: missing))) }
    return .success(table.pointee)
  }

  /// Empties this thread's error queue, oldest first. A reason's number is `SSL_R_…` if it is
  /// libssl's, otherwise nil; a received alert is 1000 plus its number.
  package static func drain() -> [(ssl: Int32?, text: String)] {
    guard case .success(let crypto) = crypto else { return [] }
    var reasons: [(ssl: Int32?, text: String)] = []
    while case let code = crypto.ERR_get_error(), code != 0 {
      let text = crypto.ERR_reason_error_string(code).map { String(cString: $0) }
      reasons.append(
        (ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : nil, text ?? "code \(code)"))
    }
    return reasons
  }
}
