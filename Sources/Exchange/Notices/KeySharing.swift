internal import Git
internal import Glibc
internal import Membership
internal import Notebook
public import State
public import System

/// The record `.git/notes/shared-key`: that another machine uses this device's key, and the former key that
/// this machine left to that machine. notes-security(7), "A key on two machines".
public struct KeySharing: Sendable {
  /// The evidence for another machine with the same key.
  public struct Notice: Hashable, Sendable {
    /// When the other machine was connected, in seconds since 1970.
    public let time: Int64
    /// The name of the device that connected to both machines; nil if this machine connected to the
    /// other.
    public let witness: String?
  }

  private let path: String

  /// How long evidence counts, in seconds.
  static let memory: Int64 = 24 * 3600
  /// How often the sharing of the key is reported, in seconds.
  private static let pace: Int64 = 3600

  /// The evidence in this state folder.
  public init(stateFolder: StateFolder) { path = stateFolder[.sharedKey] }

  private var lines: StateLines {
    Disk.memory(at: path, limit: ProtocolLimits.messageBytes) { $0 } ?? StateLines()
  }

  /// The evidence of the last day that another machine uses this device's key; nil if there is
  /// none.
  public func notice(of device: String, now: Int64 = WallClock.now()) -> Notice? {
    let lines = lines
    guard lines["device"] == device, let time = lines[number: "time"], time > now - Self.memory
    else { return nil }
    return Notice(time: time, witness: lines["witness"])
  }

  /// Records a connection with the other machine.
  ///
  /// - Returns: whether to report it, which happens once an hour.
  func record(_ notice: Notice, of device: String, now: Int64 = WallClock.now()) throws -> Bool {
    let lines = lines
    let isKnown = lines["device"] == device
    let told = isKnown ? lines[number: "told"] : nil
    let isDue = told.map { !($0...($0 + Self.pace)).contains(now) } ?? true
    let latest = isKnown ? max(notice.time, lines[number: "time"] ?? 0) : notice.time
    let new = StateLines([
      "device": device, "time": latest, "witness": notice.witness, "told": isDue ? now : told,
      "left": left,
    ])
    try Disk.replace(path, with: new.bytes, isShared: true, waits: false)
    return isDue
  }

  /// The device ID of the key that this machine had before its present one; nil if it had none.
  var left: String? { lines["left"] }

  /// Records that this machine has changed to a new key, and drops the evidence about the former
  /// one.
  func leave(_ device: String) throws {
    try Disk.replace(path, with: StateLines(["left": device]).bytes, isShared: true, waits: false)
  }

  /// Drops the evidence: the other machine has its own key now.
  func settle() throws {
    try Disk.replace(path, with: StateLines(["left": left]).bytes, isShared: true, waits: false)
  }
}

extension SessionContext {
  /// An ID that distinguishes this machine from others with the same key, until its next start; nil if the
  /// kernel has no boot ID. notes-protocol(7), hello, `machine`.
  func machine() throws -> ObjectID? {
    let run = MachineStart.present.id
    if run.isEmpty { return nil }
    let parts = ["notes machine 1", key.deviceID, run, "\(geteuid())", key.folder ?? ""]
    return try ObjectID.digest(ofBlob: Array(parts.joined(separator: "\0").utf8))
  }
}
