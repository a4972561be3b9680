internal import Git
internal import History
internal import Notebook

struct DeletedReport {
  let files: [DeletedFile]
  private let style: ListStyle

  init(files: [DeletedFile], _ style: ListStyle) {
    self.style = style
    self.files = style.sorted(files) { left, right in
      style.order == .title
        ? (left.path.noteTitle.lowercased(), left.path)
          < (right.path.noteTitle.lowercased(), right.path)
        : (right.time ?? .max, left.path) < (left.time ?? .max, right.path)
    }
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
      return style.isFiltered ? "No \(style.kind)s match.\n" : "No \(style.kind) was deleted.\n"
    }
    var table = Table(flexible: style.isLong ? 1 : 0)
    for file in files {
      let id = style.isLong ? [Styled(file.id.isEmpty ? "-" : file.id, .yellow)] : []
      let when = file.time.map {
        style.isLong ? TimeText.local($0) : TimeText.relative($0, now: now)
      }
      table.add(
        id + [
          Styled(style.isLong ? Visible.name(file.path) : file.path.label, .bold),
          Styled(when ?? "not saved yet"), Styled(Visible.name(file.author ?? ""), .dim),
        ])
    }
    return table.text(on: terminal)
  }
}
