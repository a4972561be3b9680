// How the browser looks.
extension Browser {
  /// From how many columns on the list and the text stand side by side.
  static let wideColumns = 64

  /// From how many columns on a list says times in words.
  static let roomyColumns = 44

  struct Layout: Equatable {
    let size: Screen.Size
    var rows: Int { max(0, size.rows - 2) }
    var isWide: Bool { size.columns >= Browser.wideColumns }
    var listColumns: Int { isWide ? min(48, size.columns * 2 / 5) : size.columns }
    var textColumns: Int { isWide ? size.columns - listColumns - 2 : size.columns }
    func isText(_ column: Int, _ focus: Focus) -> Bool {
      isWide ? column >= listColumns : focus == .text
    }
  }

  /// The screen at that size.
  ///
  /// - Parameter now: what relative times count from.
  mutating func screen(_ size: Screen.Size, now: Int64) -> Screen {
    let layout = Layout(size: size)
    wrap(to: layout.textColumns)
    noteList.reveal(rows: layout.rows, of: listed.count)
    versionList.reveal(rows: layout.rows, of: versions.count)
    textTop = max(0, min(textTop, wrapped.lines.count - layout.rows))
    var screen = Screen(size: size)
    screen.add(headline(layout))
    if showsHelp {
      for row in 0..<layout.rows {
        screen.add([Styled(row < Self.help.count ? Self.help[row] : "")])
      }
    } else {
      let left = layout.isWide || focus != .text ? list(layout, now: now) : []
      for row in 0..<layout.rows {
        var spans = row < left.count ? left[row] : []
        if layout.isWide {
          let used = spans.reduce(0) { $0 + Width.of($1.text) }
          spans.append(
            Styled(String(repeating: " ", count: max(0, layout.listColumns - used))))
          spans.append(Styled("│ ", .dim))
        }
        if layout.isWide || focus == .text { spans += textRow(row) }
        screen.add(spans)
      }
    }
    screen.add(footline(size.columns))
    return screen
  }

  private func headline(_ layout: Layout) -> [Styled] {
    var spans = [Styled(title, .bold)]
    switch focus {
    case .notes:
      let all = Phrase.count(notes.count, showsDeleted ? "deleted note" : "note")
      let count = filter.isEmpty ? all : "\(Phrase.number(listed.count)) of \(all)"
      spans.append(Styled(" · \(count)"))
      if isFiltering || !filter.isEmpty {
        spans.append(Styled("  /", .cyan))
        spans.append(Styled(Visible.name(filter) + (isFiltering ? "_" : "")))
      }
    case .versions, .text:
      spans.append(Styled(" · "))
      spans.append(Styled(note?.label ?? "", .bold))
      if focus == .text || layout.isWide, let version {
        spans.append(
          Styled(
            " @ \(version.id.short) · \(version.author), \(TimeText.local(version.time))",
            .dim))
      } else {
        let count = Phrase.count(versions.count, "version")
        spans.append(Styled(" · \(count)\(hasMoreVersions ? " and more" : "")"))
      }
    }
    return spans
  }

  private func footline(_ columns: Int) -> [Styled] {
    if let message { return [Styled(message.text, message.style)] }
    if showsHelp { return [Styled("any key goes back", .dim)] }
    let other = showsChange ? "d text" : "d change"
    var keys =
      switch focus {
      case .notes where isFiltering: ["type a part of the title", "Enter done", "Esc all notes"]
      case .notes where showsDeleted:
        ["? help", "r restore", "Enter versions", "Esc back", "q quit"]
      case .notes: ["? help", "Enter versions", "/ filter", "q quit", "D deleted", "↑↓ choose"]
      case .versions: ["? help", "r restore", "c copy", other, "← back", "↑↓ choose"]
      case .text: ["? help", "← back", other, "r restore", "c copy", "↑↓ scroll"]
      }
    // What matters most comes first and stays longest.
    while keys.count > 1, Width.of(keys.joined(separator: " · ")) > columns { keys.removeLast() }
    return [Styled(keys.joined(separator: " · "), .dim)]
  }

  static let help = [
    "Keys", "",
    "  ↑ ↓  j k        one line up, down",
    "  PgUp PgDn       a page up, down",
    "  Home End  g G   the first, the last",
    "  /               filter the notes by their titles",
    "  Enter → l       the versions of the note; the text of the version",
    "  Esc ← h         back",
    "  d               what the version changed, or its whole text",
    "  r               restore the version: the present text is kept as one",
    "  c               copy the version to a note of its own",
    "  D               the deleted notes, where r restores the last text; back",
    "  Ctrl-L          read the folder again",
    "  Ctrl-Z          leave for the shell; fg comes back",
    "  q  Ctrl-C       quit", "",
    "The mouse chooses and scrolls; hold Shift to select text.",
  ]

  private func list(_ layout: Layout, now: Int64) -> [[Styled]] {
    let columns = layout.listColumns
    func when(_ time: Int64) -> String {
      columns < Self.roomyColumns
        ? TimeText.short(time, now: now) : TimeText.relative(time, now: now)
    }
    if focus == .notes {
      if listed.isEmpty {
        let words = showsDeleted ? "no note was deleted" : "no notes yet"
        return [[Styled(notes.isEmpty ? words : "no note matches", .dim)]]
      }
      return (noteList.top..<min(listed.count, noteList.top + layout.rows)).map { place in
        let note = notes[listed[place]]
        return Self.row(
          (note.isInConflict ? "! " : "") + note.label,
          when(note.modified), isSelected: place == noteList.selected,
          hasFocus: true, columns: columns)
      }
    }
    if versions.isEmpty { return [[Styled("no versions yet", .dim)]] }
    return (versionList.top..<min(versions.count, versionList.top + layout.rows)).map { place in
      let version = versions[place]
      return Self.row(
        when(version.time) + " · " + version.subject, version.author,
        isSelected: place == versionList.selected, hasFocus: focus == .versions,
        columns: columns)
    }
  }

  /// A row of a list: what it is about, and at the right what is told of it where there is room.
  private static func row(
    _ text: String, _ aside: String, isSelected: Bool, hasFocus: Bool, columns: Int
  ) -> [Styled] {
    let mark = isSelected ? "> " : "  "
    let style: Style? = isSelected ? (hasFocus ? .reverse : .bold) : nil
    let room = columns - 2
    let asideRoom = min(Width.of(aside), room / 2)
    guard room >= 24, asideRoom > 0 else {
      return [
        Styled(Width.pad(mark + Width.cut(text, to: room), to: columns), style)
      ]
    }
    let kept = Width.cut(text, to: room - asideRoom - 2)
    let end = Width.cut(aside, to: asideRoom)
    let gap = String(repeating: " ", count: max(0, room - Width.of(kept) - Width.of(end) - 1))
    guard style == nil else {
      return [Styled(mark + kept + gap + end + " ", style)]
    }
    return [Styled(mark + kept + gap), Styled(end + " ", .dim)]
  }

  private func textRow(_ row: Int) -> [Styled] {
    guard textSubject == wantedSubject, textTop + row < wrapped.lines.count else { return [] }
    let line = wrapped.lines[textTop + row]
    return [Styled(line.text, line.style)]
  }
}
