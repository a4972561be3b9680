internal import CLinux
internal import Glibc
internal import System

/// A socket of this machine at which a watcher listens for commands: `$XDG_RUNTIME_DIR/notes/`, one
/// for each notebook. Only this user can connect: the folder's mode keeps others out, and the user
/// of the other side is checked, too (unix(7), SO_PEERCRED).
final class ControlSocket: Sendable {
  let descriptor: Int32
  private let path: String

  /// The path of a notebook's socket. The device is part of the name because one machine may have
  /// several.
  static func path(in folder: String, notebookID: String, deviceID: String) -> String {
    "\(folder)/\(notebookID.prefix(16))-\(deviceID.prefix(8))"
  }

  /// Listens at `path`, replacing the socket of a killed process.
  init(at path: String) throws {
    try Self.makePrivate(Disk.parent(of: path))
    descriptor = try Self.make()
    self.path = path
    unlink(path)
    // On Linux the file gets the mode of the unbound socket. Setting the umask would also work, but it affects
    // other threads.
    guard fchmod(descriptor, 0o600) == 0,
      UnixSocket.bind(descriptor, to: path) == 0, listen(descriptor, 16) == 0
    else { throw WatchError.system(call: "bind", path: path, errno: errno) }
  }

  deinit {
    unlink(path)
    close(descriptor)
  }

  /// The next connected command; nil if there is none, or if it is another user's.
  func accept() -> ControlLines? {
    let command = Glibc.accept(descriptor, nil, nil)
    guard command >= 0 else { return nil }
    _ = fcntl(command, F_SETFD, FD_CLOEXEC)
    let lines = ControlLines(takingOwnership: command)
    return lines.areOfOwnUser ? lines : nil
  }

  /// Connects; nil if no process listens, or one of another user.
  static func connect(to path: String) throws -> ControlLines? {
    let lines = ControlLines(takingOwnership: try make())
    let status = UnixSocket.connect(lines.descriptor, to: path)
    return status == 0 && lines.areOfOwnUser ? lines : nil
  }

  private static func makePrivate(_ folder: String) throws {
    try Disk.makeFolder(folder, mode: 0o700)
    var status = stat()
    guard Counted.lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid()
    else { throw WatchError.system(call: "lstat", path: folder, errno: EACCES) }
    if status.st_mode & 0o077 != 0, chmod(folder, 0o700) != 0 {
      throw WatchError.system(call: "chmod", path: folder, errno: errno)
    }
  }

  private static func make() throws -> Int32 {
    let descriptor = UnixSocket.make(SOCK_STREAM)
    guard descriptor >= 0 else { throw WatchError.system(call: "socket", path: "", errno: errno) }
    return descriptor
  }
}

/// Lines of JSON over a socket of this machine. Sendable although its read buffer has no lock: an
/// instance belongs to one thread at a time.
final class ControlLines: @unchecked Sendable {
  let descriptor: Int32
  private var rest: [UInt8] = []

  /// The longest line, in bytes.
  static let limit = 1 << 20

  init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  var areOfOwnUser: Bool { notes_peer_user(descriptor) == Int(geteuid()) }

  /// Sends a line; false if the other side has closed the connection.
  func send(_ line: [UInt8]) -> Bool {
    var rest = line + [UInt8(ascii: "\n")]
    while !rest.isEmpty {
      let count = Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno != EINTR { return false }
      rest.removeFirst(max(count, 0))
    }
    return true
  }

  /// The next line; nil at the end, if none arrived within `seconds`, or if `token` was cancelled.
  func next(within seconds: Double, _ token: CancellationToken? = nil) -> [UInt8]? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(rest[..<end])
        rest.removeSubrange(...end)
        return line
      }
      guard rest.count < Self.limit else { return nil }
      let ready = Poll.wait(
        for: [descriptor, token?.descriptor ?? -1], until: .now + min(seconds, 86_400))
      guard ready == [descriptor] else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return nil }
      rest += bytes[..<count]
    }
  }
}
