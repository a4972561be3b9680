internal import Git
internal import Glibc
public import State
internal import System

/// The addresses at which peers were last reached: `.git/notes/addresses`, lines `DEVICE-ID HOST:PORT`. They
/// are used if discovery finds none. A device at such an address must still authenticate.
public struct PeerAddresses {
  private let path: String

  /// The record in this state folder.
  public init(stateFolder: StateFolder) { path = stateFolder[.addresses] }

  static let capacity = 256

  /// The addresses by device ID; empty if there are none.
  public func all() -> [String: Address] {
    let known = Disk.memory(at: path, limit: ProtocolLimits.messageBytes) {
      content throws(StateDamage) in
      var known: [String: Address] = [:]
      for line in content.lines {
        guard let address = Address(parsing: line.value) else {
          throw StateDamage(path, "a line is no address")
        }
        known[line.key] = address
      }
      return known
    }
    return known ?? [:]
  }

  func remember(_ address: Address, of device: String) throws {
    var known = all()
    if known[device] == address { return }
    if known.count >= Self.capacity { known.removeAll() }
    known[device] = address
    var lines = StateLines()
    for (device, address) in known.sorted(by: { $0.key < $1.key }) {
      lines.append(device, address.description)
    }
    // Several sessions may begin at the same time.
    try Disk.replace(path, with: lines.bytes, isShared: true, waits: false)
  }
}

/// When other devices were last connected, and on which machines: `.git/notes/seen/DEVICE-ID`, a file for
/// each device, whose modification time is that time. With separate files, sessions on several threads do
/// not interfere.
public struct PeerSightings: Sendable {
  private let folder: String

  /// The record in this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.seen] }

  /// When this device last had a session with the other, in seconds since 1970 by its own clock;
  /// nil if it never had.
  public func last(of device: String) -> Int64? {
    var status = stat()
    guard Self.isName(device), Counted.stat("\(folder)/\(device)", &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec)
  }

  /// Records that the device is connected now, on that machine. The record is only for people: if it
  /// cannot be written, the session continues.
  func record(_ device: String, on machine: ObjectID?, now: Int64 = WallClock.now()) {
    guard Self.isName(device) else { return }
    mkdir(folder, 0o700)
    if let machine { record(machine, of: device, now) }
    let file = open("\(folder)/\(device)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    futimens(file, nil)
    close(file)
  }

  /// How many machines of a device are recorded.
  private static let machines = 4

  private func lines(of device: String) -> StateLines {
    Disk.memory(at: "\(folder)/\(device)", limit: ProtocolLimits.messageBytes) { $0 }
      ?? StateLines()
  }

  /// Records a machine. If a machine is back after another one, it was not restarted in between: two machines
  /// use the device's key.
  private func record(_ machine: ObjectID, of device: String, _ now: Int64) {
    let former = lines(of: device)
    let known = former.values(of: "machine")
    if known.first == machine.hex { return }
    var lines = StateLines()
    let shared = known.contains(machine.hex) ? "\(now)" : former["shared"]
    if let shared { lines.append("shared", shared) }
    for name in ([machine.hex] + known.filter { $0 != machine.hex }).prefix(Self.machines) {
      lines.append("machine", name)
    }
    lines.keepReport(of: former)
    // If the record cannot be written, a later command warns.
    try? Disk.replace("\(folder)/\(device)", with: lines.bytes, isShared: true, waits: false)
  }

  /// How many seconds ago two machines alternated with the device's key; nil if that did not happen in
  /// the last day.
  func sharing(of device: String, now: Int64 = WallClock.now()) -> Int64? {
    guard Self.isName(device), let time = lines(of: device)[number: "shared"],
      (0..<KeySharing.memory).contains(now - time)
    else { return nil }
    return now - time
  }

  /// The meetings with some of these devices, the latest first, for this device's report to a member.
  func said(of devices: [String], now: Int64 = WallClock.now()) -> [CarriedMeeting] {
    devices
      .compactMap { device in
        last(of: device).map {
          let days = min(max(0, now - $0) / 86_400, CarriedMeeting.mostDays)
          return CarriedMeeting(device: device, days: days)
        }
      }
      .sorted { ($0.days, $0.device) < ($1.days, $1.device) }
      .prefix(ProtocolLimits.meetings).map(\.self)
  }

  /// Records a member's report, replacing its last one.
  func record(_ said: [CarriedMeeting], of device: String, now: Int64 = WallClock.now()) {
    let former = lines(of: device)
    var lines = StateLines(["shared": former["shared"], "reported": said.count])
    for machine in former.values(of: "machine") { lines.append("machine", machine) }
    for one in said where Self.isName(one.device) {
      lines.append("met", "\(one.device) \(now - one.days * 86_400)")
    }
    if lines.bytes == former.bytes { return }
    // Without the record, `notes doctor` shows less.
    try? Disk.replace("\(folder)/\(device)", with: lines.bytes, isShared: true, waits: false)
  }

  /// A member's report of the devices to which it connected.
  public struct Report: Hashable, Sendable {
    /// When it was last connected to each device, in seconds since 1970, or up to a day before.
    public let met: [String: Int64]
    /// Whether the report lists all present members to which the reporting member ever connected.
    public let isWhole: Bool
  }

  /// A member's last report; nil if there is none.
  public func report(of device: String) -> Report? {
    guard Self.isName(device) else { return nil }
    let lines = lines(of: device)
    guard let count = lines[number: "reported"] else { return nil }
    let met = lines.values(of: "met").compactMap { value -> (String, Int64)? in
      let words = value.split(separator: " ")
      guard words.count == 2, let time = Int64(words[1]) else { return nil }
      return (String(words[0]), time)
    }
    return Report(
      met: Dictionary(met) { first, _ in first }, isWhole: count < ProtocolLimits.meetings)
  }

  /// Drops a device's machines: one of them has its own key now.
  func forgetMachines(of device: String) {
    guard let time = last(of: device) else { return }
    var lines = StateLines()
    lines.keepReport(of: self.lines(of: device))
    // If the file cannot be written, the warning stays for a day.
    try? Disk.replace(
      "\(folder)/\(device)", with: lines.bytes, isShared: true, waits: false)
    // The device itself is not connected now, so its time stays.
    let met = timespec(tv_sec: Int(time), tv_nsec: 0)
    utimensat(AT_FDCWD, "\(folder)/\(device)", [met, met], AT_SYMLINK_NOFOLLOW)
  }

  /// Whether the text may be a file name: device IDs are letters and digits.
  private static func isName(_ device: String) -> Bool {
    (1...64).contains(device.utf8.count)
      && device.utf8.allSatisfy { (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) }
  }
}

extension StateLines {
  /// Keeps from an earlier record the member's report of the devices to which it connected.
  fileprivate mutating func keepReport(of former: StateLines) {
    guard let count = former["reported"] else { return }
    append("reported", count)
    for value in former.values(of: "met") { append("met", value) }
  }
}
