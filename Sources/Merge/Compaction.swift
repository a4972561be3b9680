/// Slides unmatched runs to where a person would see the edit: notes-merge(7), "Sliding".
struct Compaction {
  /// A run of unmatched elements, perhaps empty, between two matched ones.
  private struct Run {
    var start = 0
    var end = 0
  }

  private let lines: [Int32]
  private var changed: [Bool]
  private let other: [Bool]
  private var run = Run()
  private var otherRun = Run()

  /// Slides each run of `changed` down as far as it goes, or back to the last place where it
  /// faces a run of the other sequence.
  static func compact(_ lines: [Int32], _ changed: inout [Bool], against other: [Bool]) {
    var compaction = Compaction(lines: lines, changed: changed, other: other)
    compaction.slideAll()
    changed = compaction.changed
  }

  private init(lines: [Int32], changed: [Bool], other: [Bool]) {
    self.lines = lines
    self.changed = changed
    self.other = other
    run.end = Self.end(of: changed, from: 0)
    otherRun.end = Self.end(of: other, from: 0)
  }

  private static func end(of changed: [Bool], from start: Int) -> Int {
    var end = start
    while end < changed.count, changed[end] { end += 1 }
    return end
  }

  private mutating func slideAll() {
    while true {
      if run.end > run.start { slideRun() }
      guard run.end < changed.count else { return }
      run.start = run.end + 1
      run.end = Self.end(of: changed, from: run.start)
      nextOther()
    }
  }

  private mutating func slideRun() {
    var earliestEnd: Int
    var facesOther: Bool
    var size: Int
    repeat {
      size = run.end - run.start
      while slideUp() { previousOther() }
      earliestEnd = run.end
      facesOther = otherRun.end > otherRun.start
      while slideDown() {
        nextOther()
        if otherRun.end > otherRun.start { facesOther = true }
      }
    } while size != run.end - run.start
    if run.end == earliestEnd || !facesOther { return }
    while otherRun.end == otherRun.start, slideUp() { previousOther() }
  }

  private mutating func slideUp() -> Bool {
    guard run.start > 0, lines[run.start - 1] == lines[run.end - 1] else { return false }
    run.start -= 1
    run.end -= 1
    changed[run.start] = true
    changed[run.end] = false
    while run.start > 0, changed[run.start - 1] { run.start -= 1 }
    return true
  }

  private mutating func slideDown() -> Bool {
    guard run.end < changed.count, lines[run.start] == lines[run.end] else { return false }
    changed[run.start] = false
    changed[run.end] = true
    run.start += 1
    run.end = Self.end(of: changed, from: run.end + 1)
    return true
  }

  private mutating func nextOther() {
    guard otherRun.end < other.count else { return }
    otherRun.start = otherRun.end + 1
    otherRun.end = Self.end(of: other, from: otherRun.start)
  }

  private mutating func previousOther() {
    guard otherRun.start > 0 else { return }
    otherRun.end = otherRun.start - 1
    otherRun.start = otherRun.end
    while otherRun.start > 0, other[otherRun.start - 1] { otherRun.start -= 1 }
  }
}
