internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct GarbageCommand: Verb {
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

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    if auto {
      if notebook.isGarbageCollectionDue { _ = try notebook.collectGarbageIncrementally() }
      try notebook.history.rememberLongHistory()
      return .done
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
    if format.json {
      Output.standard.event([
        "type": .string("packed"), "objects": .int(done.objectsPacked),
        "bytes_before": .int(done.bytesBefore), "bytes_after": .int(done.bytesAfter),
      ])
    } else {
      Output.standard.line(
        done.objectsPacked == 0
          ? "Everything is packed."
          : "Packed \(Counted.things(done.objectsPacked, "object")): "
            + "\(Counted.bytes(done.bytesAfter)) instead of \(Counted.bytes(done.bytesBefore)).")
    }
    return .done
  }
}
