import Git
import Glibc
import History
import Notebook
import Synchronization
import TestSupport

/// A device of the simulated crowd: a real notebook in a folder of its own, with a clock that is
/// wrong.
final class CrowdDevice {
  let number: Int
  let folder: String
  private(set) var notebook: Notebook
  /// The files that somebody wrote, moved or removed since the last save looked.
  var touched: Set<String> = []
  /// What others fetch from: open since the device began, whatever other instances store, pack and
  /// remove meanwhile, as in a service that runs for months.
  let served: Repository
  let clock: WrongClock

  /// Seconds since 1970 as the device believes.
  final class WrongClock: Sendable {
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
    served = try Repository.open(at: folder)
    for name in ["a.txt", "b.txt", "folder/c.txt"] {
      let lines = (0..<Int.random(in: 1..<8, using: &random)).map { "\(name) line \($0)\n" }
      try writeFile(folder + "/" + name, Array(lines.joined().utf8))
    }
    _ = try notebook.save()
  }

  /// A device that begins with what another one has.
  init(number: Int, joining other: CrowdDevice, at folder: String, random: inout SplitMix64) throws
  {
    self.number = number
    self.folder = folder
    // Years off, either way.
    let years = Int64.random(in: -20...20, using: &random)
    clock = WrongClock(1_700_000_000 + years * 31_556_952)
    try makeFolder(folder)
    _ = try Notebook.prepare(at: folder)
    notebook = try Self.adopt(folder, number: number, clock)
    served = try Repository.open(at: folder)
    let heads = try other.notebook.state().heads
    try fetch(heads, from: other, by: .packs)
    _ = try notebook.merge(heads)
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
    let clock = notebook.clock
    notebook = try Notebook.open(at: folder)
    notebook.clock = clock
  }

  /// Packs what is stored, as another process would beside the one at work.
  func tidy(all: Bool) throws {
    let other = try Notebook.open(at: folder)
    _ = all ? try other.collectGarbage() : try other.collectGarbageIncrementally()
  }

  // MARK: Files

  /// The names of the files in the folder, sorted.
  func names() throws -> [String] {
    var found: [String] = []
    try list("", into: &found)
    return found.sorted()
  }

  private func list(_ prefix: String, into found: inout [String]) throws {
    guard let stream = opendir(folder + "/" + prefix) else { throw SystemError("opendir", prefix) }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = String(decoding: nameBytes(of: entry), as: UTF8.self)
      if name.hasPrefix(".git") || name == "." || name == ".." { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) {
        try list(prefix + name + "/", into: &found)
      } else if entry.pointee.d_type == UInt8(DT_REG) {
        found.append(prefix + name)
      }
    }
  }

  /// The files in the folder, by path.
  func files() throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in try names() { found[name] = try readFile(folder + "/" + name) }
    return found
  }

  /// What stands in the files that somebody wrote since the last save.
  func unsaved() throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in touched {
      var status = stat()
      guard lstat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      found[name] = try readFile(folder + "/" + name)
    }
    return found
  }
}
