internal import Glibc

extension String {
  /// The C library's words for an error number, as strerror(3) gives them, in lower case as messages
  /// are.
  public init(errorNumber: Int32) {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(errorNumber, &buffer, buffer.count) == 0 else {
      self = "error \(errorNumber)"
      return
    }
    let text = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self = text.prefix(1).lowercased() + text.dropFirst()
  }
}
