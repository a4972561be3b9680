internal import Glibc
public import State
internal import System

/// The addresses at which a notebook's page is served now: `.git/notes/web-address`, locked by the
/// process that serves it.
public final class ServedPage: Sendable {
  private let lock: FileLock
  private let path: String

  /// Records, as long as the object exists, that the page is served at these addresses: `http://HOST:PORT` for
  /// this machine and `https://HOST:PORT` for its network. Nil if another process already serves it.
  ///
  /// - Throws: an error if the file cannot be written.
  public init?(at origins: [String], stateFolder: StateFolder) throws {
    let path = stateFolder[.webAddress]
    // A process that checks whether the page is served holds the lock for a moment.
    guard let lock = try Disk.lock(path, until: Instant.now + 0.1) else { return nil }
    self.lock = lock
    self.path = path
    try move(to: origins)
  }

  /// Records that the page is served at these addresses now.
  ///
  /// - Throws: an error if the file cannot be written.
  public func move(to origins: [String]) throws {
    if ftruncate(lock.descriptor, 0) != 0 || lseek(lock.descriptor, 0, SEEK_SET) != 0 {
      throw MembershipError.system(call: "ftruncate", path: path, code: errno)
    }
    try Disk.write(Array(origins.map { $0 + "\n" }.joined().utf8), to: lock.descriptor, path: path)
  }

  /// Whether the page was ever served.
  public static func wasServed(stateFolder: StateFolder) -> Bool {
    access(stateFolder[.webAddress], F_OK) == 0
  }

  /// The port of a notebook's page on a device, always the same: below the range that systems assign
  /// automatically.
  public static func port(notebookID: String, deviceID: String) -> Int {
    let sum = (notebookID + deviceID).utf8.reduce(UInt32(2_166_136_261)) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    return 20_000 + Int(sum % 12_000)
  }

  /// The addresses at which the page is served, this machine's first; empty if it is not served.
  public static func origins(stateFolder: StateFolder) throws -> [String] {
    let path = stateFolder[.webAddress]
    guard Disk.isLocked(path), let content = try Disk.readIfThere(path, limit: 1_024) else {
      return []
    }
    return content.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
