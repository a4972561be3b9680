internal import Git
internal import History
internal import Notebook

struct DeletedReport {
  let files: [DeletedFile]
  private let isLong: Bool
  private let isFiltered: Bool
  private let kind: String

  /// - Parameters:
  ///   - isFiltered: whether there are more than these.
  ///   - kind: what they are, in the singular.
  init(
    files: [DeletedFile], isLong: Bool = false, order: ListCommand.Order = .modified,
    isReversed: Bool = false, isFiltered: Bool = false, kind: String = "note"
  ) {
    let sorted = files.sorted { left, right in
      order == .title
        ? (left.path.noteTitle.lowercased(), left.path)
          < (right.path.noteTitle.lowercased(), right.path)
        : (right.time ?? .max, left.path) < (left.time ?? .max, right.path)
    }
    self.files = isReversed ? sorted.reversed() : sorted
    self.isLong = isLong
    self.isFiltered = isFiltered
    self.kind = kind
  }

  var json: [JSON] {
    files.map { file in
      [
        "id": file.id.isEmpty ? JSON.null : file.id.json, "title": file.path.noteTitle,
        "path": file.path,
        "deleted": file.time.map { TimeText.rfc3339($0) }, "author": file.author,
      ] as JSON
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !files.isEmpty else {
      return isFiltered ? "No \(kind)s match.\n" : "No \(kind) was deleted.\n"
    }
    var table = Table(flexible: isLong ? 1 : 0)
    for file in files {
      let id = isLong ? [Styled(file.id.isEmpty ? "-" : file.id, .yellow)] : []
      let when = file.time.map {
        isLong ? TimeText.local($0) : TimeText.relative($0, now: now)
      }
      table.add(
        id + [
          Styled(isLong ? Visible.name(file.path) : file.path.label, .bold),
          Styled(when ?? "not saved yet"), Styled(Visible.name(file.author ?? ""), .dim),
        ])
    }
    return table.text(on: terminal)
  }
}
