import FoundationEssentials
import Git
import Glibc
import Synchronization
import TestSupport

@testable import Notebook

/// A device of the simulated crowd: a real notebook in a folder of its own, with a clock that is
/// wrong.
final class CrowdDevice {
  let number: Int
  let folder: String
  private(set) var notebook: Notebook
  private let clock: WrongClock

  /// Seconds since 1970 as the device believes.
  private final class WrongClock: Sendable {
    let seconds: Atomic<Int64>
    init(_ seconds: Int64) { self.seconds = Atomic(seconds) }
  }

  /// The first device of a world, with a few notes.
  init(first folder: String, random: inout SplitMix64) throws {
    number = 0
    self.folder = folder
    clock = WrongClock(1_700_000_000)
    try makeFolder(folder)
    _ = try Notebook.prepare(at: folder)
    notebook = try Self.adopt(folder, number: 0, clock)
    for name in ["a.txt", "b.txt", "folder/c.txt"] {
      let lines = (0..<Int.random(in: 1..<8, using: &random)).map { "\(name) line \($0)\n" }
      try writeFile(folder + "/" + name, Array(lines.joined().utf8))
    }
    _ = try notebook.save()
  }

  /// A device that begins with a copy of another.
  init(number: Int, copyOf other: CrowdDevice, at folder: String, random: inout SplitMix64) throws {
    self.number = number
    self.folder = folder
    // Years off, either way.
    let years = Int64.random(in: -20...20, using: &random)
    clock = WrongClock(1_700_000_000 + years * 31_556_952)
    try FileManager.default.copyItem(atPath: other.folder, toPath: folder)
    notebook = try Self.adopt(folder, number: number, clock)
    _ = try notebook.save()
  }

  private static func adopt(_ folder: String, number: Int, _ clock: WrongClock) throws -> Notebook {
    let device = DeviceIdentity(name: "D\(number)", deviceID: "DEVICE\(number)")
    let notebook = try Notebook.adopt(
      at: folder, as: NotebookIdentity(id: "crowd", name: "Crowd", device: device))
    notebook.clock = Clock { (clock.seconds.load(ordering: .relaxed), number % 24 * 60 - 660) }
    return notebook
  }

  /// Lets time pass, or jump, as a clock that is set does.
  func tick(_ random: inout SplitMix64) {
    var step = Int64.random(in: 0..<600, using: &random)
    if Int.random(in: 0..<100, using: &random) == 0 {
      step = Int64.random(in: -100_000_000...100_000_000, using: &random)
    }
    clock.seconds.wrappingAdd(step, ordering: .relaxed)
  }

  /// What a new process knows: nothing but what is on the disk.
  func restart() throws {
    notebook = try Self.reopened(folder, number: number, clock)
  }

  private static func reopened(
    _ folder: String, number: Int, _ clock: WrongClock
  ) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.clock = Clock { (clock.seconds.load(ordering: .relaxed), number % 24 * 60 - 660) }
    return notebook
  }

  // MARK: Files

  /// The files in the folder, by path.
  func files() throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where !path.hasPrefix(".git") {
      var status = stat()
      if lstat(folder + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        found[path] = try readFile(folder + "/" + path)
      }
    }
    return found
  }

  // MARK: Objects

  /// Copies what these commits need from another device, as a sync would.
  func fetch(_ heads: [ObjectID], from other: CrowdDevice) throws {
    let (mine, theirs) = (notebook.repository, other.notebook.repository)
    var commits: [Commit] = []
    var waiting = heads
    var seen: Set<ObjectID> = []
    while let id = waiting.popLast() {
      guard seen.insert(id).inserted, try !mine.contains(id) else { continue }
      let commit = try theirs.commit(id)
      commits.append(commit)
      waiting += commit.parents
    }
    // Trees and blobs first: a commit that is there promises all below it.
    for commit in commits { try copyTree(commit.tree, from: theirs, to: mine) }
    for commit in commits.reversed() {
      let object = try theirs.object(commit.id)
      _ = try mine.write(object.kind, object.data)
    }
  }

  private func copyTree(_ id: ObjectID, from theirs: Repository, to mine: Repository) throws {
    if try mine.contains(id) { return }
    let tree = try theirs.tree(id)
    for entry in tree.entries {
      if entry.mode == .tree {
        try copyTree(entry.id, from: theirs, to: mine)
      } else if try !mine.contains(entry.id) {
        _ = try mine.write(blob: theirs.blob(entry.id))
      }
    }
    _ = try mine.write(tree: tree.entries)
  }
}
