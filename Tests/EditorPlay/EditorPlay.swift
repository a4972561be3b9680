import Glibc
import TestSupport
import WorkTree

/// Plays people and programs who edit the same notes until there were so many saves, and says how often
/// each kind of evidence decided on which text a save was made, and how often it was wrong.
///
///     EditorPlay SEED SAVES          many plays
///     EditorPlay SEED play NUMBER    one of them again, with its story
///
/// Exits with 1 where a word is gone that no wrong answer took, and where a watcher without an indexer
/// beside it gave one.
@main
struct EditorPlay {
  static let settings = [
    Play.Setting(isWatched: true, isIndexed: false),
    Play.Setting(isWatched: true, isIndexed: true),
    Play.Setting(isWatched: false, isIndexed: false),
    Play.Setting(isWatched: false, isIndexed: true),
    Play.Setting(isWatched: true, isIndexed: false, isShared: true),
  ]
  static let steps = 150

  static func main() throws {
    let words = CommandLine.arguments.dropFirst()
    let numbers = words.compactMap { UInt64($0) }
    guard numbers.count == 2 else {
      print("usage: EditorPlay SEED SAVES | EditorPlay SEED play NUMBER")
      exit(64)
    }
    if words.contains("play") {
      let play = try play(Int(numbers[1]), seed: numbers[0])
      print(play.story.joined(separator: "\n"))
      print("---")
      let gone = try play.missingWords()
      print(play.story.suffix(30).joined(separator: "\n"))
      print("gone: \(gone)")
      return
    }
    exit(try playAll(seed: numbers[0], saves: Int(numbers[1])) ? 0 : 1)
  }

  private static func play(_ number: Int, seed: UInt64) throws -> Play {
    var random = SplitMix64(seed: seed &+ UInt64(number))
    let play = try Play(seed: random.next(), settings[number % settings.count])
    for _ in 0..<steps { try play.step() }
    return play
  }

  private static func playAll(seed: UInt64, saves wanted: Int) throws -> Bool {
    var totals = [Total](repeating: Total(), count: settings.count)
    var number = 0
    var isRight = true
    while totals.reduce(0, { $0 + $1.saves }) < wanted || number < settings.count {
      let play = try play(number, seed: seed)
      let gone = try play.missingWords()
      if !gone.isEmpty {
        print("bench/editor-play \(seed) play \(number): gone \(gone.sorted())")
        isRight = false
      }
      if play.counts.values.contains(where: { $0.lost + $0.back > 0 }) {
        totals[number % settings.count].wrong.append(number)
      }
      totals[number % settings.count].add(play)
      number += 1
    }
    for (setting, total) in zip(settings, totals) {
      total.report(setting)
      if setting.isWatched, !setting.isIndexed, !setting.isShared,
        total.all.lost + total.all.back > 0
      {
        isRight = false
      }
    }
    return isRight
  }
}

/// What plays of a kind came to.
private struct Total {
  var counts: [SaveBase.Evidence?: Play.Count] = [:]
  var former = Play.Count()
  var wrong: [Int] = []
  var saves: Int { counts.values.reduce(0) { $0 + $1.saves } }
  var all: Play.Count {
    counts.reduce(into: Play.Count()) { sum, item in if item.key != nil { sum.add(item.value) } }
  }

  mutating func add(_ play: Play) {
    for (evidence, count) in play.counts { counts[evidence, default: Play.Count()].add(count) }
    former.add(play.former)
  }

  func report(_ setting: Play.Setting) {
    func column(_ value: Int) -> String {
      let text = String(value)
      return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }
    func line(_ name: String, _ count: Play.Count) {
      let padding = String(repeating: " ", count: max(0, 14 - name.count))
      print("  " + name + padding + column(count.saves) + column(count.lost) + column(count.back))
    }
    print(
      "\(setting.isWatched ? "watched" : "saved by hand"), "
        + "\(setting.isIndexed ? "beside an indexer" : "no indexer")"
        + "\(setting.isShared ? ", several programs on a note" : ""): \(saves) saves")
    print("  decided by        saves     lost   merged (the last two: wrongly)")
    for (evidence, count) in counts.sorted(by: { $0.value.saves > $1.value.saves }) {
      line(evidence.map { "\($0)" } ?? "(no checkout)", count)
    }
    line("all", all)
    line("former rule", former)
    if !wrong.isEmpty {
      print("  wrong in plays \(wrong.prefix(12).map(String.init).joined(separator: " "))")
    }
  }
}

extension Play.Count {
  mutating func add(_ other: Self) {
    saves += other.saves
    lost += other.lost
    back += other.back
  }
}
