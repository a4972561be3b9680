internal import Git
internal import History
internal import Merge
internal import System
internal import WorkTree

/// Rewrites the message of a version: removed content is not named, and IDs are replaced by those of the
/// rewritten versions.
struct MessageCut {
  /// The changes of the version.
  let changes: [Change]
  /// The paths that are removed from this version, or were removed with it.
  let gone: Set<TreePath>
  /// The texts to remove.
  let texts: [TextCut]
  /// The rewritten form of a version, or the version itself; nil if it is not in the history.
  let form: (ObjectID) -> ObjectID?
  /// The rewritten form of a version, by the beginning of its ID.
  let formNamed: (String) -> ObjectID?

  private static let newline = UInt8(ascii: "\n")

  /// The rewritten message of a version.
  func applied(to message: [UInt8]) -> [UInt8] {
    var lines = message.split(separator: Self.newline, omittingEmptySubsequences: false)
    if let first = lines.first {
      var text = String(decoding: first, as: UTF8.self)
      if changes.contains(where: { gone.contains($0.path) }) { text = subject(text) }
      lines[0] = Array(namingForms(text).utf8)[...]
    }
    let kept = lines.prefix(1) + lines.dropFirst().compactMap(trailer)
    return withoutText(Array(kept.joined(separator: [Self.newline])))
  }

  /// The message without the text.
  func withoutText(_ message: [UInt8]) -> [UInt8] { texts.applied(to: message) ?? message }

  /// Whether the message contains one of the texts.
  func isNeeded(for message: [UInt8]) -> Bool { texts.contains { $0.isIn(message) } }

  /// The number of digits of an ID in a subject by notes: "Restore Plan from 0123456789".
  private static let shortID = 10

  private func namingForms(_ subject: String) -> String {
    var subject = subject
    for word in Set(subject.split(separator: " ")) where word.utf8.count == Self.shortID {
      guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
        let new = formNamed(String(word))
      else { continue }
      subject = subject.replacing(word, with: new.hex.prefix(Self.shortID))
    }
    return subject
  }

  private func subject(_ subject: String) -> String {
    if subject == Change.summary(of: changes) {
      let summary = Change.summary(of: changes.filter { !gone.contains($0.path) })
      return summary.isEmpty ? Placeholder.text : summary
    }
    let titles = Set(changes.map(\.path).filter(gone.contains).map(\.noteTitle))
    return titles.sorted { ($1.utf8.count, $1) < ($0.utf8.count, $0) }.reduce(subject) {
      $1.isEmpty ? $0 : $0.replacing($1, with: Placeholder.text)
    }
  }

  /// The rewritten line; nil if it is removed.
  private func trailer(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard line.starts(with: "Notes-".utf8) else { return line }
    let text = String(decoding: line, as: UTF8.self)
    let key = text.prefix { $0 != ":" }
    switch key {
    case "Notes-Conflict", "Notes-Merged":
      let trailers = MergeTrailers(message: text)
      let paths = Array(trailers.conflicts.keys) + Array(trailers.merged.keys)
      return paths.contains(where: gone.contains) ? nil : line
    case RenameTrailer.key[...]:
      let renames = RenameTrailer.all(in: text)
      return renames.contains { gone.contains($0.old) || gone.contains($0.new) } ? nil : line
    case UndoTrailer.undo[...], UndoTrailer.redo[...], "Notes-Edited-On":
      return naming(text, after: key)
    default: return line
    }
  }

  /// A line with the IDs of the rewritten versions; nil if it names a version that no longer
  /// exists.
  private func naming(_ line: String, after key: Substring) -> ArraySlice<UInt8>? {
    var words: [String] = []
    for word in line.dropFirst(key.count + 1).split(separator: " ") {
      guard let id = ObjectID(hex: word) else { return nil }
      guard let new = form(id) else { return nil }
      words.append(new.hex)
    }
    return Array("\(key): \(words.joined(separator: " "))".utf8)[...]
  }
}
