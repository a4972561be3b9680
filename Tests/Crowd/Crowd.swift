import Glibc
import Synchronization
import TestSupport

/// Simulates crowds of devices until so many steps have been made, and checks what must hold.
///
///     Crowd SEED STEPS          many worlds, of 2 to 64 devices
///     Crowd SEED world NUMBER   one of them again
///
/// Exits with 1 at the first failure, which says how to see it again.
@main
struct Crowd {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    let numbers = words.compactMap { UInt64($0) }
    guard numbers.count == 2 else {
      print("usage: Crowd SEED STEPS | Crowd SEED world NUMBER")
      exit(64)
    }
    let only = words.contains("world") ? Int(numbers[1]) : nil
    let steps = only == nil ? Int(numbers[1]) : 1
    exit(Self.play(seed: numbers[0], steps: steps, only: only) ? 0 : 1)
  }

  /// Plays until that many steps have been made, or one world only; false when something failed.
  private static func play(seed: UInt64, steps wanted: Int, only: Int?) -> Bool {
    let clock = ContinuousClock()
    let began = clock.now
    let total = Mutex(Total())
    let next = Atomic(0)
    let workers = (0..<2).map { _ in EventLog<Bool>() }
    for worker in workers {
      startThread {
        while total.withLock({ $0.steps < wanted && $0.failures.isEmpty }) {
          let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
          if only != nil, number > 0 { break }
          let played = Self.play(only ?? number, seed: seed)
          total.withLock { $0.add(played) }
        }
        worker.append(true)
      }
    }
    for worker in workers { _ = worker.wait(within: 86_400) { !$0.isEmpty } }
    let result = total.withLock { $0 }
    let kinds = result.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    print(
      "\(result.steps) steps (\(kinds.joined(separator: ", "))) in \(result.worlds) worlds of"
        + " 2 to \(result.largest) devices, settled in at most the network's"
        + " diameter + (\(result.slack ?? 0)) rounds, \(Int((clock.now - began) / .seconds(1))) s")
    for failure in result.failures { print("scripts/crowd \(seed) \(failure)") }
    return result.failures.isEmpty
  }

  /// A world follows from the seed and its number alone.
  private static func play(_ number: Int, seed: UInt64) -> Total {
    var random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    let size = [2, 3, 3, 4, 5, 6, 8, 12, 20, 64][number % 10]
    var total = Total()
    do {
      let folder = try MemoryFolder()
      defer { folder.remove((0..<size).map(String.init)) }
      let steps = 200 + size * Int.random(in: 20..<60, using: &random)
      let world = try CrowdWorld(size: size, folder: folder.path, random: random)
      do {
        try world.play(steps)
        let (rounds, diameter) = try world.settle()
        total.slack = rounds - diameter
      } catch {
        total.failures.append(
          "world \(number): \(size) devices, step \(world.steps): \(error)")
      }
      total.steps = world.steps
      total.counts = world.counts
      total.worlds = 1
      total.largest = size
    } catch {
      total.failures.append("world \(number): \(error)")
    }
    return total
  }

  private struct Total: Sendable {
    var steps = 0
    var counts: [String: Int] = [:]
    var worlds = 0
    var largest = 0
    /// How many rounds more than the diameter it took to settle, at most.
    var slack: Int?
    var failures: [String] = []

    mutating func add(_ other: Total) {
      steps += other.steps
      counts.merge(other.counts) { $0 + $1 }
      worlds += other.worlds
      largest = max(largest, other.largest)
      slack = [slack, other.slack].compactMap { $0 }.max()
      failures += other.failures
    }
  }
}
