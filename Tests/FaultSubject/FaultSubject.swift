internal import Git
internal import Glibc
import History
internal import Notebook
import WorkTree

/// The process that the fault tests kill: one operation of the library on the notebook in a folder,
/// with a clock that stands still, so that what it makes has the same ID each time.
///
///     FaultSubject init|save FOLDER
///     FaultSubject join FOLDER HEAD...
///     FaultSubject receive FOLDER PACK HEAD...     take in a pack, then join
///     FaultSubject restore FOLDER NOTE VERSION
///
/// Prints the tip. A failure is a line on standard error and exit code 1.
@main
struct FaultSubject {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      let message = Array("\(error)\n".utf8)
      write(STDERR_FILENO, message, message.count)
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw UsageError() }
    let folder = arguments[1]
    let rest = Array(arguments.dropFirst(2))
    if arguments[0] == "init" { try makeNotebook(at: folder) }
    let notebook = try Notebook.open(at: folder)
    notebook.clock = Clock { (1_700_000_900, 60) }
    switch arguments[0] {
    case "init", "save": _ = try notebook.save()
    case "join": _ = try notebook.merge(rest.compactMap { ObjectID(hex: $0) })
    case "receive":
      let heads = rest.dropFirst().compactMap { ObjectID(hex: $0) }
      let quarantine = try notebook.repository.quarantine()
      try quarantine.append(try bytes(of: rest[0]))
      try quarantine.join(promised: heads)
      _ = try notebook.merge(heads)
    case "restore":
      guard let version = ObjectID(hex: rest[1]) else { throw UsageError() }
      _ = try notebook.restore(TreePath(rest[0]), from: notebook.repository.commit(version))
    default: throw UsageError()
    }
    print(try notebook.state().tip?.hex ?? "none")
  }

  private static func makeNotebook(at folder: String) throws {
    do {
      _ = try Notebook.prepare(at: folder)
    } catch NotebookError.alreadyANotebook {
      return
    }
    _ = try Notebook.adopt(
      at: folder,
      as: NotebookIdentity(
        id: "fault", name: "Fault", device: DeviceIdentity(name: "Ada", deviceID: "ADA")))
  }

  private static func bytes(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw UsageError() }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  struct UsageError: Error {}
}
