internal import ArgumentParser
internal import History
internal import Notebook
internal import Synchronization
internal import System

struct GarbageCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "Pack the history so that it uses less disk space.",
    discussion: """
      Puts every version, and everything else that is stored, into one pack that keeps older \
      versions as differences. It removes nothing. Versions that a git command dropped more than \
      90 days ago are no longer kept: 'git gc' removes them. 'notes save' and 'notes sync' pack by \
      themselves when many objects are unpacked.

      Examples:
        notes gc
      """)

  @Flag(
    help: ArgumentHelp(
      "Pack only if there is much to pack; say nothing.", visibility: .hidden))
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
        "bytes_after": done.bytesAfter, "versions_released": done.versionsReleased,
      ], Self.text(of: done))
  }

  private static func text(of done: GarbageCollection) -> String {
    let packed =
      done.objectsPacked == 0
      ? "Everything is packed."
      : "Packed the history: "
        + "\(Phrase.bytes(done.bytesAfter)) instead of \(Phrase.bytes(done.bytesBefore))."
    guard done.versionsReleased > 0 else { return packed }
    return packed + "\n\(Phrase.count(done.versionsReleased, "version")) that git commands dropped "
      + "more than \(GarbageCollection.keepingDays) days ago are no longer kept; 'git gc' "
      + "removes them."
  }
}

/// Packs loose objects and reads a long history while nobody waits. This is `notes gc --auto`, a process in a
/// session of its own, which continues when the terminal is closed.
enum BackgroundGC {
  private static let started = Mutex<[ChildProcess]>([])

  /// Nothing depends on it, so a failure to start is ignored: the next command tries again.
  static func startIfDue(in notebook: Notebook) {
    if notebook.isGarbageCollectionDue { start(inFolder: notebook.folder) }
  }

  /// Starting two at once is harmless: the second one exits.
  static func start(inFolder folder: String) {
    let words = ["notes", "gc", "--auto", "-C", folder].map { Array($0.utf8) }
    guard
      // Packing can wait: the next command tries again.
      let child = try? ChildProcess(
        "/proc/self/exe", arguments: words, input: .null, output: .null, errors: .null,
        group: .session)
    else { return }
    // A process that runs for months would collect zombies.
    started.withLock { started in
      started.removeAll(where: \.hasEnded)
      started.append(child)
    }
  }
}
