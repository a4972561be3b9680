import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// notes-forget(1), "Other devices": a device that moves over and is interrupted has the one history or the other, and
/// loses nothing of its own.
@Suite("Moving over, interrupted at every call that changes the file system", .serialized)
struct MovingOverFaultTests {
  @Test("killed there, there is the one history or the other, with all that was written")
  func killed() throws {
    try sweep([.kill, .torn, .power], budget: TestEnvironment.amount(12, inFull: 40))
  }

  @Test("failing there, there is the one history or the other, with all that was written")
  func failed() throws {
    try sweep(
      [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO)],
      budget: TestEnvironment.amount(8, inFull: 24))
  }

  private func sweep(_ faults: [Fault], budget: Int) throws {
    let run = try MovingOverRuns()
    try Sweep(subject: "moving over", calls: run.calls, faults: faults, budget: budget)
      .run { try run.interrupt(at: $0, by: $1) }
  }
}

/// Plays of a device that takes a bundle in which something was forgotten, from the same state.
private final class MovingOverRuns: Sendable {
  private static let secret = "hunter2-pass-9f"

  /// The calls of the run that change the file system: `KIND PATH`.
  let calls: [String]
  private let work: MemoryFolder
  private let bundle: String
  private var template: String { work.path + "/template" }

  init() throws {
    let work = try MemoryFolder()
    self.work = work
    bundle = work.path + "/new.bundle"
    let template = work.path + "/template"
    try makeFolder(template)
    let (ada, cea) = (Party("ada", in: template), Party("cea", in: template))
    try ada.write("1.txt", "Wifi\nkey \(Self.secret)\n")
    try ada.write("2.txt", "stays\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try Self.join(cea, to: ada)
    try cea.write("1.txt", "Wifi\nkey \(Self.secret)!\nof cea\n")
    try cea.succeed("save")
    try cea.write("2.txt", "stays\nunsaved\n")
    try cea.write("3.txt", "unsaved \(Self.secret)\n")
    let forgotten = try run(
      [BuiltBinary.notes(), "forget", "--text", "--yes"], in: ada.notebook,
      environment: TestEnvironment.isolated(home: ada.folder + "/home"),
      input: Array(Self.secret.utf8))
    guard forgotten.isSuccess else { throw FaultRun.Violation(description: "\(forgotten)") }
    try ada.succeed("bundle", "create", bundle)
    let plain = work.path + "/plain"
    try Self.copy(template, to: plain)
    let played = try Party("cea", in: plain).notes(
      "bundle", "apply", bundle, faults: ["FAULT_LOG": work.path + "/log"])
    guard played.isSuccess else { throw FaultRun.Violation(description: "\(played)") }
    try Self.checkHasMoved(Party("cea", in: plain))
    calls = String(decoding: try readFile(work.path + "/log"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    removeTree(plain)
  }

  deinit { work.remove(["template", "log", "plain", "new.bundle"]) }

  private static func join(_ cea: Party, to ada: Party) throws {
    let invite = try ada.listen(["invite"])
    defer { invite.process.send(9) }
    guard let port = invite.port, let code = invite.code else {
      throw FaultRun.Violation(description: "no invitation: \(try invite.process.wait())")
    }
    let joined = try cea.notes(
      "join", code, cea.notebook, "--yes", "--name", "cea", "--no-discovery", "--at",
      "127.0.0.1:\(port)")
    guard joined.isSuccess else { throw FaultRun.Violation(description: "\(joined)") }
    _ = try? invite.process.wait(within: 40)
  }

  private static func copy(_ template: String, to folder: String) throws {
    try makeFolder(folder)
    try FileManager.default.copyItem(
      atPath: Party("cea", in: template).folder, toPath: Party("cea", in: folder).folder)
  }

  func interrupt(at point: Int, by fault: Fault) throws -> Play {
    let folder = work.path + "/\(point) \(fault)"
    do {
      try Self.copy(template, to: folder)
      let play = try play(point, fault, Party("cea", in: folder), met: folder + "/met")
      removeTree(folder)
      return play
    } catch {
      throw FaultRun.Violation(
        description: "call \(point) of \(calls.count) (\(calls[point - 1])), \(fault): \(error)"
          + "\nKept in \(folder)")
    }
  }

  private func play(_ point: Int, _ fault: Fault, _ cea: Party, met: String) throws -> Play {
    let broken = try cea.notes(
      "bundle", "apply", bundle,
      faults: fault.environment.merging(["FAULT_AT": "\(point)", "FAULT_MET": met]) { $1 })
    if case .signalled(let signal) = broken.status, !(fault.isDeath && signal == SIGKILL) {
      throw FaultRun.Violation(description: "ended in an unforeseen way: \(broken)")
    }
    try cea.succeed("status")
    try cea.succeed("save")
    try Self.checkGit(cea)
    if broken.isSuccess { try Self.checkHasMoved(cea) }
    try cea.succeed("bundle", "apply", bundle)
    try Self.checkHasMoved(cea)
    if access(met, F_OK) != 0 { return .unreached }
    return !fault.isDeath && broken.isSuccess ? .harmless : .broken
  }

  private static func checkGit(_ cea: Party) throws {
    let checked = try run(
      ["git", "-C", cea.notebook, "fsck", "--strict", "--no-dangling", "--no-progress"],
      environment: TestEnvironment.isolated(home: cea.folder + "/home"))
    guard checked.isSuccess, checked.errorText.isEmpty else {
      throw FaultRun.Violation(description: "git fsck: \(checked)")
    }
  }

  private static func checkHasMoved(_ cea: Party) throws {
    try checkGit(cea)
    let places = try Leftovers(in: cea.notebook).places(of: secret)
    guard places.isEmpty else { throw FaultRun.Violation(description: "left in \(places)") }
    for (name, text) in [
      ("1.txt", "Wifi\nkey [forgotten]!\nof cea\n"), ("2.txt", "stays\nunsaved\n"),
      ("3.txt", "unsaved [forgotten]\n"),
    ] {
      let held = String(decoding: try readFile(cea.notebook + "/" + name), as: UTF8.self)
      guard held == text else { throw FaultRun.Violation(description: "\(name) holds \(held)") }
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: cea.notebook).filter {
      $0.hasPrefix(".git.new") || $0.hasSuffix(".lock") && !$0.hasSuffix("gc.lock")
    }
    guard left.isEmpty else { throw FaultRun.Violation(description: "left behind: \(left)") }
    let status = try cea.succeed("status", "--json").text
    guard status.contains("\"notebook\"") else { throw FaultRun.Violation(description: status) }
  }
}
