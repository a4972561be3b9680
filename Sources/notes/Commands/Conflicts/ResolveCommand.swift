internal import ArgumentParser
internal import Git
internal import History
internal import Merge
internal import Notebook
internal import WorkTree

struct ResolveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Resolve conflicts by choosing which text to keep.",
    discussion: """
      On a terminal the command shows the blocks of the note, or of all notes in conflict, and \
      asks for each which text to keep. --keep chooses for all blocks, or for those of --block; \
      --tool runs a merge tool. Editing the markers away and saving does the same. The other texts \
      stay in the history.

      Examples:
        notes resolve Journal
        notes resolve Shopping --keep both
        notes resolve Journal --block 2 --keep Ann
        notes resolve Plan --tool 'meld "$LOCAL" "$MERGED" "$REMOTE"'
      """)

  @Argument(help: .named("note", "The note."), completion: LiveCompletion.conflicts)
  var note: String?

  @Option(
    help: .named("side", "The text to keep: older, newer, both, or the name of its author."),
    completion: .list(["older", "newer", "both"]))
  var keep: String?

  @Option(help: .named("n", "Only this block, counted from the top of the note.")) var block:
    [Int] = []

  @Option(
    help: .named("command", "A merge tool; $LOCAL, $BASE, $REMOTE and $MERGED name its files."))
  var tool: String?

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if keep != nil, tool != nil { throw ValidationError("--keep does not go with --tool.") }
    if keep == nil, !block.isEmpty { throw ValidationError("--block goes with --keep.") }
    if block.contains(where: { $0 < 1 }) {
      throw ValidationError("--block takes a number from 1 on.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let path = try note.map { try NotebookLocator.note($0, in: notebook) }
    guard keep != nil || tool != nil else {
      // Only a note in conflict has sides to choose.
      if let path {
        _ = try Self.explained(path, in: notebook) { try notebook.conflictedNote(at: path) }
      }
      // Without a conflict there is no question to ask.
      if try path != nil || !notebook.history.conflicts().isEmpty { try demandTerminal() }
      return try ConflictWalk.settle(path.map { [$0] }, in: notebook)
    }
    guard let path else {
      throw Failure.usage(
        "say which note to resolve", hint: "'notes conflicts' lists the notes in conflict")
    }
    let version = try Self.explained(path, in: notebook) {
      if let tool { return try MergeTool(command: tool).settle(path, in: notebook) }
      return try notebook.resolve(
        path, keeping: Resolution(named: keep ?? ""), blocks: Set(block.map { $0 - 1 }))
    }
    let outcome = try Outcome(of: path, in: notebook, version: version)
    options.tell(outcome.json, outcome.text)
  }

  private func demandTerminal() throws(Failure) {
    guard !options.json, Console.canAsk, Console.output.isInteractive else {
      let name = Visible.word(note ?? "NOTE")
      throw .usage(
        "cannot ask without a terminal: say which text to keep with --keep",
        hint: "run 'notes resolve \(name) --keep older'; or keep newer, both, or the text of a NAME"
      )
    }
  }

  /// Runs `body`; its errors about the note's blocks are reported together with the possible
  /// choices.
  static func explained<Result>(
    _ path: TreePath, in notebook: Notebook, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch MergeError.noSide(let name) {
      let conflict = try notebook.history.conflicts().first { $0.path == path }
      let choices = ["older", "newer", "both"] + (conflict?.sides.map(\.name).eachOnce ?? [])
      throw Failure(
        .failed, "no_such_side", "'\(Visible.name(name))' wrote none of the texts",
        hint: "keep " + Phrase.list(choices.map { "'\($0)'" }, "or"))
    } catch MergeError.noBlock(let number, let count) {
      throw Failure(
        .failed, "no_such_block",
        "\(Visible.name(path)) has no block \(number): it has \(Phrase.count(count, "block"))",
        hint:
          "blocks are counted from the top: 'notes resolve \(Visible.word(path.label))' shows them")
    } catch MergeError.noConflict {
      throw Failure(
        .failed, "no_conflict", "\(Visible.name(path)) has no conflict",
        hint: "'notes conflicts' lists the notes in conflict")
    }
  }
}

extension ResolveCommand {
  /// The result of resolving a note.
  struct Outcome {
    let path: TreePath
    let version: ObjectID?
    /// How many blocks are left in the note, and how many notes are in conflict.
    let blocks: Int
    let conflicts: Int

    init(of path: TreePath, in notebook: Notebook, version: ObjectID?) throws {
      (self.path, self.version) = (path, version)
      let left = try notebook.history.conflicts()
      blocks = left.first { $0.path == path }?.blockCount ?? 0
      conflicts = left.count
    }

    var json: JSON {
      [
        "type": "resolved", "path": path, "version": version, "blocks": blocks,
        "conflicts": conflicts,
      ]
    }

    var text: String {
      let name = Visible.name(path)
      let rest = conflicts > 0 ? "\n\(Phrase.count(conflicts, "conflict")) left to resolve." : ""
      if version == nil { return "Nothing changed in \(name)." + rest }
      if blocks == 0 { return "Resolved \(name)." + rest }
      return "Resolved part of \(name); \(Phrase.count(blocks, "block")) left." + rest
    }
  }
}

extension Resolution {
  /// The choice that `--keep` means.
  init(named name: String) {
    switch name {
    case "older": self = .older
    case "newer": self = .newer
    case "both": self = .both
    default: self = .side(name: name)
    }
  }
}
