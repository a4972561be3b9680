internal import Git
internal import History
internal import Notebook

extension FileDiff {
  /// A unified diff with git's headers: exact bytes for a file or a pipe, made visible for people.
  func unified(for terminal: Terminal) -> [UInt8] {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    let before = header(formerPath ?? path, "a/", terminal)
    let after = header(path, "b/", terminal)
    var page = Page(terminal: terminal)
    let quoted = (formerPath ?? path).hasSpace || path.hasSpace
    let names = [("a/", formerPath ?? path), ("b/", path)].map { prefix, path in
      quoted ? header(path, prefix, terminal, quoting: true) : header(path, prefix, terminal)
    }
    page.line("diff --git \(names[0]) \(names[1])", .bold)
    if old == nil { page.line("new file mode 100644", .bold) }
    if new == nil { page.line("deleted file mode 100644", .bold) }
    if let formerPath {
      page.line("rename from \(header(formerPath, "", terminal))", .bold)
      page.line("rename to \(header(path, "", terminal))", .bold)
    }
    if diff.isBinary {
      page.line("Binary files \(before) and \(after) differ")
      return page.bytes
    }
    guard !diff.hunks.isEmpty else { return page.bytes }
    // A tab tells patch(1) where a name with spaces ends, as in git's own diffs.
    func ended(_ name: String) -> String {
      name.contains(" ") && !name.hasPrefix("\"") && !terminal.isInteractive ? name + "\t" : name
    }
    page.line("--- \(old == nil ? "/dev/null" : ended(before))", .bold)
    page.line("+++ \(new == nil ? "/dev/null" : ended(after))", .bold)
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
  ///
  /// - Parameter quoting: quoted in any case: patch(1) takes names with spaces in the first line of
  ///   a file only so.
  private func header(
    _ path: TreePath, _ prefix: String, _ terminal: Terminal, quoting: Bool = false
  ) -> String {
    if terminal.isInteractive { return prefix + Visible.name(path) }
    let isPlain =
      path.utf8String != nil
      && path.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x5C }
    if isPlain, !quoting { return prefix + path.description }
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
      bytes += terminal.paint(text, style).utf8
      bytes.append(UInt8(ascii: "\n"))
    }

    mutating func line(_ line: LineDiff.Line) {
      let (sign, style) = (line.kind.sign, line.kind.style)
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

extension TreePath {
  fileprivate var hasSpace: Bool { bytes.contains(UInt8(ascii: " ")) }
}
