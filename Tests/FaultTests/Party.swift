import Git
import Glibc
import TestSupport

/// A device of a story that is interrupted: a user's home and a notebook, in one folder.
struct Party: Sendable {
  let name: String
  let folder: String

  /// The story's folder has one for each party.
  init(_ name: String, in story: String) {
    self.name = name
    folder = story + "/" + name
  }

  var notebook: String { folder + "/notes" }

  /// What `notes` runs with: a clock that stands still, and the faults, if any.
  private func environment(_ faults: [String: String]) throws -> [String: String] {
    var environment = try TestEnvironment.isolated(home: folder + "/home")
    environment["LD_PRELOAD"] = try Interposer.path()
    // Before any file's time: a version is dated by that of its files, but never after now.
    environment["FAULT_TIME"] = "1700000900"
    if !faults.isEmpty { environment["FAULT_ROOT"] = folder }
    return environment.merging(faults) { $1 }
  }

  /// Runs `notes` in the notebook.
  func notes(_ arguments: String..., faults: [String: String] = [:]) throws -> ProcessResult {
    try start(arguments, faults).wait(within: 180)
  }

  /// Runs `notes`, which has to succeed; what it leaves in conflict is no failure.
  @discardableResult
  func succeed(_ arguments: String...) throws -> ProcessResult {
    let result = try start(arguments).wait(within: 180)
    guard result.isSuccess || result.status == .exited(3) else {
      throw FaultRun.Violation(description: "\(name): \(result)")
    }
    return result
  }

  func start(_ arguments: [String], _ faults: [String: String] = [:]) throws -> RunningProcess {
    try makeFolder(notebook)
    let process = try RunningProcess(
      [BuiltBinary.notes()] + arguments, in: notebook, environment: environment(faults))
    process.closeInput()
    return process
  }

  /// Starts `notes serve` or `notes invite`. The port is nil when it ends before it listens.
  func listen(_ arguments: [String], _ faults: [String: String] = [:]) throws -> (
    process: RunningProcess, port: String?, code: String?
  ) {
    let process = try start(
      arguments + ["--json", "--no-discovery", "--listen", "127.0.0.1:0"], faults)
    let awaited = arguments[0] == "invite" ? "\"code\":" : "\"port\":"
    let line = try? process.line(within: 80) { $0.contains(awaited) }
    return (
      process, line.flatMap { Self.field("port", of: $0) },
      line.flatMap { Self.field("code", of: $0) }
    )
  }

  /// The value of a field in a line of JSON whose values hold nothing that is escaped.
  private static func field(_ name: String, of line: String) -> String? {
    guard let range = line.ranges(of: "\"\(name)\":").first else { return nil }
    return String(line[range.upperBound...].drop { $0 == "\"" }.prefix { !"\",}".contains($0) })
  }

  func write(_ name: String, _ text: String) throws {
    try writeFile(notebook + "/" + name, Array(text.utf8))
  }

  /// The commit it shows; nil before there is one.
  func tip() -> ObjectID? {
    guard let repository = try? Repository.open(at: notebook) else { return nil }
    return (try? repository.head())?.commit
  }
}
