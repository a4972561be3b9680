public import Glibc

/// One run of the machine, from its start on.
public struct MachineStart: Sendable {
  /// The kernel's random ID of the run (random(4), `boot_id`); empty where it has none.
  public let id: String
  /// When the run began, a second early at most.
  public let time: timespec

  /// A run of that ID, from that time on.
  public init(id: String, time: timespec) { (self.id, self.time) = (id, time) }

  /// The present run.
  public static var present: MachineStart {
    let text = FileSystem<SystemCallError>.contentIfAny("/proc/sys/kernel/random/boot_id")
    let id = String(decoding: text ?? [], as: UTF8.self).filter { !$0.isWhitespace }
    return MachineStart(id: id, time: WallClock.startOfMachine)
  }

  /// Whether a file with that time was written before, or by a clock that ran ahead of the present one,
  /// as on a machine whose clock does not run while it is off.
  public func isLater(than seconds: Int64) -> Bool {
    seconds < Int64(time.tv_sec) || seconds > WallClock.now()
  }
}
