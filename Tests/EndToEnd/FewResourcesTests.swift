import Glibc
import TestSupport
import Testing

/// A group of processes that have so much memory together: cgroup version 1, or 2 where it hands memory
/// on.
private struct MemoryGroup {
  let folder: String
  private let tasks: String

  private static var parent: (folder: String, limit: String, tasks: String)? {
    let root = "/sys/fs/cgroup"
    let known = [
      (root + "/memory", "memory.limit_in_bytes", "tasks"), (root, "memory.max", "cgroup.procs"),
    ]
    return known.first { folder, limit, _ in
      let trial = folder + "/notes-test-\(getpid())-trial"
      guard mkdir(trial, 0o755) == 0 else { return false }
      defer { rmdir(trial) }
      return access(trial + "/" + limit, W_OK) == 0
    }
  }

  static let isToBeHad = parent != nil

  init(bytes: Int) throws {
    let parent = try #require(Self.parent)
    folder = parent.folder + "/notes-test-\(getpid())"
    tasks = folder + "/" + parent.tasks
    try #require(mkdir(folder, 0o755) == 0)
    try writeFile(folder + "/" + parent.limit, Array("\(bytes)".utf8))
  }

  /// The words before a command that runs in the group.
  var before: [String] { ["sh", "-c", "echo $$ >\(tasks) && exec \"$@\"", "sh"] }

  func remove() { rmdir(folder) }
}

/// notes-watch(1), "Few descriptors", for a process that has hardly any; and one with little memory.
@Suite("Few descriptors, little memory")
struct FewResourcesTests {
  let folder: TemporaryFolder
  let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    environment = try TestEnvironment.isolated(home: folder["home"])
    _ = try run(
      [BuiltBinary.notes(), "init", "Home"], in: folder.path, environment: environment)
  }

  /// What other tests had open when the process was made is not its own.
  private static let closeOthers =
    "for n in /proc/self/fd/*; do n=${n##*/}; if ((n > 2)); then exec {n}>&-; fi; done"

  private func watch(descriptors: Int) throws -> RunningProcess {
    let notes = try BuiltBinary.notes()
    return try RunningProcess(
      [
        "bash", "-c", "\(Self.closeOthers); ulimit -n \(descriptors); exec \"$0\" \"$@\"", notes,
        "watch", "--json", "--no-discovery", "--listen", "127.0.0.1:0",
      ], in: folder["Home"], environment: environment)
  }

  @Test(
    "the first version of 10,000 notes is made in 32 MiB",
    .enabled("this machine makes no group of memory", { MemoryGroup.isToBeHad }))
  func memory() throws {
    for number in 0..<10_000 {
      try writeFile(folder["Many/n\(number).txt"], Array("note \(number)\n".utf8))
    }
    let group = try MemoryGroup(bytes: 32 << 20)
    defer { group.remove() }
    let words = group.before + [try BuiltBinary.notes(), "init", "--yes", "--json"]
    let made = try run(words, in: folder["Many"], environment: environment)
    #expect(made.isSuccess && made.text.contains(#""notes":10000"#), "\(made)")
  }

  @Test("24 are enough to version what is written")
  func enough() throws {
    let watcher = try watch(descriptors: 24)
    _ = try watcher.line { $0.contains("listening") }
    for number in 0..<5 {
      try folder.write("\(number)\n", to: "Home/n\(number).txt")
      _ = try watcher.line { $0.contains(#""type":"version""#) }
    }
    #expect(watcher.isRunning)
    _ = try watcher.terminate()
    let log = try run(["git", "log", "--format=%s"], in: folder["Home"], environment: environment)
    for number in 0..<5 { #expect(log.text.contains("n\(number)"), "\(log.text)") }
  }

  @Test("with 14 it stays, and says what it lacks")
  func tooFew() throws {
    let watcher = try watch(descriptors: 14)
    try folder.write("text\n", to: "Home/n.txt")
    let line = try watcher.line { $0.contains(#""type":"failed""#) }
    #expect(line.contains("too many open files"), "\(line)")
    #expect(watcher.isRunning)
    _ = try watcher.terminate()
    // The next one catches up.
    let whole = try watch(descriptors: 256)
    _ = try whole.line { $0.contains(#""type":"version""#) }
    _ = try whole.terminate()
  }
}
