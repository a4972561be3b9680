internal import CLinux
internal import Channel
internal import Glibc

/// A socket of this machine at which a watcher listens for commands: `$XDG_RUNTIME_DIR/notes/`, one
/// a notebook. Only this user gets at it: the folder's mode keeps others out, and the other end's
/// user is looked at besides (unix(7), SO_PEERCRED).
final class ControlSocket: Sendable {
  let descriptor: Int32
  private let path: String

  /// A notebook's socket. A device is part of the name because one machine may hold several.
  static func path(in folder: String, notebookID: String, deviceID: String) -> String {
    "\(folder)/\(notebookID.prefix(16))-\(deviceID.prefix(8))"
  }

  /// Listens at `path`, in place of what a killed process left there.
  init(at path: String) throws {
    try Self.makePrivate(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    descriptor = try Self.make()
    self.path = path
    unlink(path)
    // Linux gives the file the mode of the unbound socket. The process's mask would do as well, but
    // it is other threads' mask, too.
    guard fchmod(descriptor, 0o600) == 0,
      Self.withAddress(path, { [descriptor] in bind(descriptor, $0, $1) }) == 0,
      listen(descriptor, 16) == 0
    else { throw WatchError.system(call: "bind", path: path, errno: errno) }
  }

  deinit {
    unlink(path)
    close(descriptor)
  }

  /// The next command that has connected; nil when there is none, or it is another user's.
  func accept() -> ControlLines? {
    let command = Glibc.accept(descriptor, nil, nil)
    guard command >= 0 else { return nil }
    _ = fcntl(command, F_SETFD, FD_CLOEXEC)
    let lines = ControlLines(takingOwnership: command)
    return lines.areOfOwnUser ? lines : nil
  }

  /// Connects; nil when nobody listens, or another user does.
  static func connect(to path: String) throws -> ControlLines? {
    let lines = ControlLines(takingOwnership: try make())
    let status = withAddress(path) { Glibc.connect(lines.descriptor, $0, $1) }
    return status == 0 && lines.areOfOwnUser ? lines : nil
  }

  /// Makes the folder, for this user alone.
  private static func makePrivate(_ folder: String) throws {
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw WatchError.system(call: "mkdir", path: folder, errno: errno)
    }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid()
    else { throw WatchError.system(call: "lstat", path: folder, errno: EACCES) }
    if status.st_mode & 0o077 != 0, chmod(folder, 0o700) != 0 {
      throw WatchError.system(call: "chmod", path: folder, errno: errno)
    }
  }

  private static func make() throws -> Int32 {
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw WatchError.system(call: "socket", path: "", errno: errno) }
    return descriptor
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// Lines of JSON over a socket of this machine.
///
/// Sendable although what was read is kept without a lock: an instance belongs to one thread at a
/// time.
final class ControlLines: @unchecked Sendable {
  let descriptor: Int32
  private var rest: [UInt8] = []

  /// How long a line may be.
  static let limit = 1 << 20

  init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Whether the other end runs as this user.
  var areOfOwnUser: Bool { notes_peer_user(descriptor) == Int(geteuid()) }

  /// Sends a line; false when the other end has gone.
  func send(_ line: [UInt8]) -> Bool {
    let bytes = line + [UInt8(ascii: "\n")]
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        return false
      }
      sent += count
    }
    return true
  }

  /// The next line; nil at the end, when none came for so many seconds, or when `token` was
  /// cancelled.
  func next(within seconds: Double, _ token: CancellationToken? = nil) -> [UInt8]? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(rest[..<end])
        rest.removeSubrange(...end)
        return line
      }
      guard rest.count < Self.limit else { return nil }
      var entries = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: token?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let status = poll(&entries, 2, Int32(min(seconds, 86_400) * 1_000))
      if status < 0 && errno == EINTR { continue }
      guard status > 0, entries[1].revents == 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return nil }
      rest += bytes[..<count]
    }
  }
}
