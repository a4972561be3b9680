internal import CLibgit2
internal import Glibc

/// The value of an attribute of a path: gitattributes(5).
public enum AttributeValue: Hashable, Sendable {
  case unspecified, set, unset
  case value(String)

  /// The text of an attribute's value; nil for the other cases.
  public var text: String? { if case .value(let text) = self { text } else { nil } }
}

extension Repository {
  /// The values of attributes of a path, from `.gitattributes` files, `.git/info/attributes` and the
  /// `core.attributesFile` in the repository's configuration. The user's and the system's own files are not
  /// read.
  public func attributes(_ names: [String], of path: TreePath) throws -> [AttributeValue] {
    let git = try handles()
    let strings = names.map { strdup($0) }
    defer { for string in strings { free(string) } }
    var wanted = strings.map { UnsafePointer<CChar>($0) }
    var found = [UnsafePointer<CChar>?](repeating: nil, count: names.count)
    let bytes = path.bytes.map { CChar(bitPattern: $0) } + [0]
    // The flag GIT_ATTR_CHECK_NO_SYSTEM.
    let flags: UInt32 = 1 << 2
    try git.check(
      "git_attr_get_many",
      git.api.git_attr_get_many(
        &found, git.repository, flags, bytes, names.count, &wanted))
    return found.map { value in
      switch git.api.git_attr_value(value) {
      case GIT_ATTR_VALUE_TRUE: .set
      case GIT_ATTR_VALUE_FALSE: .unset
      case GIT_ATTR_VALUE_STRING: value.map { .value(String(cString: $0)) } ?? .unspecified
      default: .unspecified
      }
    }
  }

  /// Gives an open repository an empty index, so that no attributes files are read from it.
  func leaveIndexOut(of repository: OpaquePointer, _ library: Libgit2) {
    var empty: OpaquePointer?
    guard library.api.git_index_new(&empty) == 0, let empty else { return }
    defer { library.api.git_index_free(empty) }
    _ = library.api.git_repository_set_index(repository, empty)
  }
}
