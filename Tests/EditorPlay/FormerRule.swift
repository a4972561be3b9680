import Git
import History
import Notebook
import WorkTree

/// How saves were judged before: by three texts as multisets of lines. It stands here to be compared with.
struct FormerRule {
  private var refused: [TreePath: String] = [:]

  /// Whether a save was taken for one on an older text; `isKnown` where a checkout had changed the note
  /// since it was written here last.
  mutating func isOlder(
    _ path: TreePath, saved: String, present: String, in notebook: Notebook
  ) throws -> (isKnown: Bool, verdict: Bool) {
    let entries = CheckoutLog(stateFolder: notebook.stateFolder).entries(for: path)
      .filter { !$0.isSeen }
    if entries.isEmpty { return (false, false) }
    if refused[path] == saved { return (true, false) }
    let isInConflict = try notebook.history.openConflictPaths().contains(path)
    let (text, brought) = (Self.counts(saved), Self.counts(present))
    for entry in entries {
      let old = String(decoding: try notebook.repository.blob(entry.old), as: UTF8.self)
      let loaded = Self.counts(old)
      let came = brought.filter { $0.value > loaded[$0.key] ?? 0 }
      let went = loaded.filter { $0.value > brought[$0.key] ?? 0 }
      guard old != present, !(came.isEmpty && went.isEmpty),
        came.allSatisfy({ text[$0.key] ?? 0 <= loaded[$0.key] ?? 0 }),
        went.allSatisfy({ text[$0.key] ?? 0 >= $0.value })
      else { continue }
      let common = loaded.reduce(0) { $0 + min($1.value, text[$1.key] ?? 0) }
      let total = loaded.values.reduce(0, +)
      let share = total == 0 ? 1 : Double(common) / Double(total)
      if isInConflict ? saved != old && share == 1 : share >= 0.5 {
        refused[path] = saved
        return (true, true)
      }
    }
    return (true, false)
  }

  private static func counts(_ text: String) -> [Substring: Int] {
    var counts: [Substring: Int] = [:]
    for line in text.split(separator: "\n") { counts[line, default: 0] += 1 }
    return counts
  }
}
