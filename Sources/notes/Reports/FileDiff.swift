internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct FileDiff {
  let path: TreePath
  var formerPath: TreePath?
  let old: [UInt8]?
  let new: [UInt8]?

  var kind: ChangeKind {
    old == nil ? .added : new == nil ? .deleted : formerPath == nil ? .modified : .renamed
  }

  var json: JSON {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    let counts = diff.isBinary ? nil : (added: diff.added, removed: diff.removed)
    return [
      "type": "diff", "path": path, "kind": kind.rawValue, "former_path": formerPath,
      "added": counts?.added,
      "removed": counts?.removed, "binary": diff.isBinary,
    ]
  }
}

extension LineDiff.Line.Kind {
  var sign: String {
    switch self {
    case .context: " "
    case .removed: "-"
    case .added: "+"
    }
  }

  var style: Style? {
    switch self {
    case .context: nil
    case .removed: .red
    case .added: .green
    }
  }
}

extension Styled {
  /// The numbers of added and removed lines: `+3 −1`.
  static func counts(added: Int, removed: Int) -> Styled {
    let parts = [(added, "+"), (removed, "−")].filter { $0.0 > 0 }
    return Styled(parts.map { $0.1 + Phrase.number($0.0) }.joined(separator: " "), .dim)
  }
}

extension FileDiff {
  init(_ change: VersionChange, in notebook: Notebook) throws {
    path = change.path
    formerPath = change.formerPath
    old = try change.old.map { try notebook.repository.blob($0) }
    new = try change.new.map { try notebook.repository.blob($0) }
  }

  // MARK: By words

  /// Lines with the removed and added words, broken at the terminal's width. Without colour,
  /// removed words are in `[-…-]`, added words in `{+…+}`.
  func words(for terminal: Terminal) -> String {
    let diff = WordDiff(from: old ?? [], to: new ?? [])
    var text = heading(diff, on: terminal)
    if diff.isBinary { return text + "  not text\n" }
    if diff.groups.isEmpty, old != nil, new != nil, old != new {
      text += "  only the newline at the end of the file differs\n"
    }
    for (position, group) in diff.groups.enumerated() {
      if position > 0 || group.firstLine > 1 {
        text += terminal.paint("  line \(Phrase.number(group.firstLine))", .cyan) + "\n"
      }
      for row in group.rows { text += shown(row, on: terminal) }
    }
    return text
  }

  private func heading(_ diff: WordDiff, on terminal: Terminal) -> String {
    let title = Visible.renaming(of: path, from: formerPath)
    let others = [kind.cell, Styled.counts(added: diff.added, removed: diff.removed)]
      .filter { !$0.text.isEmpty }
    let shown = terminal.fitting(title, beside: others.width + 2 * others.count)
    let cells = [Styled(shown, .bold)] + others
    return cells.map { terminal.paint($0) }.joined(separator: "  ") + "\n"
  }

  private func shown(_ row: WordDiff.Row, on terminal: Terminal) -> String {
    let sign =
      switch row.kind {
      case .context: Styled("  ")
      case .removed: Styled("- ", .red)
      case .added: Styled("+ ", .green)
      case .changed: Styled("~ ", .yellow)
      }
    let isMarked = row.kind == .changed && !terminal.usesColour
    let pieces = row.pieces.map { piece -> Styled in
      let words = Self.words(of: piece.bytes, on: terminal)
      return switch piece.kind {
      case .same: Styled(words)
      case .removed: Styled(isMarked ? "[-\(words)-]" : words, .red)
      case .added: Styled(isMarked ? "{+\(words)+}" : words, .green)
      }
    }
    let lines = pieces.lines(of: terminal.width.map { $0 - 2 }, on: terminal)
    return lines.enumerated().map { position, line in
      let margin = position == 0 ? terminal.paint(sign) : "  "
      return (line.isEmpty && row.kind == .context ? "" : margin + line).trimmedAtEnd + "\n"
    }.joined()
  }

  /// The words of a text; of one longer than 64 KiB, only the beginning: notes-diff(1).
  private static func words(of bytes: ArraySlice<UInt8>, on terminal: Terminal) -> String {
    let (longest, shown) = (64 << 10, 1_000)
    guard bytes.count > longest else { return terminal.shown(bytes) }
    let beginning = bytes.prefix(shown)
    // Cuts at a whole character.
    let end = beginning.lastIndex { $0 & 0xC0 != 0x80 } ?? beginning.endIndex
    let rest = bytes.endIndex - end
    return terminal.shown(bytes[..<end]) + " … and \(Phrase.bytes(rest)) more"
  }

  // MARK: By lines

  /// A unified diff with git's headers: exact bytes for a file or a pipe, made visible for people.
  func unified(for terminal: Terminal) -> [UInt8] {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    let former = formerPath ?? path
    let quotes = [former, path].contains { $0.bytes.contains(UInt8(ascii: " ")) }
    func name(_ path: TreePath, _ prefix: String, quoting: Bool = false) -> String {
      terminal.isInteractive
        ? prefix + Visible.name(path) : Self.name(path, prefix, quoting: quoting)
    }
    let (before, after) = (name(former, "a/"), name(path, "b/"))
    var page = Page(terminal: terminal)
    // patch(1) accepts names with spaces in the first line of a file only if they are quoted.
    let names = [name(former, "a/", quoting: quotes), name(path, "b/", quoting: quotes)]
    page.line("diff --git \(names[0]) \(names[1])", .bold)
    if old == nil { page.line("new file mode 100644", .bold) }
    if new == nil { page.line("deleted file mode 100644", .bold) }
    if formerPath != nil {
      page.line("rename from \(name(former, ""))", .bold)
      page.line("rename to \(name(path, ""))", .bold)
    }
    if diff.isBinary {
      page.line("Binary files \(before) and \(after) differ")
      return page.bytes
    }
    guard !diff.hunks.isEmpty else { return page.bytes }
    // A tab marks the end of a name with spaces for patch(1), as in git's own diffs.
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

  /// The range in the form of diff(1): `START,COUNT`; an empty range has the number of the line before it.
  private static func range(_ lines: Range<Int>) -> String {
    lines.isEmpty ? "\(lines.lowerBound),0" : "\(lines.lowerBound + 1),\(lines.count)"
  }

  /// A name in the header; characters that would break the line are quoted as in git.
  private static func name(_ path: TreePath, _ prefix: String, quoting: Bool) -> String {
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
      default: text += "\\" + String(0o1000 + Int(byte), radix: 8).dropFirst()
      }
    }
    return text + "\""
  }

  private struct Page {
    let terminal: Terminal
    var bytes: [UInt8] = []

    mutating func line(_ text: String, _ style: Style? = nil) {
      bytes += (terminal.paint(text, style) + "\n").utf8
    }

    mutating func line(_ line: LineDiff.Line) {
      if terminal.isForPeople {
        self.line(line.kind.sign + terminal.shown(line.slice), line.kind.style)
      } else {
        bytes += line.kind.sign.utf8
        bytes += line.slice
        bytes.append(UInt8(ascii: "\n"))
      }
      if !line.hasNewline { self.line("\\ No newline at end of file", .dim) }
    }
  }
}
