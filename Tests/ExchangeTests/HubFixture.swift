import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// A bare repository in a folder, as a hub. It refuses whatever does not move its branch forward.
final class FolderHub: Sendable {
  let folder: TemporaryFolder
  var path: String { folder["hub.git"] }
  /// Whether an admin takes what people write there who only use git.
  let acceptsUnsigned: Bool
  var hub: Hub { Hub(name: "hub", url: path, acceptsUnsigned: acceptsUnsigned) }

  init(acceptsUnsigned: Bool = false) throws {
    self.acceptsUnsigned = acceptsUnsigned
    folder = try TemporaryFolder()
    try make()
  }

  func make() throws {
    try git(["init", "--quiet", "--bare", "--initial-branch=main", path])
    for setting in ["receive.denyNonFastForwards", "core.logAllRefUpdates"] {
      try git(["-C", path, "config", setting, "true"])
    }
  }

  func remove() { removeTree(path) }

  @discardableResult
  func git(_ words: [String], _ location: SourceLocation = #_sourceLocation) throws -> String {
    let result = try TestSupport.run(
      ["git"] + words, environment: TestEnvironment.isolated(home: folder["home"]))
    #expect(result.isSuccess, "\(result)", sourceLocation: location)
    return result.text.filter { !$0.isNewline }
  }

  func tip() throws -> ObjectID? {
    let result = try TestSupport.run(["git", "-C", path, "rev-parse", "--verify", "-q", "main"])
    return ObjectID(hex: result.text.prefix(40))
  }

  /// How often the branch was moved.
  func moves() throws -> Int {
    try TestSupport.run(["git", "-C", path, "reflog", "main"]).lines.count
  }

  /// How many versions there are that only lead the branch forward.
  func hubMerges() throws -> Int {
    try TestSupport.run(
      ["git", "-C", path, "log", "--format=%H", "--author=hub@notes.invalid", "main"]
    ).lines.count
  }

  /// A clone that somebody works in who only has git.
  func clone(as person: String) throws -> GitPerson {
    let place = folder[person]
    try git(["clone", "--quiet", path, place])
    return GitPerson(name: person, folder: place, hub: self)
  }
}

/// Somebody who shares a hub and uses git alone.
struct GitPerson {
  let name: String
  let folder: String
  let hub: FolderHub

  @discardableResult
  func git(_ words: String..., location: SourceLocation = #_sourceLocation) throws -> String {
    try hub.git(
      ["-C", folder, "-c", "user.name=\(name)", "-c", "user.email=\(name)@example.org"] + words,
      location)
  }

  func commit(_ text: String, to file: String) throws {
    try writeFile(folder + "/" + file, Array(text.utf8))
    try git("add", "--all")
    try git("commit", "--quiet", "-m", "\(name) writes \(file)")
  }
}

extension SessionContext {
  /// Visits hubs; the outcome, and what happened.
  func visit(
    _ hubs: [Hub], until token: CancellationToken? = nil, change: (inout HubRun) -> Void = { _ in }
  ) throws -> (outcome: SyncOutcome, events: [Event]) {
    var run = HubRun(context: self, hubs: hubs)
    change(&run)
    var (outcome, events) = (SyncOutcome(), [Event]())
    try run.run(addingTo: &outcome, cancellation: token) { events.append($0) }
    return (outcome, events)
  }

  /// The same on a thread of its own.
  func startVisit(
    _ hub: Hub, until token: CancellationToken? = nil,
    change: @escaping @Sendable (inout HubRun) -> Void = { _ in }
  ) -> BlockingQueue<Result<SyncOutcome, any Error>> {
    let box = BlockingQueue<Result<SyncOutcome, any Error>>()
    TestSupport.startThread {
      box.put(Result { try visit([hub], until: token, change: change).outcome })
    }
    return box
  }
}

extension Device {
  /// Visits hubs; the outcome, and what happened.
  func visit(
    _ hubs: Hub..., change: (inout HubRun) -> Void = { _ in }
  ) throws -> (outcome: SyncOutcome, events: [Event]) {
    try context.visit(hubs, change: change)
  }

  /// Visits a hub, which is to go well.
  @discardableResult
  func meet(
    _ hub: FolderHub, _ location: SourceLocation = #_sourceLocation
  ) throws -> SessionResult {
    let (outcome, _) = try visit(hub.hub)
    for failure in outcome.failures { Issue.record("\(failure.error)", sourceLocation: location) }
    return try #require(outcome.sessions.first, sourceLocation: location)
  }

  /// The error with which a visit fails.
  func failure(
    at hub: Hub, change: (inout HubRun) -> Void = { _ in }
  ) throws -> HubError? {
    let outcome = try visit(hub, change: change).outcome
    #expect(outcome.sessions.isEmpty)
    return outcome.failures.first?.error as? HubError
  }

  /// Why a visit merges nothing, where it is that.
  func refusal(at hub: FolderHub, change: (inout HubRun) -> Void = { _ in }) throws -> MergeRefusal?
  {
    let failures = try visit(hub.hub, change: change).outcome.failures
    if case SyncError.notMerged(let reason, _)? = failures.first?.error { return reason }
    return nil
  }

  func git(_ words: String...) throws -> ProcessResult {
    try TestSupport.run(["git", "-C", notes] + words)
  }
}

extension [Event] {
  /// The references at hubs that may lead to what was forgotten.
  var others: [[String]] {
    compactMap { if case .hubOthers(_, let names) = $0 { names } else { nil } }
  }

  /// The hubs that went back.
  var rewinds: [(from: ObjectID, to: ObjectID?)] {
    compactMap { if case .hubWentBack(_, let from, let to) = $0 { (from, to) } else { nil } }
  }
}
