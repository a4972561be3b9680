public import Glibc

/// One boot of the machine.
public struct MachineStart: Sendable {
  /// The kernel's random boot ID (random(4), `boot_id`); empty if it has none.
  public let id: String
  /// When the machine was started; may be up to a second early.
  public let time: timespec

  /// A boot with that ID and start.
  public init(id: String, time: timespec) { (self.id, self.time) = (id, time) }

  /// The present boot.
  public static var present: MachineStart {
    let text = FileSystem<SystemCallError>.contentIfAny("/proc/sys/kernel/random/boot_id")
    let id = String(decoding: text ?? [], as: UTF8.self).filter { !$0.isWhitespace }
    return MachineStart(id: id, time: WallClock.startOfMachine)
  }

  /// Whether the machine started after a file's time. Also true if that time is in the future, as on a machine
  /// whose clock does not run while it is off.
  public func isLater(than seconds: Int64) -> Bool {
    seconds < Int64(time.tv_sec) || seconds > WallClock.now()
  }
}
