import FoundationEssentials
import Git
import Glibc
import TestSupport

@testable import Notebook

/// Runs of one scenario, each from the same state: without a fault first, which tells what every
/// interrupted run must come to and which calls there are to interrupt.
final class FaultRun: Sendable {
  /// What a notebook comes to.
  struct Outcome: Equatable {
    var tip: String
    /// The folder's files: their bytes and whether they are executable.
    var files: [String: [UInt8]]
    var executables: Set<String>
  }

  /// Something that did not hold.
  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  let scenario: Scenario
  /// The calls that change the file system, in order: `KIND PATH`.
  let calls: [String]
  let outcome: Outcome

  private let arguments: [String]
  private let work: MemoryFolder
  private let template: Template
  private let binary: String

  init(_ scenario: Scenario) throws {
    self.scenario = scenario
    work = try MemoryFolder()
    template = Template(folder: work.path + "/template")
    try makeFolder(template.notebookFolder)
    try makeFolder(template.aside)
    arguments = try scenario.prepare(template)
    binary = try BuiltBinary.path(of: "FaultSubject")

    let folder = work.path + "/plain"
    let log = work.path + "/log"
    try Self.start(folder, template: template, scenario)
    let subject = Subject(
      binary: binary, arguments: arguments, folder: folder, home: work.path + "/home")
    let result = try subject.run(["FAULT_LOG": log])
    guard result.isSuccess else { throw Violation(description: "\(scenario): \(result)") }
    calls = String(decoding: try readFile(log), as: UTF8.self).split(separator: "\n")
      .map(String.init)
    outcome = try Self.outcome(of: folder + "/notebook", tip: result.lines.last ?? "")
    removeTree(folder)
  }

  deinit { work.remove(["template", "home", "log", "plain"]) }

  /// Copies the template and edits the copy.
  private static func start(_ folder: String, template: Template, _ scenario: Scenario) throws {
    try makeFolder(folder)
    let notebook = folder + "/notebook"
    try FileManager.default.copyItem(atPath: template.notebookFolder, toPath: notebook)
    // A copy has inodes of its own: the index is to know them, as in a notebook in use.
    if access(notebook + "/.git", F_OK) == 0 { _ = try Notebook.open(at: notebook).save() }
    try scenario.edit(notebook)
  }

  /// Interrupts call number `point`, and checks all that must hold then and after the next command.
  ///
  func interrupt(at point: Int, by fault: Fault) throws -> Play {
    let folder = work.path + "/\(point) \(fault)"
    do {
      let play = try play(point, fault, in: folder)
      removeTree(folder)
      return play
    } catch {
      throw Violation(
        description: "\(scenario), call \(point) of \(calls.count) (\(calls[point - 1])), \(fault):"
          + " \(error)\nKept in \(folder)")
    }
  }

  private func play(_ point: Int, _ fault: Fault, in folder: String) throws -> Play {
    try Self.start(folder, template: template, scenario)
    let notebook = folder + "/notebook"
    let before = try Self.files(in: notebook).filter { $0.value != Array("/".utf8) }
    let subject = Subject(
      binary: binary, arguments: arguments, folder: folder, home: work.path + "/home")
    var environment = fault.environment
    environment["FAULT_AT"] = "\(point)"
    environment["FAULT_MET"] = folder + "/met"
    let broken = try subject.run(environment)
    // Where the clock ticked between two calls, a run reads a file again, or does not.
    let isMet = access(folder + "/met", F_OK) == 0
    let isForeseen =
      switch broken.status {
      case .exited(0): !isMet || !fault.isDeath
      case .exited(1): isMet && !fault.isDeath
      case .exited: false
      case .signalled(let signal): fault.isDeath && signal == SIGKILL
      }
    guard isForeseen else {
      throw Violation(description: "ended in an unforeseen way: \(broken)")
    }
    try checkGit(notebook, after: fault)
    // Those that only look must work as well on what was left.
    let status = try? Notebook.open(at: notebook).status()
    if status == nil, scenario.name != "init" {
      let failure = Result { try Notebook.open(at: notebook).status() }
      throw Violation(description: "status fails: \(failure)")
    }
    let again = try subject.run([:])
    guard again.isSuccess else { throw Violation(description: "the next command: \(again)") }
    var reached = try Self.outcome(of: notebook, tip: again.lines.last ?? "")
    // A folder that could not be removed when its last file went may stay.
    var expected = outcome
    if !fault.isDeath {
      reached.files = reached.files.filter { $0.value != Array("/".utf8) }
      expected.files = expected.files.filter { $0.value != Array("/".utf8) }
    }
    guard reached == expected else {
      throw Violation(description: "came to \(reached.difference(from: expected))")
    }
    try checkGit(notebook)
    try checkHistory(notebook, holds: before)
    try checkLeftovers(notebook)
    return !isMet ? .unreached : broken.isSuccess ? .harmless : .broken
  }

