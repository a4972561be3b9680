internal import Glibc

/// An error that tells of a call of the system that failed on a file or folder.
public protocol FileFailure: Error {
  /// The error of a system call: its name, the path or address, and `errno`.
  static func system(call: String, path: String, errno: Int32) -> Self
}

/// A failed system call, for modules that have no error type of their own.
public struct SystemCallError: FileFailure, Equatable {
  /// The name of the call.
  public let call: String
  /// The file that it was about; empty where it was about none.
  public let path: String
  package let errno: Int32

  /// The error of a call.
  public static func system(call: String, path: String = "", errno: Int32) -> SystemCallError {
    SystemCallError(call: call, path: path, errno: errno)
  }
}

extension String {
  /// The C library's words for an error number, as strerror(3) gives them, in lower case as messages
  /// are.
  public init(errorNumber: Int32) {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(errorNumber, &buffer, buffer.count) == 0 else {
      self = "error \(errorNumber)"
      return
    }
    let text = String(upToNUL: buffer)
    self = text.prefix(1).lowercased() + text.dropFirst()
  }
}
