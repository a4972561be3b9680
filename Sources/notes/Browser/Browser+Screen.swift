extension Browser {
  /// The number of columns from which list and text are side by side, and from which times are in
  /// words.
  static let (wideColumns, roomyColumns) = (64, 44)

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
      let left = layout.isWide || focus != .text ? listRows(layout, now: now) : []
      for row in 0..<layout.rows {
        var spans = row < left.count ? left[row] : []
        if layout.isWide {
          spans += [Styled(String.spaces(layout.listColumns - spans.width)), Styled("│ ", .dim)]
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
        spans += [Styled("  /", .cyan), Styled(Visible.name(filter) + (isFiltering ? "_" : ""))]
      }
    case .versions, .text:
      spans += [Styled(" · "), Styled(note?.label ?? "", .bold)]
      if focus == .text || layout.isWide, let version {
        let time = TimeText.local(version.time)
        spans.append(Styled(" @ \(version.id.short) · \(version.author), \(time)", .dim))
      } else {
        let count = Phrase.count(versions.count, "version")
        spans.append(Styled(" · \(count)\(hasMoreVersions ? " and more" : "")"))
      }
    }
    return spans
  }

  private func footline(_ columns: Int) -> [Styled] {
    if let message { return [message] }
    if showsHelp { return [Styled("any key goes back", .dim)] }
    let other = showsChange ? "d text" : "d change"
    var keys =
      switch focus {
      case .notes where isFiltering:
        ["type words of the title or text", "Enter done", "Esc all notes"]
      case .notes where showsDeleted:
        ["? help", "r restore", "Enter versions", "Esc back", "q quit"]
      case .notes where note?.isInConflict == true:
        ["? help", "s settle", "Enter versions", "/ filter", "q quit", "D deleted", "↑↓ choose"]
      case .notes:
        [
          "? help", "Enter versions", "/ filter", "q quit", "e edit", "n new", "D deleted",
          "↑↓ choose",
        ]
      case .versions: ["? help", "r restore", "c copy", other, "← back", "↑↓ choose"]
      case .text: ["? help", "← back", other, "r restore", "c copy", "↑↓ scroll"]
      }
    // The most important keys come first, and the last ones are dropped first.
    while keys.count > 1, Width.of(keys.joined(separator: " · ")) > columns { keys.removeLast() }
    return [Styled(keys.joined(separator: " · "), .dim)]
  }

  static let help = [
    "Keys", "",
    "  ↑ ↓  j k        one line up, down",
    "  PgUp PgDn       a page up, down",
    "  Home End  g G   first line, last line",
    "  /               filter the notes by their titles and texts",
    "  Enter → l       the versions of the note; the text of the version",
    "  Esc ← h         back",
    "  d               what the version changed, or its whole text",
    "  r               restore the version; the present text becomes a version",
    "  c               copy the version to a new note",
    "  e  n            edit the note; make a new note",
    "  x               pressed twice, delete the note; its text stays",
    "  s               resolve the conflict of a note marked with !",
    "  D               the deleted notes (r restores the last text); back",
    "  Ctrl-L          read the folder again",
    "  Ctrl-Z          suspend; fg in the shell returns", "  q  Ctrl-C       quit", "",
    "! marks a conflict, * a note that others changed since you last looked at it.",
    "The mouse chooses and scrolls; hold Shift to select text.",
  ]

  private func listRows(_ layout: Layout, now: Int64) -> [[Styled]] {
    let columns = layout.listColumns
    func when(_ time: Int64) -> String {
      columns < Self.roomyColumns
        ? TimeText.short(time, now: now) : TimeText.relative(time, now: now)
    }
    if listCount == 0 {
      let words = showsDeleted ? "no note was deleted" : "no notes yet"
      let nothing = focus != .notes ? "no versions yet" : notes.isEmpty ? words : "no note matches"
      return [[Styled(nothing, .dim)]]
    }
    return (list.top..<min(listCount, list.top + layout.rows)).map { place in
      let (text, aside): (String, String)
      if focus == .notes {
        let note = listed[place]
        let mark = note.isInConflict ? "! " : note.isNew ? "* " : ""
        (text, aside) = (mark + note.label, when(note.modified))
      } else {
        let version = versions[place]
        (text, aside) = (when(version.time) + " · " + version.subject, version.author)
      }
      let style: Style? = place != list.selected ? nil : focus == .text ? .bold : .reverse
      return Self.row(text, aside, style, columns: columns)
    }
  }

  private static func row(
    _ text: String, _ aside: String, _ style: Style?, columns: Int
  ) -> [Styled] {
    let mark = style == nil ? "  " : "> "
    let room = columns - 2
    let asideRoom = min(Width.of(aside), room / 2)
    guard room >= 24, asideRoom > 0
    else { return [Styled(Width.pad(mark + Width.cut(text, to: room), to: columns), style)] }
    let end = Width.cut(aside, to: asideRoom) + " "
    let kept = Width.cut(text, to: room - asideRoom - 2)
    let start = mark + Width.pad(kept, to: room - Width.of(end))
    return style == nil ? [Styled(start), Styled(end, .dim)] : [Styled(start + end, style)]
  }

  private func textRow(_ row: Int) -> [Styled] {
    guard wantedSubject != nil, textSubject == wantedSubject, textTop + row < wrapped.lines.count
    else { return [] }
    return [wrapped.lines[textTop + row]]
  }
}
