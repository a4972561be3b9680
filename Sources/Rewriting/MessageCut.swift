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
    for word in Set(subject.split(separator: " ")) where Self.isShortID(word.utf8) {
      guard let new = formNamed(String(word)) else { continue }
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
    case ForgettingVersion.key[...]:
      // Without its signature it counts no more, and names the former beginning.
      return text.split(separator: " ").count > ForgettingVersion.Line.leastWords ? nil : line
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

// The messages of versions that are the first ones, or on top of these: notes-forget(1), "The first version".
extension MessageCut {
  /// The message with these notes in conflict, and no others.
  static func naming(_ conflicts: [TreePath: Int], in message: [UInt8]) -> [UInt8] {
    var lines = message.split(separator: newline, omittingEmptySubsequences: false)
    lines.removeAll { $0.starts(with: "Notes-Conflict: ".utf8) }
    while lines.last?.isEmpty == true { lines.removeLast() }
    var trailers = MergeTrailers()
    trailers.conflicts = conflicts
    let more = trailers.lines()
    let paragraph = lines.lastIndex(where: \.isEmpty)
    let hasTrailers = paragraph.map {
      lines[($0 + 1)...].allSatisfy { $0.contains(UInt8(ascii: ":")) }
    }
    if !more.isEmpty, hasTrailers != true { lines.append([]) }
    lines += more.map { Array($0.utf8)[...] }
    return Array(lines.joined(separator: [newline])) + [newline]
  }

  /// A subject without the digits by which it names one of these versions: "Restore Plan from 0123456789".
  static func naming(
    none versions: [ObjectID], in subject: ArraySlice<UInt8>
  ) -> ArraySlice<UInt8> {
    let words = subject.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    let kept = words.map { word -> ArraySlice<UInt8> in
      guard isShortID(word) else { return word }
      let digits = String(decoding: word, as: UTF8.self)
      return versions.contains { $0.hex.hasPrefix(digits) } ? Placeholder.bytes[...] : word
    }
    return Array(kept.joined(separator: [UInt8(ascii: " ")]))[...]
  }

  private static func isShortID(_ word: some Collection<UInt8>) -> Bool {
    word.count == shortID
      && word.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
