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
    // Before there are threads: nothing of the user's takes part where git runs.
    for (name, value) in [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")] {
      setenv(name, value, 1)
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
    let count = only == nil ? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) : 1
    let workers = (0..<count).map { _ in EventLog<Bool>() }
    for worker in workers {
      startThread {
        while total.withLock({ $0.steps < wanted && $0.failures.isEmpty }) {
          let number = only ?? next.wrappingAdd(1, ordering: .relaxed).oldValue
          let played = Self.play(number, seed: seed)
          total.withLock { $0.add(played) }
          if only != nil { break }
        }
        worker.append(true)
      }
    }
    for worker in workers { _ = worker.wait(within: 86_400) { !$0.isEmpty } }
    let result = total.withLock { $0 }
    result.report(seconds: (clock.now - began) / .seconds(1))
    for failure in result.failures { print("scripts/crowd \(seed) \(failure)") }
    return result.failures.isEmpty
  }

  /// How many devices a world has. One of 64 costs more than all the others before it, which 3,000 steps are enough
  /// for.
  private static func size(of number: Int) -> Int {
    switch number % 40 {
    case 9: 64
    case 11, 31: 20
    default: [2, 3, 4, 5, 6, 8, 3, 12][number % 8]
    }
  }

  /// One world in ten shares a hub. Each visit to it starts two or three processes, so these are small.
  private static func sharesHub(_ number: Int) -> Bool { number % 10 == 7 }

  /// A world follows from the seed and its number alone.
  private static func play(_ number: Int, seed: UInt64) -> Total {
    var random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    let sharesHub = sharesHub(number)
    let size = sharesHub ? min(size(of: number), 6) : size(of: number)
    var total = Total()
    do {
      let folder = try MemoryFolder()
      let steps = 200 + size * Int.random(in: size > 20 ? 8..<16 : 20..<60, using: &random)
      let transfer: CrowdTransfer = Bool.random(using: &random) ? .packs : .objects
      let world = try CrowdWorld(
        size: size, folder: folder.path, transfer: transfer, sharesHub: sharesHub, random: random)
      var place = "play"
      do {
        try world.play(steps)
        place = "settling"
        total.slack = try world.settle() - world.mostRounds
        folder.remove((0..<size).map(String.init) + [CrowdHub.name])
      } catch {
        total.failures.append(
          "world \(number): \(size) devices, \(transfer), step \(world.steps), \(place):"
            + " \(error)\nKept in \(folder.path)")
      }
      total.steps = world.steps
      total.counts = world.counts
      total.messages = world.network.counts
      total.worlds = [size: 1]
      total.hubs = world.hub?.counts ?? [:]
      total.worldsWithHub = sharesHub ? 1 : 0
    } catch {
      total.failures.append("world \(number): \(error)")
    }
    return total
  }

  private struct Total: Sendable {
    var steps = 0
    var counts: [String: Int] = [:]
    var messages: [String: Int] = [:]
    /// What happened at hubs, and in how many worlds there is one.
    var hubs: [String: Int] = [:]
    var worldsWithHub = 0
    /// How many worlds of each size.
    var worlds: [Int: Int] = [:]
    /// How many rounds more than the diameter it took to settle, at most.
    var slack: Int?
    var failures: [String] = []

    mutating func add(_ other: Total) {
      steps += other.steps
      counts.merge(other.counts) { $0 + $1 }
      messages.merge(other.messages) { $0 + $1 }
      hubs.merge(other.hubs) { $0 + $1 }
      worldsWithHub += other.worldsWithHub
      worlds.merge(other.worlds) { $0 + $1 }
      slack = [slack, other.slack].compactMap { $0 }.max()
      failures += other.failures
    }

    func report(seconds: Double) {
      func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      }
      let sizes = worlds.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
      print(
        """
        \(steps) steps in \(Int(seconds)) s, \(Int(Double(steps) / max(seconds, 0.001))) a second:\
         \(list(counts))
        besides: \(list(messages))
        worlds: \(worlds.values.reduce(0, +)), devices: \(sizes.joined(separator: ", "))
        worlds whose devices share only a hub: \(worldsWithHub): \(list(hubs))
        rounds to settle: at most the network's diameter, with a hub twice that, + (\(slack ?? 0))
        """)
    }
  }
}
