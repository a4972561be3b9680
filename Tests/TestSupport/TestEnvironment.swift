internal import Glibc

/// What a program under test sees of the machine: nothing of the user's.
public enum TestEnvironment {
  /// Environment variables with every folder of the user's below `home`, no git configuration, one
  /// locale and time zone. `home` and its runtime folder are made.
  public static func isolated(home: String) throws -> [String: String] {
    try makeFolder("\(home)/run")
    chmod("\(home)/run", 0o700)
    return [
      "HOME": home,
      "XDG_CONFIG_HOME": "\(home)/.config",
      "XDG_DATA_HOME": "\(home)/.local/share",
      "XDG_STATE_HOME": "\(home)/.local/state",
      "XDG_CACHE_HOME": "\(home)/.cache",
      "XDG_RUNTIME_DIR": "\(home)/run",
      "GIT_CONFIG_GLOBAL": "/dev/null",
      "GIT_CONFIG_NOSYSTEM": "1",
      "LC_ALL": "C.UTF-8",
      "TZ": "UTC",
      "TERM": "dumb",
      "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    ]
  }

  /// Whether programs can be run as another user, for tests of what a user may not do: root may do
  /// everything.
  public static let canRunAsNobody =
    (try? run(asNobody + ["true"], in: "/"))?.isSuccess == true

  /// What runs the program behind it as nobody.
  public static let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

  /// Whether everything is played, as long as it may take: by `scripts/test --full`.
  public static let isFull = variable("NOTES_TEST_FULL") != nil

  /// How much of what is random is played.
  public static func amount(_ usual: Int, inFull full: Int) -> Int { isFull ? full : usual }

  /// A variable of the test run's own environment.
  public static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

/// The program under test.
public enum BuiltBinary {
  /// The path of `notes`: $NOTES_BINARY, or what was built beside the tests.
  public static func notes() throws -> String {
    try TestEnvironment.variable("NOTES_BINARY") ?? path(of: "notes")
  }

  /// The path of a program that was built beside the tests.
  public static func path(of product: String) throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else {
      throw SystemError("readlink", "/proc/self/exe")
    }
    let folder = buffer.string.prefix(upTo: buffer.string.lastIndex(of: "/") ?? "".startIndex)
    let path = "\(folder)/\(product)"
    guard access(path, X_OK) == 0 else { throw SystemError("access", path) }
    return path
  }

  /// The top folder of the sources.
  public static let sourceFolder: String = {
    // This file is Tests/TestSupport/TestEnvironment.swift in it.
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
  }()
}
