import Glibc
import TestSupport
import Testing

/// Design, promises 1, 3 and 5, and notes-save(1), "After a power cut", on file systems whose disk is
/// recorded: every write and flush. `scripts/power-cuts` plays many more cuts.
@Suite("The power is cut amid saving, syncing and watching", .serialized)
struct PowerCutTests {
  static let script = BuiltBinary.sourceFolder + "/scripts/power-cuts"

  /// Whether this machine records and mounts that file system.
  static func isToBeHad(_ kind: String) -> Bool {
    (try? run([script, "--can", kind]))?.isSuccess == true
  }

  private func play(_ kind: String) throws {
    var random = SplitMix64.reported(for: "power cuts on \(kind)")
    let seed = random.next() >> 16
    let notes = try BuiltBinary.notes()
    let cuts = TestEnvironment.amount(7, inFull: 20)
    let result = try run(
      [Self.script, "--cuts", "\(cuts)", "--seed", "\(seed)", "--binary", notes, kind], within: 900)
    print(result.text)
    #expect(result.isSuccess, "scripts/power-cuts --seed \(seed) \(kind): \(result.errorText)")
  }

  @Test("ext4", .enabled("this machine records no ext4 disk") { isToBeHad("ext4") })
  func ext4() throws { try play("ext4") }

  @Test("xfs", .enabled("this machine records no xfs disk") { isToBeHad("xfs") })
  func xfs() throws { try play("xfs") }

  @Test("btrfs", .enabled("this machine records no btrfs disk") { isToBeHad("btrfs") })
  func btrfs() throws { try play("btrfs") }
}
