internal import Glibc
internal import System

/// A real server of git repositories on loopback, with keys of its own: sshd, git-daemon, or
/// git-http-backend behind lighttpd's TLS; or a folder of this machine, which nothing serves.
public final class GitServer: Sendable {
  /// What is served by.
  public enum Kind: String, CaseIterable, Sendable {
    case ssh, daemon, https, folder

    /// Those with a process of their own.
    public static let served: [Kind] = [.ssh, .daemon, .https]
  }

  /// Whom a web server lets in.
  public enum Readers: String, CaseIterable, Sendable {
    /// Its users read and write.
    case users
    /// Everybody reads; who writes is asked for a password.
    case everybody
    /// Everybody reads, and nobody writes.
    case nobodyWrites
  }

  /// Its files; the repositories are in `repositories`.
  public let folder: TemporaryFolder
  public let kind: Kind
  public let port: UInt16
  /// The server's process, which may be ended by a test; nil for a folder.
  public let process: RunningProcess?

  /// The folder that is served.
  public var repositories: String { folder["repositories"] }

  /// Starts one, and waits until it takes connections.
  public init(
    _ kind: Kind, on fixed: UInt16? = nil, in folder: TemporaryFolder? = nil,
    readers: Readers = .users
  ) throws {
    let isNew = folder == nil
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    self.kind = kind
    if isNew {
      try makeFolder(folder["repositories"])
      try Self.makeKeys(kind, in: folder)
    }
    guard Kind.served.contains(kind) else {
      (port, process) = (0, nil)
      return
    }
    for _ in 0..<20 {
      let port = try fixed ?? LoopbackPort.free()
      try Self.configure(kind, in: folder, port: port, readers)
      let process = try RunningProcess(
        Self.command(kind, in: folder, port: port), in: folder.path,
        environment: TestEnvironment.isolated(home: folder["home"]))
      if LoopbackPort.waits(port, while: { process.isRunning }) {
        self.port = port
        self.process = process
        return
      }
    }
    throw ProcessTimeout(description: "no \(kind.rawValue) server could be started")
  }

  /// The same server again, after it was ended.
  public func restarted(readers: Readers = .users) throws -> GitServer {
    try GitServer(kind, on: port, in: folder, readers: readers)
  }

  /// An empty repository, and its address.
  public func makeRepository(_ name: String) throws -> String {
    let path = repositories + "/" + name
    let made = try run(
      ["git", "init", "--quiet", "--bare", "--initial-branch=main", path],
      environment: TestEnvironment.isolated(home: folder["home"]))
    guard made.isSuccess else { throw ProcessTimeout(description: "\(made)") }
    // git-http-backend lets those push whom the web server has let in.
    try writeFile(path + "/git-daemon-export-ok", [])
    return address(of: name)
  }

  /// Where a repository is.
  public func address(of name: String) -> String {
    switch kind {
    case .ssh: "ssh://127.0.0.1:\(port)\(repositories)/\(name)"
    case .daemon: "git://127.0.0.1:\(port)/\(name)"
    case .https: "https://localhost:\(port)/git/\(name)"
    case .folder: repositories + "/" + name
    }
  }

  /// What a client that knows the server and is let in has in its environment: what its user has in
  /// their own configuration.
  public func client(
    knowing host: GitServer? = nil, password: String = "right", key: String = "user"
  ) throws -> [String: String] {
    let known = (host ?? self).folder
    switch kind {
    case .daemon, .folder: return [:]
    case .ssh:
      let hosts = try "[127.0.0.1]:\(port) \(known.text("host.pub"))"
      let file = folder["known-\(key)"]
      try writeFile(file, Array(hosts.utf8))
      let command =
        "ssh -F /dev/null -o UserKnownHostsFile='\(file)' -o StrictHostKeyChecking=yes "
        + "-o IdentitiesOnly=yes -o IdentityFile='\(folder[key])' -o IdentityAgent=none"
      return ["GIT_SSH_COMMAND": command]
    case .https:
      let file = folder["gitconfig-\(password)"]
      let helper = "!f() { echo username=ada; echo password=\(password); }; f"
      let text = """
        [http]
        \tsslCAInfo = \(known["server.crt"])
        [credential]
        \thelper = "\(helper)"

        """
      try writeFile(file, Array(text.utf8))
      return ["GIT_CONFIG_GLOBAL": file]
    }
  }

  // MARK: The three kinds

