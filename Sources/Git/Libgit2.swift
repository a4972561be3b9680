internal import CLibgit2
internal import Glibc

/// The loaded library, and the only code that turns its status codes into errors.
final class Libgit2: Sendable {
  let api: libgit2

  private init(api: libgit2) { self.api = api }

  /// Loads and initialises the library once per process. It does not use the user's configuration, on which
  /// neither the bytes of files nor the behaviour may depend.
  static let shared: Result<Libgit2, GitError> = {
    let storage = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<libgit2>.size, alignment: MemoryLayout<libgit2>.alignment
    ).bindMemory(to: libgit2.self, capacity: 1)
    defer { storage.deallocate() }
    if let problem = load(GitLibrary.fileNames, into: storage) {
      return .failure(.libraryMissing("libgit2", reason: problem))
    }
    let library = Libgit2(api: storage.pointee)
    do {
      _ = try library.check("git_libgit2_init", library.api.git_libgit2_init())
      func set(_ option: (UnsafePointer<libgit2>) -> Int32) throws {
        try library.check("git_libgit2_opts", withUnsafePointer(to: library.api, option))
      }
      for level in [
        GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
        GIT_CONFIG_LEVEL_GLOBAL,
      ] {
        try set { libgit2_set_search_path($0, level.rawValue, "") }
      }
      // Repository.open checks these extensions.
      var names: [UnsafePointer<CChar>?] = RepositoryExtensions.judgedHere.map {
        UnsafePointer(strdup($0))
      }
      defer { for name in names { free(UnsafeMutablePointer(mutating: name)) } }
      try set { libgit2_set_extensions($0, &names, names.count) }
      // Repository.open checks the owner instead: without the user's configuration, libgit2 does not know
      // "safe.directory".
      try set { libgit2_set_owner_validation($0, 0) }
      // The referenced objects were just written, and may not be in the repository yet.
      try set { libgit2_set_strict_object_creation($0, 0) }
      try set { libgit2_set_fsync($0, 1) }
    } catch let error as GitError {
      return .failure(error)
    } catch {
      return .failure(.libraryMissing("libgit2", reason: "\(error)"))
    }
    return .success(library)
  }()

  /// Fills the table from the first of these files that exists. Returns nil for success, and otherwise the
  /// reason, such as that a file exists but cannot be used.
  static func load(_ fileNames: [String], into table: UnsafeMutablePointer<libgit2>) -> String? {
    var problems: [String] = []
    for name in fileNames {
      guard let problem = libgit2_load(table, name) else { return nil }
      problems.append(String(cString: problem))
    }
    let absent = "\(fileNames.joined(separator: ", ")): none of them is installed"
    return problems.first { !$0.hasSuffix("No such file or directory") } ?? absent
  }

  /// Returns a status of 0 or more; throws the library's error for a negative one.
  @discardableResult func check(_ call: String, _ status: Int32) throws -> Int32 {
    guard status < 0 else { return status }
    throw error(call, status)
  }

  func error(_ call: String, _ status: Int32) -> GitError {
    // libgit2 writes only the repository's configuration file.
    if status == GIT_ELOCKED.rawValue { return .locked("config.lock") }
    let message = api.git_error_last()?.pointee.message.map { String(cString: $0) }
    return .library(call: call, code: status, message: message ?? "no message")
  }
}

extension Libgit2 {
  func id(of kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    var oid = git_oid()
    _ = try content.withUnsafeBytes { bytes in
      try check(
        "git_odb_hash",
        api.git_odb_hash(&oid, bytes.baseAddress, bytes.count, git_object_t(kind.rawValue)))
    }
    return oid.objectID
  }
}

extension git_oid {
  init(_ id: ObjectID) {
    self.init()
    withUnsafeMutableBytes(of: &self.id) { $0.copyBytes(from: id.bytes) }
  }

  var objectID: ObjectID { withUnsafeBytes(of: id) { ObjectID(bytes: $0) } ?? .zero }
}

/// The libgit2 of this system.
public enum GitLibrary {
  /// The files of the supported versions, in the order in which they are tried.
  public static let fileNames: [String] = {
    var names: [String] = []
    while let name = libgit2_file_name(Int32(names.count)) { names.append(String(cString: name)) }
    return names
  }()

  /// The version whose headers the program was built with, such as "1.5.1".
  public static let builtWith = LIBGIT2_VERSION

  /// The version, such as "1.5.1"; throws `GitError.libraryMissing`.
  public static func version() throws(GitError) -> String {
    let library = try Libgit2.shared.get()
    var numbers = (Int32(0), Int32(0), Int32(0))
    _ = library.api.git_libgit2_version(&numbers.0, &numbers.1, &numbers.2)
    return "\(numbers.0).\(numbers.1).\(numbers.2)"
  }
}