  /// "`git fsck --strict` works on every notebook at every moment."
  private func checkGit(_ notebook: String, after fault: Fault? = nil) throws {
    let environment = try Subject.environment(home: work.path + "/home")
    let branch = try? Repository.open(at: notebook).head()
    // Before the first version there may be half a repository.
    if fault != nil, branch?.commit == nil { return }
    let checked = try run(
      ["git", "-C", notebook, "fsck", "--strict", "--no-dangling", "--no-progress"],
      environment: environment)
    // A branch without a commit yet is no fault of the repository.
    let complaints = checked.errorText.split(separator: "\n").filter { !$0.hasPrefix("notice: ") }
    guard checked.isSuccess, complaints.isEmpty else {
      throw Violation(
        description: "git fsck \(fault == nil ? "in the end" : "at once"): \(checked)")
    }
  }

  /// Every byte that stood in a file is in a version.
  private func checkHistory(_ folder: String, holds files: [String: [UInt8]]) throws {
    let repository = try Repository.open(at: folder)
    guard let tip = try repository.head().commit else { throw Violation(description: "no tip") }
    var known: Set<ObjectID> = []
    for id in try repository.commits(from: [tip]) {
      for file in try repository.files(in: repository.commit(id).tree) {
        known.insert(file.entry.id)
      }
    }
    for (path, bytes) in files where !known.contains(try repository.hash(blob: bytes)) {
      throw Violation(description: "lost: \(path): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  private func checkLeftovers(_ folder: String) throws {
    let found = try FileManager.default.subpathsOfDirectory(atPath: folder + "/.git").filter {
      $0.hasSuffix(".lock") || $0.hasPrefix("notes/checkout/")
        || $0.hasPrefix("refs/notes-state/rescued") || $0.hasPrefix("notes/lingering/")
    }
    guard found.isEmpty else { throw Violation(description: "left behind: \(found)") }
    let status = try run(
      ["git", "-C", folder, "status", "--porcelain"],
      environment: Subject.environment(home: work.path + "/home"))
    guard status.isSuccess, status.output.isEmpty else {
      throw Violation(description: "git status: \(status)")
    }
  }

  private static func outcome(of folder: String, tip: String) throws -> Outcome {
    let files = try files(in: folder)
    return Outcome(
      tip: tip, files: files,
      executables: Set(files.keys.filter { isExecutableFile(folder + "/" + $0) }))
  }

  private static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_mode & S_IXUSR != 0
  }

  private static func files(in folder: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where !path.hasPrefix(".git/") && path != ".git" {
      var status = stat()
      guard lstat(folder + "/" + path, &status) == 0 else { continue }
      // Empty folders count too: none must be left over.
      found[path] =
        status.st_mode & S_IFMT == S_IFREG ? try readFile(folder + "/" + path) : Array("/".utf8)
    }
    return found.filter { $0.value != Array("/".utf8) || !hasChild($0.key, in: found) }
  }

  private static func hasChild(_ folder: String, in files: [String: [UInt8]]) -> Bool {
    files.keys.contains { $0.hasPrefix(folder + "/") }
  }
}

extension FaultRun.Outcome {
  func difference(from other: FaultRun.Outcome) -> String {
    var lines: [String] = []
    if tip != other.tip { lines.append("tip \(tip) instead of \(other.tip)") }
    for path in Set(files.keys).union(other.files.keys).sorted()
    where files[path] != other.files[path] {
      func text(_ bytes: [UInt8]?) -> String {
        bytes.map { "\(String(decoding: $0, as: UTF8.self).debugDescription)" } ?? "nothing"
      }
      lines.append("\(path): \(text(files[path])) instead of \(text(other.files[path]))")
    }
    if executables != other.executables { lines.append("\(executables) executable") }
    return lines.joined(separator: "\n  ")
  }
}

/// The process under test.
struct Subject: Sendable {
  let binary: String
  let arguments: [String]
  let folder: String
  let home: String

  static func environment(home: String) throws -> [String: String] {
    try TestEnvironment.isolated(home: home)
  }

  func run(_ faults: [String: String]) throws -> ProcessResult {
    var environment = try Self.environment(home: home)
    if !faults.isEmpty {
      environment["LD_PRELOAD"] = try Interposer.path()
      environment["FAULT_ROOT"] = folder + "/notebook"
      environment.merge(faults) { $1 }
    }
    let notebook = folder + "/notebook"
    return try TestSupport.run(
      [binary] + arguments.map { $0 == "NOTEBOOK" ? notebook : $0 }, environment: environment)
  }
}
