internal import Git
internal import System

/// The errors of a bundle.
public enum BundleError: FileFailure, Equatable {
  /// The file does not begin like a bundle.
  case notABundle
  /// The file ends early, or its content is invalid.
  case damaged
  /// The bundle has this form, which is not supported.
  case form(String)
  /// The bundle names no notebook: git made it, or an early version of notes.
  case withoutMembers
  /// The bundle belongs to another notebook.
  case anotherNotebook
  /// This admin has started the notebook's membership over.
  case startedOver(by: String)
  /// The bundle requires versions that are not here: the beginning of an ID, and how many.
  case lacking(String, count: Int)
  /// There is no version to write into a bundle.
  case noVersion
  /// This device is a reader, so its edits must stay on it.
  case reader
  /// A system call on the file failed.
  case file(call: String, path: String, errno: Int32)

  /// The error of a system call.
  public static func system(call: String, path: String, errno: Int32) -> BundleError {
    .file(call: call, path: path, errno: errno)
  }
}

extension BundleError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .notABundle: "this is not a bundle"
    case .damaged: "the bundle is damaged, or was cut short"
    case .form(let form): "this bundle has another format: \(form)"
    case .withoutMembers: "the bundle was made with plain git and names no notebook"
    case .anotherNotebook: "the bundle belongs to another notebook"
    case .startedOver(let name): "the notebook's membership was started over by \(name)"
    case .lacking(let id, let count):
      count == 1
        ? "the bundle builds on version \(id), which is not here"
        : "the bundle builds on \(count) versions that are not here, for example \(id)"
    case .noVersion: "there is no version yet"
    case .reader: "this device is a reader: its own versions stay here"
    case .file(_, let path, let errno):
      (path.isEmpty ? "standard input" : path) + ": " + String(errorNumber: errno)
    }
  }
}