  private static func makeKeys(_ kind: Kind, in folder: TemporaryFolder) throws {
    func make(_ command: String...) throws {
      let made = try run(command, in: folder.path)
      guard made.isSuccess else { throw ProcessTimeout(description: "\(made)") }
    }
    switch kind {
    case .daemon, .folder: break
    case .ssh:
      for name in ["host", "user", "stranger"] {
        try make("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder[name])
      }
      try writeFile(folder["authorized"], folder.read("user.pub"))
    case .https:
      try make(
        "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
        folder["server.key"], "-out", folder["server.crt"])
      try writeFile(
        folder["server.pem"], folder.read("server.key") + folder.read("server.crt"))
      try writeFile(folder["users"], Array("ada:right\n".utf8))
    }
  }

  private static func configure(
    _ kind: Kind, in folder: TemporaryFolder, port: UInt16, _ readers: Readers
  ) throws {
    switch kind {
    case .daemon, .folder: return
    case .ssh:
      // Where sshd puts those who are not let in yet.
      if geteuid() == 0 { try makeFolder("/run/sshd") }
      try folder.write(
        """
        ListenAddress 127.0.0.1
        Port \(port)
        HostKey \(folder["host"])
        AuthorizedKeysFile \(folder["authorized"])
        PidFile none
        StrictModes no
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        PermitRootLogin prohibit-password
        MaxStartups 100

        """, to: "sshd.conf")
    case .https:
      try folder.write(
        """
        server.modules = ("mod_openssl", "mod_auth", "mod_authn_file", "mod_alias", "mod_setenv", \
        "mod_cgi")
        server.document-root = "\(folder["repositories"])"
        server.bind = "127.0.0.1"
        server.port = \(port)
        ssl.engine = "enable"
        ssl.pemfile = "\(folder["server.pem"])"
        auth.backend = "plain"
        auth.backend.plain.userfile = "\(folder["users"])"
        \(password(for: readers))
        alias.url = ("/git/" => "/usr/lib/git-core/git-http-backend/")
        setenv.add-environment = ("GIT_PROJECT_ROOT" => "\(folder["repositories"])", \
        "GIT_CONFIG_COUNT" => "1", "GIT_CONFIG_KEY_0" => "safe.directory", \
        "GIT_CONFIG_VALUE_0" => "*")
        cgi.assign = ("" => "")

        """, to: "lighttpd.conf")
    }
  }

  /// The lines of lighttpd's settings about who needs a password.
  private static func password(for readers: Readers) -> String {
    let required =
      "auth.require = (\"/git/\" => (\"method\" => \"basic\", \"realm\" => \"notes\", "
      + "\"require\" => \"valid-user\"))"
    return switch readers {
    case .users: required
    case .everybody:
      "$HTTP[\"querystring\"] =~ \"git-receive-pack\" { \(required) }\n"
        + "$HTTP[\"url\"] =~ \"/git-receive-pack$\" { \(required) }"
    case .nobodyWrites: ""
    }
  }

  private static func command(
    _ kind: Kind, in folder: TemporaryFolder, port: UInt16
  ) -> [String] {
    switch kind {
    case .ssh: ["/usr/sbin/sshd", "-D", "-e", "-f", folder["sshd.conf"]]
    case .https: ["/usr/sbin/lighttpd", "-D", "-f", folder["lighttpd.conf"]]
    case .daemon:
      [
        "git", "daemon", "--listen=127.0.0.1", "--port=\(port)", "--reuseaddr",
        "--enable=receive-pack", "--base-path=" + folder["repositories"], "--export-all",
      ]
    case .folder: []
    }
  }
}

/// Ports of this machine.
public enum LoopbackPort {
  /// One at which nobody listens now.
  public static func free() throws -> UInt16 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = Self.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
      }
    }
    guard status else { throw SystemError("bind", "127.0.0.1") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits until somebody listens at a port; false when `isMeant` no longer holds before, or it takes
  /// more than 20 seconds.
  public static func waits(_ port: UInt16, while isMeant: () -> Bool) -> Bool {
    let end = Instant.now + 80
    while Instant.now < end, isMeant() {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      if connects(socket, to: port) { return isMeant() }
      Poll.wait(for: [], until: .after(seconds: 0.02))
    }
    return false
  }

  /// Connects a socket to a port; false where nobody listens there.
  static func connects(_ socket: Int32, to port: UInt16) -> Bool {
    var address = Self.address(port)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return address
  }
}
