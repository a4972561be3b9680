import TestSupport
import Testing

/// Design, promises 1 to 4, against whatever people and machines do at once.
@Suite("Three devices, editors of eight kinds, kills, stops, clocks, power cuts and git by hand")
struct ChaosTests {
  static let script = BuiltBinary.sourceFolder + "/scripts/chaos"

  /// Power cuts are played by another boot ID, which takes a mount namespace.
  static let isToBeHad =
    (try? run(["unshare", "--mount", "mount", "--bind", "/dev/null", bootID]))?.isSuccess == true
  private static let bootID = "/proc/sys/kernel/random/boot_id"

  @Test(
    "no text that was said to be saved is lost, and all come to one tip",
    .enabled("this machine allows no mount namespaces") { isToBeHad })
  func play() throws {
    var random = SplitMix64.reported()
    let seed = random.next() >> 32
    let notes = try BuiltBinary.notes()
    let seconds = TestEnvironment.amount(8, inFull: 20)
    let result = try run(
      [Self.script, "--seconds", "\(seconds)", "--seed", "\(seed)", "--binary", notes], within: 900)
    print(result.text)
    #expect(result.isSuccess, "\(result)")
  }

  @Test("commands are killed at a hub: no lock is left, and no saved line is lost")
  func hubKills() throws {
    var random = SplitMix64.reported()
    let kills = TestEnvironment.amount(25, inFull: 50)
    let result = try run(
      [
        Self.script, "--hub-kills", "\(kills)", "--seed", "\(random.next() >> 32)", "--binary",
        try BuiltBinary.notes(),
      ], within: 600)
    print(result.text)
    #expect(result.isSuccess, "\(result)")
  }
}
