internal import Notebook
internal import WorkTree

extension Browser {
  /// Applies a key to the browser's state, and returns the request that the key makes, if any.
  mutating func press(_ key: Key, in layout: Layout) -> Request? {
    message = nil
    isTouched = true
    let doomed = self.doomed
    self.doomed = nil
    if showsHelp {
      showsHelp = false
      return key == .control("c") ? .quit : nil
    }
    switch key {
    case .control("c"): return .quit
    case .control("z"): return .suspend
    case .control("l"): return .reload
    default: break
    }
    if isFiltering, editFilter(key) { return nil }
    let page = max(1, layout.rows - 1)
    if scroll(key, page: page) { return nil }
    switch key {
    case .wheel(let lines, let column):
      move(by: lines, page: page, inText: layout.isText(column, focus))
    case .click(let column, let row):
      if row > 0, row <= layout.rows { point(at: row - 1, inText: layout.isText(column, focus)) }
    case .character("q"): return .quit
    case .character("?"): showsHelp = true
    case .character("/"):
      focus = .notes
      isFiltering = true
    case .enter, .right, .tab, .character("l"): goIn()
    case .left, .escape, .backspace, .character("h"): return goBack()
    case .character("D") where focus == .notes: return showDeleted(!showsDeleted)
    case .character("d"), .character("t"): showsChange.toggle()
    case .character("r") where focus == .notes && showsDeleted:
      return note.map { .recover($0.path) }
    case .character("n") where !showsDeleted: return .new
    case .character("e") where !showsDeleted: return note.map { .edit($0.path) }
    case .character("x") where focus == .notes && !showsDeleted:
      guard let note else { break }
      if doomed == note.path { return .delete(note.path) }
      self.doomed = note.path
      message = Styled("x again deletes \(note.label); any other key does not", .yellow)
    case .character("s"):
      if let note, note.isInConflict { return .settle(note.path) }
      message = Styled("the note is not in conflict", .yellow)
    case .character("r"): return act { .restore($0) }
    case .character("c"): return act { .copy($0) }
    default: break
    }
    return nil
  }

  private mutating func editFilter(_ key: Key) -> Bool {
    switch key {
    case .character(let character): filter.append(character)
    case .pasted(let text): filter += text.filter { !$0.isNewline }
    case .backspace where filter.isEmpty: isFiltering = false
    case .backspace: filter.removeLast()
    case .control("u"): filter = ""
    case .control("w"):
      while filter.last == " " { filter.removeLast() }
      while let last = filter.last, last != " " { filter.removeLast() }
    case .escape:
      filter = ""
      isFiltering = false
    case .enter, .tab: isFiltering = false
    default: return false
    }
    return true
  }

  private mutating func goIn() {
    switch focus {
    case .notes where note != nil: focus = .versions
    case .versions where version != nil: focus = .text
    default: break
    }
  }

  private mutating func goBack() -> Request? {
    switch focus {
    case .text: focus = .versions
    case .versions: focus = .notes
    case .notes where filter.isEmpty && showsDeleted: return showDeleted(false)
    case .notes: filter = ""
    }
    return nil
  }

  private mutating func showDeleted(_ wanted: Bool) -> Request {
    showsDeleted = wanted
    filter = ""
    return .reload
  }

  private mutating func act(_ request: (Revision) -> Request) -> Request? {
    guard focus != .notes, let version else {
      message = Styled("choose a version first: Enter shows the note's versions", .yellow)
      return nil
    }
    guard version.kind != .deleted else {
      message = Styled("this version deleted the note; choose an earlier one", .yellow)
      return nil
    }
    return request(version)
  }

  /// Keys that move in the list or text that has the focus; false for others.
  private mutating func scroll(_ key: Key, page: Int) -> Bool {
    let steps: Int
    switch key {
    case .up, .character("k"), .control("p"): steps = -1
    case .down, .character("j"), .control("n"): steps = 1
    case .pageUp, .character("b"), .control("b"): steps = -page
    case .pageDown, .character(" "), .control("f"): steps = page
    case .home, .character("g"): steps = -1 << 40
    case .end, .character("G"): steps = 1 << 40
    default: return false
    }
    move(by: steps, page: page, inText: focus == .text)
    return true
  }

  private mutating func move(by steps: Int, page: Int, inText: Bool) {
    if inText {
      textTop = max(0, min(textTop + steps, wrapped.lines.count - page))
    } else {
      list.move(by: steps, in: listCount)
    }
  }

  /// A click selects a row of the list; a click on the selected row, or on the text, opens it.
  private mutating func point(at row: Int, inText: Bool) {
    if inText {
      if focus != .text { goIn() }
      return
    }
    let place = row + list.top
    guard place < listCount else { return }
    let wasChosen = focus != .text && place == list.selected
    list.selected = place
    if focus == .text { focus = .versions }
    if wasChosen { goIn() }
  }
}
