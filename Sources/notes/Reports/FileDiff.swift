internal import Git
internal import Notebook

/// How one file differs between two states.
struct FileDiff {
  let path: TreePath
  /// The bytes before and after; nil where there is no file.
  let old: [UInt8]?
  let new: [UInt8]?

  private var kind: ChangeKind { old == nil ? .added : new == nil ? .deleted : .modified }

  var json: JSON {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    return [
      "path": .path(path), "kind": .string(kind.rawValue),
      "added": diff.isBinary ? .null : .int(diff.added),
      "removed": diff.isBinary ? .null : .int(diff.removed), "binary": .bool(diff.isBinary),
    ]
  }

  /// A unified diff with git's headers: exact bytes for a file or a pipe, made visible for people.
  func unified(for terminal: Terminal) -> [UInt8] {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    let before = header("a/", terminal)
    let after = header("b/", terminal)
    var page = Page(terminal: terminal)
    page.line("diff --git \(before) \(after)", .bold)
    if old == nil { page.line("new file mode 100644", .bold) }
    if new == nil { page.line("deleted file mode 100644", .bold) }
    if diff.isBinary {
      page.line("Binary files \(before) and \(after) differ")
      return page.bytes
    }
    guard !diff.hunks.isEmpty else { return page.bytes }
    page.line("--- \(old == nil ? "/dev/null" : before)", .bold)
    page.line("+++ \(new == nil ? "/dev/null" : after)", .bold)
    for hunk in diff.hunks {
      page.line("@@ -\(Self.range(hunk.old)) +\(Self.range(hunk.new)) @@", .cyan)
      for line in hunk.lines { page.line(line) }
    }
    return page.bytes
  }

  /// The first line, counted from 1, and how many; an empty range names the line before it.
  private static func range(_ lines: Range<Int>) -> String {
    lines.isEmpty ? "\(lines.lowerBound),0" : "\(lines.lowerBound + 1),\(lines.count)"
  }

  /// A name in the header; what would break its line is quoted as git quotes it.
  private func header(_ prefix: String, _ terminal: Terminal) -> String {
    if terminal.isInteractive { return prefix + Visible.name(path) }
    let isPlain =
      path.utf8String != nil
      && path.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x5C }
    if isPlain { return prefix + path.description }
    var text = "\"" + prefix
    for byte in path.bytes {
      switch byte {
      case 0x22: text += "\\\""
      case 0x5C: text += "\\\\"
      case 0x0A: text += "\\n"
      case 0x09: text += "\\t"
      case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let octal = String(byte, radix: 8)
        text += "\\" + String(repeating: "0", count: 3 - octal.utf8.count) + octal
      }
    }
    return text + "\""
  }

  private struct Page {
    let terminal: Terminal
    var bytes: [UInt8] = []

    mutating func line(_ text: String, _ style: Style? = nil) {
      bytes += (style.map { terminal.paint(text, $0) } ?? text).utf8
      bytes.append(UInt8(ascii: "\n"))
    }

    mutating func line(_ line: LineDiff.Line) {
      let (sign, style): (String, Style?) =
        switch line.kind {
        case .context: (" ", nil)
        case .removed: ("-", .red)
        case .added: ("+", .green)
        }
      if terminal.isInteractive || terminal.usesColour {
        self.line(sign + Visible.text(String(decoding: line.bytes, as: UTF8.self)), style)
      } else {
        bytes += sign.utf8
        bytes += line.bytes
        bytes.append(UInt8(ascii: "\n"))
      }
      if !line.hasNewline { self.line("\\ No newline at end of file", .dim) }
    }
  }
}
