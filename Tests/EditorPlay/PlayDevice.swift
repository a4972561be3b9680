import Git
import Glibc
import History
import Notebook
import Synchronization
import TestSupport
import WorkTree

/// An editor that has a note open.
struct PlayEditor {
  let note: String
  let byRename: Bool
  let hasLock: Bool
  var buffer: [String]
  /// What it loaded or wrote last.
  var held: String
  /// Words that it took away since then.
  var removed: Set<String> = []
}

/// What was written to a note since the device saved it last.
struct WrittenNote {
  /// What its writer held before.
  var held: String
  var removed: Set<String> = []
}

/// A device of a play, with the notebook, and what was done on it.
final class PlayDevice {
  let name: String
  let folder: TemporaryFolder
  let notebook: Notebook
  var editor: PlayEditor?
  var written: [String: WrittenNote] = [:]
  /// What `notes` saw last.
  var known: [String: String] = [:]
  var former = FormerRule()
  /// The words that were typed here.
  var own: Set<String> = []

  init(_ name: String, _ seconds: PlaySeconds) throws {
    self.name = name
    folder = try TemporaryFolder()
    _ = try Notebook.prepare(at: folder.path)
    notebook = try Notebook.adopt(
      at: folder.path,
      as: NotebookIdentity(
        id: "play", name: "Play", device: DeviceIdentity(name: name, deviceID: name + "ID")))
    notebook.clock = Clock { (seconds.now.load(ordering: .relaxed), 0) }
  }

  func write(_ text: String, to name: String) throws {
    try writeFile(folder[name], Array(text.utf8))
  }

  /// Reads as any program does.
  func read(_ name: String) throws -> String {
    String(decoding: try readFile(folder[name]), as: UTF8.self)
  }
}

/// The time of all devices, so that a seed plays the same again.
final class PlaySeconds: Sendable {
  let now = Atomic<Int64>(2_000_000_000)
}
