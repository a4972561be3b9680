import FoundationEssentials
import Git
import Glibc
import History
package import Notebook
import Synchronization
import TestSupport
import WorkTree

/// A notebook in a folder of its own, with a clock that the test moves.
package final class Fixture {
  package let path: String
  package let notebook: Notebook
  package let seconds = SharedSeconds()

  /// The seconds the notebook's clock shows; shared with its closure.
  package final class SharedSeconds: Sendable {
    private let value = Atomic<Int64>(1_700_000_000)
    package var now: Int64 {
      get { value.load(ordering: .relaxed) }
      set { value.store(newValue, ordering: .relaxed) }
    }
  }

  /// - Parameter parent: where the notebook's folder is made; $TMPDIR or /tmp when nil.
  package init(device: String = "Ada", in parent: String? = nil) throws {
    let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((parent + "/notes-nb-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else { throw NotebookError.notANotebook(folder: parent) }
    path = String(cString: made)
    _ = try Notebook.prepare(at: path)
    notebook = try Notebook.adopt(
      at: path,
      as: NotebookIdentity(
        id: "test", name: "Home",
        device: DeviceIdentity(name: device, deviceID: device.uppercased() + "ID")))
    let seconds = self.seconds
    notebook.clock = Clock { (seconds.now, 60) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func write(_ name: String, _ text: String) throws {
    try writeFile(path + "/" + name, Array(text.utf8))
  }

  /// Writes a file as a program did at that time.
  package func write(_ name: String, _ text: String, at time: Int64) throws {
    try write(name, text)
    let stamp = timespec(tv_sec: Int(time), tv_nsec: 0)
    guard utimensat(AT_FDCWD, path + "/" + name, [stamp, stamp], 0) == 0 else {
      throw SystemError("utimensat", name)
    }
  }

  package func read(_ name: String) throws -> String? {
    guard access(path + "/" + name, F_OK) == 0 else { return nil }
    return String(decoding: try readFile(path + "/" + name), as: UTF8.self)
  }

  package func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path + "/" + name)
  }

  /// What git prints, run in the folder by a person of its own.
  package func git(_ arguments: [String]) throws -> String {
    let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    let result = try TestSupport.run(["git", "-C", path] + person + arguments)
    guard result.isSuccess else { throw GitFailure(words: arguments, text: result.errorText) }
    return result.text
  }

  /// A second device with the same history so far.
  package func clone(device: String) throws -> Fixture {
    let other = try Fixture(device: device)
    try other.receive(from: self)
    return other
  }

  /// Copies all objects of `other` and joins its heads, as a sync would.
  @discardableResult
  package func receive(from other: Fixture) throws -> MergeOutcome {
    try copyObjects(from: other)
    return try notebook.merge(other.notebook.state().heads)
  }

  package func copyObjects(from other: Fixture) throws {
    let heads = try other.notebook.state().heads
    for id in try other.notebook.repository.commits(from: heads) {
      let commit = try other.notebook.repository.object(id)
      _ = try notebook.repository.write(commit.kind, commit.data)
      try copyTree(other.notebook.repository.commit(id).tree, from: other)
    }
  }

  private func copyTree(_ id: ObjectID, from other: Fixture) throws {
    if try notebook.repository.contains(id) { return }
    let tree = try other.notebook.repository.tree(id)
    for entry in tree.entries {
      if entry.mode == .tree {
        try copyTree(entry.id, from: other)
      } else {
        _ = try notebook.repository.write(blob: other.notebook.repository.blob(entry.id))
      }
    }
    _ = try notebook.repository.write(tree: tree.entries)
  }
}

/// A git command that failed.
private struct GitFailure: Error {
  let words: [String]
  let text: String
}
