internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct GarbageCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "gc",
    abstract: "Pack all that is stored, so that it takes less room.",
    discussion: """
      Every version, and everything else that is stored, goes into one pack in which older versions \
      are kept as differences. Nothing is dropped. 'notes save' and 'notes sync' pack what has \
      gathered by themselves when there is much of it.

      Examples:
        notes gc
      """)

  @Flag(
    help: ArgumentHelp(
      "Only if much has gathered, and only what has; say nothing.", visibility: .hidden))
  var auto = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    if auto {
      if notebook.isGarbageCollectionDue { _ = try notebook.collectGarbageIncrementally() }
      try notebook.history.rememberLongHistory()
      return
    }
    let line = ProgressLine()
    defer { line.clear() }
    let collected = try notebook.collectGarbage { line.show("packing", $0, of: $1, "object") }
    line.clear()
    guard let done = collected else {
      throw Failure(
        .failed, "busy", "git or another notes command is packing this notebook",
        hint: "wait until it has finished")
    }
    options.tell(
      [
        "type": "packed", "objects": done.objectsPacked, "bytes_before": done.bytesBefore,
        "bytes_after": done.bytesAfter,
      ],
      done.objectsPacked == 0
        ? "Everything is packed."
        : "Packed \(Phrase.count(done.objectsPacked, "object")): "
          + "\(Phrase.bytes(done.bytesAfter)) instead of \(Phrase.bytes(done.bytesBefore)).")
  }
}
