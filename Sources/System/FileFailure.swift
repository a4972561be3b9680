/// An error that tells of a call of the system that failed on a file or folder.
public protocol FileFailure: Error {
  /// The error of a call: its name, what it was about, and `errno`.
  static func system(call: String, path: String, errno: Int32) -> Self
}

/// Such an error of whoever has no other.
public struct FileError: FileFailure, Equatable {
  /// The name of the call.
  public let call: String
  public let path: String
  public let errno: Int32

  /// The error of a call.
  public static func system(call: String, path: String, errno: Int32) -> FileError {
    FileError(call: call, path: path, errno: errno)
  }
}
