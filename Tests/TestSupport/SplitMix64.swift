/// A small random number generator whose whole state is its seed (Steele, Lea and Flood 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The generator that yields the same numbers for the same seed, everywhere.
  public init(seed: UInt64) {
    state = seed
  }

  /// A generator for one test run. It prints its seed; `NOTES_TEST_SEED=<seed>` in the environment
  /// replays the run.
  public static func reported(for test: String = #function) -> SplitMix64 {
    var system = SystemRandomNumberGenerator()
    let given = TestEnvironment.variable("NOTES_TEST_SEED").flatMap { UInt64($0) }
    let seed = given ?? system.next() >> 16
    print("\(test): NOTES_TEST_SEED=\(seed)")
    return SplitMix64(seed: seed)
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
