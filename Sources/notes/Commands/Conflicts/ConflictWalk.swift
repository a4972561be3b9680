internal import Exchange
internal import Git
internal import History
internal import Merge
internal import Notebook
internal import State
internal import WorkTree

/// Shows the blocks of notes in conflict and asks about each: notes-resolve(1), "Block by block".
struct ConflictWalk {
  let note: ConflictedNote
  let terminal: Terminal
  /// The authors of the sides, by their labels.
  let writers: [[UInt8]: String]

  init(_ note: ConflictedNote, in notebook: Notebook, terminal: Terminal) throws {
    (self.note, self.terminal) = (note, terminal)
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let sharedNames = OwnMembership(of: notebook).sharedNames
    writers = try proofs.authors(ofSides: note.blocks.joined(), in: note.path)
      .mapValues { sharedNames.shown($0) }
  }

  /// The answer for a block.
  enum Answer: Equatable {
    /// The side with this number, oldest first.
    case side(Int)
    case both, edit, skip, quit, help

    /// Reads the typed answer, for a block with `sides` sides.
    init?(_ typed: String, sides: Int) {
      switch typed.lowercased().filter({ !$0.isWhitespace }) {
      case "o", "older": self = .side(0)
      case "n", "newer": self = .side(sides - 1)
      case "b", "both": self = .both
      case "e", "edit": self = .edit
      case "s", "skip": self = .skip
      case "q", "quit": self = .quit
      case "?", "h", "help": self = .help
      case let text:
        guard sides > 2, let number = Int(text), (1...sides).contains(number) else { return nil }
        self = .side(number - 1)
      }
    }
  }

  /// Asks about the blocks of these notes, or of all notes in conflict if nil. Makes a version for each note
  /// with choices.
  static func settle(_ paths: [TreePath]?, in notebook: Notebook) throws {
    let paths = try paths ?? notebook.history.conflicts().map(\.path)
    if paths.isEmpty { return Output.standard.line("No conflicts.") }
    for path in paths {
      let goesOn = try ResolveCommand.explained(path, in: notebook) {
        let note = try notebook.conflictedNote(at: path)
        return try ConflictWalk(note, in: notebook, terminal: Console.output).settle(in: notebook)
      }
      if !goesOn { return }
    }
  }

  /// Asks about each block, and makes a version.
  ///
  /// - Returns: whether to continue with another note.
  private func settle(in notebook: Notebook) throws -> Bool {
    var texts: [Int: [UInt8]] = [:]
    var goesOn = true
    try ScratchFolder.use(of: notebook.stateFolder) { folder in
      for number in note.blocks.indices where goesOn {
        goesOn = try ask(about: number, folder, &texts)
      }
      let version =
        texts.isEmpty
        ? nil : try notebook.settle(note, as: note.marked.text(replacing: texts))
      let outcome = try ResolveCommand.Outcome(of: note.path, in: notebook, version: version)
      Output.standard.line(terminal.wrapped(outcome.text))
    }
    return goesOn
  }

  /// - Returns: whether to continue with the next block.
  private func ask(
    about number: Int, _ folder: ScratchFolder, _ texts: inout [Int: [UInt8]]
  ) throws -> Bool {
    let sides = note.blocks[number]
    Output.standard.write(
      BlockText(note: note, number: number, writers: writers).text(on: terminal))
    while true {
      let question = "Keep [\(Self.keys(sides: sides.count))]? "
      guard let typed = Console.ask(question) else {
        Output.errors.line()
        return false
      }
      switch Answer(typed, sides: sides.count) {
      case .side(let side): texts[number] = sides[side].text
      case .both: texts[number] = note.marked.blocks[number].flatMap(\.text)
      case .edit:
        guard let text = try edited(number, folder) else { continue }
        texts[number] = text
      case .skip: break
      case .quit: return false
      case .help, nil:
        Output.errors.write(Self.help(sides: sides.count))
        continue
      }
      return true
    }
  }

  /// A block's text from the editor; nil if the editor changes nothing, or fails.
  private func edited(_ number: Int, _ folder: ScratchFolder) throws -> [UInt8]? {
    let block = Array(note.marked.source(ofBlock: number))
    let file = try folder.file("block-\(number + 1)", of: note.path, block)
    do {
      try Editor.find().edit([Array(file.utf8)])
      let text = try folder.read(file)
      if text != block { return text }
      Output.errors.line("The block is as it was.")
    } catch let failure as Failure {
      Output.errors.line("notes: error: \(failure.message)")
    }
    return nil
  }

  private static func keys(sides: Int) -> String {
    sides > 2 ? "o,n,1-\(sides),b,e,s,q,?" : "o,n,b,e,s,q,?"
  }

  private static func help(sides: Int) -> String {
    let numbers = sides > 2 ? "1-\(sides)  the text of that number\n" : ""
    return """
      o  the \(sides > 2 ? "oldest" : "older") text
      n  the \(sides > 2 ? "newest" : "newer") text
      \(numbers)b  both: all of them, in the order of the note
      e  edit the block
      s  skip it: the block stays
      q  quit: this block and those that follow stay

      """
  }
}
