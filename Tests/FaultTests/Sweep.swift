import Glibc
import Synchronization
import TestSupport
import Testing

/// What came of a play with a fault in it.
enum Play: String, Sendable {
  /// The call was not met: with several threads the number of calls varies.
  case unreached
  /// The run came to its end all the same.
  case harmless
  /// It died or failed.
  case broken
}

/// Plays every fault at every call of a run, or with many of them a choice, several at a time: first one
/// of each place in the code that makes calls, then others.
///
/// `NOTES_FAULTS=all` leaves none out, and `NOTES_FAULTS=2/5` plays the second of five parts of all;
/// then a line every ten seconds says how far it is. `NOTES_FAULTS_RECORD` names a file with what was
/// played before, which is not played again; `NOTES_FAULTS_JOBS` says how many play at a time, and
/// `NOTES_FAULTS_LIST` tells all that was found.
struct Sweep {
  /// What is run.
  let subject: String
  /// Its calls that change the file system: `KIND PATH`.
  let calls: [String]
  let faults: [Fault]
  /// How many interruptions at the most.
  let budget: Int
  /// Fewer calls than these are too few to be all.
  var fewestCalls = 60
  /// The first call that is interrupted, counted from 1.
  var first = 1

  func run(_ interrupt: @escaping @Sendable (_ point: Int, Fault) throws -> Play) throws {
    try #require(calls.count >= fewestCalls, "\(subject) makes few calls: are they seen?")
    let began = Moment.now
    let all = all
    var random = SplitMix64.reported(for: subject)
    let wanted = TestEnvironment.variable("NOTES_FAULTS") ?? ""
    let part = wanted.split(separator: "/").compactMap { Int($0) }
    let isWhole = part.count == 2 || wanted == "all"
    let chosen =
      part.count == 2
      ? all.enumerated().filter { $0.offset % part[1] == part[0] - 1 }.map(\.element)
      : isWhole ? all : choice(using: &random)

    let record = FaultRecord()
    let tally = Tally(record.plays(of: subject, among: chosen))
    let missing = chosen.filter { !tally.knows($0) }
    let jobs = TestEnvironment.variable("NOTES_FAULTS_JOBS").flatMap { Int($0) } ?? 2
    let next = Atomic(0)
    let ends = EventLog<Bool>()
    for _ in 0..<jobs {
      startThread {
        while true {
          let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard index < missing.count else { break }
          let place = missing[index]
          do {
            let play = try interrupt(place.point, place.fault)
            tally.add(play, at: place)
            record.add(play, of: subject, at: place)
          } catch {
            tally.add(violation: "\(error)")
          }
        }
        ends.append(true)
      }
    }
    while !ends.wait(within: isWhole ? 10 : 3_600, until: { $0.count == jobs }) {
      guard isWhole else { break }
      let done = min(next.load(ordering: .relaxed), missing.count)
      let left = (Moment.now - began) / Double(max(done, 1)) * Double(missing.count - done)
      say(
        "\(subject): \(chosen.count - missing.count + done) of \(chosen.count),"
          + " \(tally.violations.count) violations, about \(Int(left)) s left")
    }
    #expect(ends.all.count == jobs, "it took too long")
    say(summary(of: tally, chosen.count, of: all.count, seconds: Moment.now - began))
    // With several threads, a call more or less is made.
    #expect(
      tally.places(of: .unreached).count <= chosen.count / 10 + 1, "faults are not met any more")
    let found = tally.violations
    #expect(found.isEmpty, "\(found.count) violations, the first: \(found.first ?? "")")
    if TestEnvironment.variable("NOTES_FAULTS_LIST") != nil {
      found.forEach(say)
      for place in tally.places(of: .harmless) {
        say("harmless: \(place.fault) \(calls[place.point - 1])")
      }
    }
  }

  /// All that can be done to the run.
  private var all: [FaultPlace] {
    faults.flatMap { fault in
      (first...calls.count).compactMap { point in
        let kind = String(calls[point - 1].prefix { $0 != " " })
        switch fault {
        // Torn differs from killed only in writes.
        case .torn: if kind != "write" && kind != "pwrite" { return nil }
        // A disk that is full from here on is met by the next call that needs room.
        case .stays(ENOSPC): if Self.needsNoRoom.contains(kind) { return nil }
        default: break
        }
        return FaultPlace(point: point, fault: fault)
      }
    }
  }

  /// A random choice within the budget, in which each site comes once before one comes twice.
  private func choice(using random: inout SplitMix64) -> [FaultPlace] {
    var counts: [String: Int] = [:]
    let ranked = all.shuffled(using: &random).map { place -> (rank: Int, place: FaultPlace) in
      let site = site(of: place)
      counts[site, default: 0] += 1
      return (counts[site, default: 0], place)
    }
    let order = ranked.indices.sorted { (ranked[$0].rank, $0) < (ranked[$1].rank, $1) }
    return order.prefix(budget).map { ranked[$0].place }
  }

  /// What tells where in the code a call is made: the call, and its path without what differs from file
  /// to file.
  private func site(of place: FaultPlace) -> String {
    calls[place.point - 1].split(separator: "/").map { part in
      part.contains(where: \.isNumber) ? "#" : String(part)
    }.joined(separator: "/")
  }

  private static let needsNoRoom: Set = ["unlink", "rmdir", "chmod", "utimes", "sync-range"]

  private func summary(of tally: Tally, _ played: Int, of all: Int, seconds: Double) -> String {
    let kinds = Dictionary(grouping: calls) { $0.prefix { $0 != " " } }
      .map { "\($0.value.count) \($0.key)" }.sorted().joined(separator: ", ")
    let (broken, harmless) = (tally.places(of: .broken).count, tally.places(of: .harmless).count)
    let sites = Set(self.all.map(site)).count
    return "\(subject): \(calls.count) calls (\(kinds)) at \(sites) sites,"
      + " \(played) of \(all) faults"
      + " (\(faults.map(\.description).joined(separator: "; "))): \(broken + harmless) reached,"
      + " \(harmless) of them harmless, \(tally.violations.count) violations, \(Int(seconds)) s"
  }

  /// A line at once, whatever else is printed.
  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}

/// A fault, and the call that it befalls, counted from 1.
struct FaultPlace: Hashable, Sendable {
  let point: Int
  let fault: Fault
}

/// What came of the plays so far.
private final class Tally: Sendable {
  private let state: Mutex<(plays: [FaultPlace: Play], violations: [String])>

  init(_ plays: [FaultPlace: Play]) { state = Mutex((plays, [])) }

  func knows(_ place: FaultPlace) -> Bool { state.withLock { $0.plays[place] != nil } }

  func add(_ play: Play, at place: FaultPlace) { state.withLock { $0.plays[place] = play } }

  func add(violation: String) { state.withLock { $0.violations.append(violation) } }

  var violations: [String] { state.withLock { $0.violations } }

  func places(of play: Play) -> [FaultPlace] {
    state.withLock { state in state.plays.filter { $0.value == play }.map(\.key) }
      .sorted { ($0.point, $0.fault.description) < ($1.point, $1.fault.description) }
  }
}
