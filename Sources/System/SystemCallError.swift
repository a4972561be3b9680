internal import Glibc

/// An error type for failed system calls on files and folders.
public protocol FileFailure: Error {
  /// The error of a system call: its name, the path or address, and `errno`.
  static func system(call: String, path: String, errno: Int32) -> Self
}

/// A failed system call, for modules without their own error type.
public struct SystemCallError: FileFailure, Equatable {
  /// The name of the call.
  public let call: String
  /// The file on which the call failed; empty if the call had none.
  public let path: String
  package let errno: Int32

  /// The error of a system call.
  public static func system(call: String, path: String = "", errno: Int32) -> SystemCallError {
    SystemCallError(call: call, path: path, errno: errno)
  }
}

extension String {
  /// The C library's message for an error number, from strerror(3), in lower case like all messages.
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
