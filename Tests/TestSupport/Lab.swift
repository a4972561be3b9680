internal import Glibc

/// Several hosts on one network, each with its own network namespace, D-Bus and Avahi daemon: what
/// two or more computers on a desk look like to the programs that run on them.
///
/// Everything lives in namespaces that no name refers to, and ends with the processes in them: when a
/// test is killed, the kernel and `scripts/lab-host` clean up.
public final class Lab: Sendable {
  public let hosts: [LabHost]
  private let wire: LabHost
  private let folder: TemporaryFolder

  /// Starts `count` hosts joined by a switch, at 10.77.0.1, 10.77.0.2 and so on, with link-local IPv6.
  /// `hasIPv4: false` leaves them the link-local addresses alone, `discovery: false` leaves D-Bus and
  /// Avahi out. Needs root, or to be root in a user namespace;
  /// throws where namespaces are not allowed.
  public init(hosts count: Int, hasIPv4: Bool = true, discovery: Bool = true) throws {
    folder = try TemporaryFolder()
    wire = try LabHost(name: "wire", number: 0, in: folder, discovery: false)
    try wire.ip("link add br0 type bridge forward_delay 0 mcast_snooping 0")
    try wire.ip("link set br0 up")
    var hosts: [LabHost] = []
    for number in 1...count {
      let host = try LabHost(
        name: "host\(number)", number: number, in: folder, discovery: discovery)
      try wire.ip("link add port\(number) type veth peer name eth0 netns \(host.namespacePID)")
      try wire.ip("link set port\(number) master br0 up")
      // Without duplicate address detection the link-local address works at once.
      try host.setting("net.ipv6.conf.eth0.accept_dad", "0")
      if hasIPv4 { try host.ip("addr add \(host.address)/24 dev eth0") }
      try host.ip("link set eth0 up")
      hosts.append(host)
    }
    self.hosts = hosts
    for host in [wire] + hosts { try host.begin() }
    for host in [wire] + hosts { try host.awaitReadiness() }
  }

  /// Moves hosts to another network, which nothing connects with the first.
  public func separate(_ hosts: some Sequence<LabHost>) throws {
    try wire.ip("link add br1 type bridge forward_delay 0 mcast_snooping 0")
    try wire.ip("link set br1 up")
    for host in hosts { try wire.ip("link set port\(host.number) master br1") }
  }

  /// Pulls a host's cable, or plugs it in again.
  public func setConnected(_ host: LabHost, _ isConnected: Bool) throws {
    try wire.ip("link set port\(host.number) \(isConnected ? "up" : "down")")
  }
}

/// One host of a `Lab`.
public final class LabHost: Sendable {
  public let name: String
  /// Its IPv4 address; eth0 has a link-local IPv6 address too.
  public let address: String
  /// A folder of its own, the home of its user.
  public let home: String
  /// What a program on this host sees: `TestEnvironment.isolated` and this host's system bus.
  public let environment: [String: String]

  /// From 1.
  public let number: Int
  /// The address of the host's system bus, as DBUS_SYSTEM_BUS_ADDRESS holds it.
  public let busAddress: String

  private let keeper: RunningProcess

  fileprivate init(
    name: String, number: Int, in folder: TemporaryFolder, discovery: Bool
  ) throws {
    self.name = name
    self.number = number
    address = "10.77.0.\(number)"
    home = folder[name]
    try makeFolder(folder["\(name).state/private"])
    let state = folder["\(name).state"]
    var environment = try TestEnvironment.isolated(home: home)
    busAddress = "unix:path=\(state)/bus"
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = busAddress
    self.environment = environment
    let script = "\(BuiltBinary.sourceFolder)/scripts/lab-host"
    keeper = try RunningProcess(
      ["unshare", "--net", "--mount", script, state, name]
        + (discovery ? [] : ["no-discovery"]),
      environment: environment)
    _ = try keeper.line { $0 == "namespace" }
  }

  deinit {
    // At the end of its input the keeper ends what still runs on the host.
    keeper.closeInput()
    _ = try? keeper.wait(within: 40)
  }

  /// Runs a program on this host to its end.
  public func run(
    _ command: [String], in folder: String? = nil, adding variables: [String: String] = [:],
    input: [UInt8] = [], within seconds: Double = 180
  ) throws -> ProcessResult {
    try TestSupport.run(
      inside(command), in: folder ?? home, environment: merged(variables), input: input,
      within: seconds)
  }

  /// Starts a program on this host that runs while the test goes on.
  public func start(
    _ command: [String], in folder: String? = nil, adding variables: [String: String] = [:]
  ) throws -> RunningProcess {
    try RunningProcess(
      inside(command), in: folder ?? home, environment: merged(variables))
  }

  /// A daemon of the host.
  public enum Daemon: String, Sendable { case avahi, bus }

  /// Ends a daemon.
  public func stop(_ daemon: Daemon) throws { try order("stop \(daemon)") }

  /// Starts a daemon that was ended.
  public func start(_ daemon: Daemon) throws { try order("start \(daemon)") }

  /// Makes a daemon stop answering without ending.
  public func pause(_ daemon: Daemon) throws { try order("pause \(daemon)") }

  /// Ends what `pause` began.
  public func resume(_ daemon: Daemon) throws { try order("resume \(daemon)") }
}

extension LabHost {
  var namespacePID: pid_t { keeper.pid }

  func begin() throws { keeper.writeLine("begin") }

  func awaitReadiness() throws { _ = try keeper.line { $0 == "ready" } }

  func ip(_ arguments: String) throws {
    let result = try run(["ip"] + arguments.split(separator: " ").map(String.init))
    guard result.isSuccess else { throw LabError(result: result) }
  }

  func setting(_ name: String, _ value: String) throws {
    let path = "/proc/sys/\(name.split(separator: ".").joined(separator: "/"))"
    let result = try run(["sh", "-c", "echo \(value) >\(path)"])
    guard result.isSuccess else { throw LabError(result: result) }
  }

  private func order(_ line: String) throws {
    keeper.writeLine(line)
    _ = try keeper.line { $0 == "done" }
  }

  /// `nsenter` runs the program in its own place: the process is the program's.
  private func inside(_ command: [String]) -> [String] {
    ["nsenter", "--net", "--mount", "--target", String(keeper.pid), "--wd=.", "--"] + command
  }

  private func merged(_ variables: [String: String]) -> [String: String] {
    environment.merging(variables) { _, new in new }
  }
}

/// A command that a laboratory needs failed.
public struct LabError: Error, CustomStringConvertible {
  let result: ProcessResult
  public var description: String {
    "\(result)\nA laboratory of hosts needs network namespaces: run as root, or in one's own user "
      + "namespace (unshare --map-root-user --net --mount)."
  }
}
