internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// A note whose text is not UTF-8, so that notes cannot show, search or merge it properly.
struct ForeignText {
  let path: TreePath
  let encoding: Encoding

  enum Encoding: String {
    case utf16 = "UTF-16"
    /// An encoding with one byte for each character.
    case latin1 = "Latin-1"
  }

  /// The notes of a save that are not in UTF-8; if it has very many notes, none is checked.
  static func all(in result: SaveResult, of notebook: Notebook) throws -> [ForeignText] {
    guard let version = result.version, result.changes.count <= 100 else { return [] }
    let commit = try notebook.repository.commit(version)
    return result.changes.filter { $0.kind != .deleted && $0.path.isNote }.compactMap { change in
      // Only a hint: the save itself is done.
      guard let text = try? notebook.history.text(of: change.path, at: commit) else { return nil }
      return Encoding(of: text).map { ForeignText(path: change.path, encoding: $0) }
    }
  }

  var sentence: String {
    "\(Visible.name(path)) is in \(encoding.rawValue), not in UTF-8: versions contain it unchanged, "
      + (encoding == .utf16
        ? "but notes cannot show or merge it as text."
        : "but notes shows and finds some characters wrongly.")
  }

  var json: JSON { ["path": path, "encoding": encoding.rawValue] }
}

extension ForeignText.Encoding {
  /// The encoding that a text seems to have; nil for UTF-8, and for bytes that are not text.
  init?(of text: [UInt8]) {
    let start = text.prefix(8_000)
    if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
      self = .utf16
    } else if start.contains(0) {
      // Latin letters in UTF-16 have a NUL byte each.
      let even = start.enumerated().count { $0.offset.isMultiple(of: 2) && $0.element == 0 }
      let odd = start.count(where: { $0 == 0 }) - even
      guard max(even, odd) * 5 > start.count * 2, min(even, odd) * 20 < start.count else {
        return nil
      }
      self = .utf16
    } else if String(validating: text, as: UTF8.self) == nil {
      self = .latin1
    } else {
      return nil
    }
  }
}
