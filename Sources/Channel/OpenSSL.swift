internal import COpenSSL
internal import Glibc

/// The one way to libssl: the function tables, loaded at first use, and what its error queue says.
final class OpenSSL: Sendable {
  let crypto: libcrypto
  let ssl: libssl

  private init() throws(ChannelError) {
    let crypto = UnsafeMutablePointer<libcrypto>.allocate(capacity: 1)
    defer { crypto.deallocate() }
    let ssl = UnsafeMutablePointer<libssl>.allocate(capacity: 1)
    defer { ssl.deallocate() }
    if let missing = libcrypto_load(crypto) ?? libssl_load(ssl) {
      throw .libraryMissing(String(cString: missing))
    }
    self.crypto = crypto.pointee
    self.ssl = ssl.pointee
    // A peer that has gone must be an error of write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
  }

  private static let loaded: Result<OpenSSL, ChannelError> = {
    do throws(ChannelError) { return .success(try OpenSSL()) } catch { return .failure(error) }
  }()

  static func library() throws(ChannelError) -> OpenSSL { try loaded.get() }

  /// An entry of the error queue.
  struct Reason: Sendable {
    /// `SSL_R_…` when it is libssl's, else nil. Alerts received are 1000 and their number.
    let ssl: Int32?
    let text: String
  }

  /// Empties this thread's error queue, oldest first.
  func drain() -> [Reason] {
    var reasons: [Reason] = []
    while true {
      let code = crypto.ERR_get_error()
      if code == 0 { return reasons }
      let text = crypto.ERR_reason_error_string(code).map { String(cString: $0) }
      reasons.append(
        Reason(
          ssl: ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : nil,
          text: text ?? "code \(code)"))
    }
  }

  func failure(_ call: String) -> ChannelError {
    .tls(call: call, reasons: drain().map(\.text))
  }

  func check(_ call: String, _ result: Int) throws(ChannelError) {
    if result <= 0 { throw failure(call) }
  }

  func check(_ call: String, _ pointer: OpaquePointer?) throws(ChannelError) -> OpaquePointer {
    guard let pointer else { throw failure(call) }
    return pointer
  }
}
