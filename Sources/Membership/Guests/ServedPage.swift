internal import Glibc
public import State
internal import System

/// The address at which the page of a notebook is served now: `.git/notes/web-address`, locked by the
/// process that serves it.
public final class ServedPage: Sendable {
  private let lock: FileLock
  private let path: String

  /// Says that the page is served at these addresses, `http://HOST:PORT` for this machine and
  /// `https://HOST:PORT` for its network, as long as the object lives; nil where it is served somewhere else
  /// already.
  ///
  /// - Throws: where the file cannot be written.
  public init?(at origins: [String], stateFolder: StateFolder) throws {
    let path = stateFolder[.webAddress]
    // A process that asks whether it is locked has it for a moment.
    guard let lock = try Disk.lock(path, until: Instant.now + 0.1) else { return nil }
    self.lock = lock
    self.path = path
    try move(to: origins)
  }

  /// Says that it is served at these addresses now.
  ///
  /// - Throws: where the file cannot be written.
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

  /// The port of the page of a notebook on a device, the same each time: one below those that systems
  /// give out.
  public static func port(notebookID: String, deviceID: String) -> Int {
    let sum = (notebookID + deviceID).utf8.reduce(UInt32(2_166_136_261)) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    return 20_000 + Int(sum % 12_000)
  }

  /// The addresses that the page is served at, that for this machine first; none where it is not.
  public static func origins(stateFolder: StateFolder) throws -> [String] {
    let path = stateFolder[.webAddress]
    guard Disk.isLocked(path), let content = try Disk.readIfThere(path, limit: 1_024) else {
      return []
    }
    return content.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
