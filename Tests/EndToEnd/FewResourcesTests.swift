import Glibc
import TestSupport
import Testing

/// notes-watch(1), "Few descriptors", for a process that has hardly any.
@Suite("A watcher with few descriptors")
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
