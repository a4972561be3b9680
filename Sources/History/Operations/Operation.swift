public import Git
internal import Merge
internal import WorkTree

/// A command's change of the notebook on this device, or one made with git.
public struct Operation: Hashable, Sendable {
  /// The kind of operation.
  public let kind: OperationKind
  /// The time, in seconds since 1970.
  public var time: Int64
  /// The tip before the operation; nil for the first version.
  public let before: ObjectID?
  /// The tip after the operation.
  public let after: ObjectID
  /// A one-line description: the version's subject, or a summary of the changes if other devices
  /// made the versions. Empty until `History.summarized` fills it in.
  public fileprivate(set) var summary: String
  /// Whether the operation is undone now.
  public var isUndone = false

  package init(
    kind: OperationKind, time: Int64, before: ObjectID?, after: ObjectID, summary: String = ""
  ) {
    self.kind = kind
    self.time = time
    self.before = before
    self.after = after
    self.summary = summary
  }

  /// The summary of the operation that an undo with this summary undid; nil if it does not say.
  public static func undoneSummary(_ summary: String) -> String? {
    if summary.hasPrefix("Undo: ") { return String(summary.dropFirst(6)) }
    return summary.hasPrefix("Undo ") ? String(summary.dropFirst(5)) : nil
  }
}

/// The lines in which a version records that it undid or redid something: notes-undo(1), "Versions".
package enum UndoTrailer {
  package static let undo = "Notes-Undo"
  package static let redo = "Notes-Redo"

  /// The line `KEY: BEFORE AFTER`: the version undid or redid the change from one tip to the other.
  package static func line(_ key: String, before: ObjectID, after: ObjectID) -> String {
    "\(key): \(before) \(after)"
  }

  static func parse(_ message: String) -> (key: String, before: ObjectID, after: ObjectID)? {
    for line in message.utf8.split(separator: UInt8(ascii: "\n")).reversed() {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      guard words.count == 3, let key = [undo, redo].first(where: { words[0] == $0 + ":" }),
        let before = ObjectID(hex: words[1]), let after = ObjectID(hex: words[2])
      else { continue }
      return (key, before, after)
    }
    return nil
  }
}

/// The operations on this device, and those that can be undone or redone.
package struct OperationHistory {
  /// The message in the branch's log when a portable rewrite replaces a foreign commit.
  package static let portableRewriteMessage = "notes: plain form"

  /// All operations, oldest first.
  package private(set) var all: [Operation] = []
  /// The operations that are not undone, oldest first: `undo` begins at the end.
  package private(set) var done: [Operation] = []
  /// The undos that are not redone, oldest first: `redo` begins at the end.
  package private(set) var undone: [Operation] = []
  /// The tips that the undone operations made.
  private(set) var takenBack: Set<ObjectID> = []

  /// - Parameter dropped: versions that git commands removed from a branch, whether or not this log
  ///   has the step.
  package init(
    _ log: BranchLog, dropped: [DroppedVersions] = [], in repository: Repository
  ) {
    // The operations that each undo undid and each redo redid.
    var taken: [ObjectID: [Operation]] = [:]
    var redone: [ObjectID: [Operation]] = [:]
    for entry in DroppedVersions.entries(of: log, with: dropped) {
      // A new branch or clone starts with existing versions: no note changed.
      if entry.old == nil, ["branch: ", "clone: "].contains(where: entry.message.hasPrefix) {
        continue
      }
      var step = Operation(
        kind: Self.kind(of: entry), time: entry.time, before: entry.old, after: entry.new)
      if entry.message == Self.portableRewriteMessage {
        step = made(by: step, in: repository)
      } else if step.kind == .continuation, let begun = all.last, begun.after == entry.old {
        step = Operation(kind: begun.kind, time: begun.time, before: begun.before, after: entry.new)
        removeLast()
      }
      all.append(step)
      // Only versions of these kinds have further details.
      let version =
        // If git has pruned a version, its details are unknown.
        [.undo, .redo, .checkout].contains(step.kind) ? try? repository.commit(entry.new) : nil
      let trailer = version.flatMap { UndoTrailer.parse($0.message) }
      switch trailer?.key {
      case UndoTrailer.undo:
        guard let steps = Self.take(trailer, from: &done) else { break }
        taken[step.after] = steps + steps.flatMap { redone[$0.after] ?? [] }
        undone.append(step)
      case UndoTrailer.redo:
        let undos = Self.take(trailer, from: &undone) ?? []
        redone[step.after] = undos.flatMap { taken.removeValue(forKey: $0.after) ?? [] }
        done.append(step)
      // An undo is impossible: the former versions are deleted.
      case nil where step.kind == .forget: break
      default: done.append(step)
      }
    }
    takenBack = Set(taken.values.joined().map(\.after))
  }

  private static func take(
    _ trailer: (key: String, before: ObjectID, after: ObjectID)?, from steps: inout [Operation]
  ) -> [Operation]? {
    guard let trailer, let end = steps.lastIndex(where: { $0.after == trailer.after }),
      let start = steps[...end].lastIndex(where: { $0.before == trailer.before })
    else { return nil }
    defer { steps.removeSubrange(start...end) }
    return Array(steps[start...end])
  }

  /// The step that made the portable rewrite of a foreign commit, replacing the steps that made the
  /// foreign commit.
  private mutating func made(by step: Operation, in repository: Repository) -> Operation {
    var first = step
    while let last = all.last, last.after == first.before,
      // If a version was pruned, the steps stay separate.
      (try? repository.isAncestor(last.after, of: step.after)) == false
    {
      first = last
      removeLast()
    }
    return Operation(kind: .git, time: first.time, before: first.before, after: step.after)
  }

  private mutating func removeLast() {
    if done.last == all.removeLast() { done.removeLast() }
  }

  static func kind(of entry: BranchLog.Entry) -> OperationKind {
    guard entry.message.hasPrefix("notes: ") else { return .git }
    return OperationKind(rawValue: String(entry.message.dropFirst(7))) ?? .git
  }
}

extension History {
  /// The operations on this device, newest first, as far back as the branch's log goes.
  public func operations() throws -> [Operation] {
    let history = try operationHistory()
    return history.all.reversed().map { step in
      var operation = summarized(step)
      operation.isUndone = history.takenBack.contains(step.after)
      return operation
    }
  }

  /// The versions that this device made, as far back as the branch's log goes. The author in a
  /// version proves nothing: its maker could write any name.
  public func versionsMadeHere() throws -> Set<ObjectID> {
    let head = try repository.head()
    let log = try BranchLog(of: head.reference, tip: head.commit, gitFolder: repository.gitFolder)
    let others: [OperationKind] = [.receive, .checkout, .continuation, .forget, .git]
    var found: Set<ObjectID> = []
    for entry in log.entries {
      let kind = OperationHistory.kind(of: entry)
      if others.contains(kind) { continue }
      found.insert(entry.new)
      // If a version was based on an older one, the log has its merge with the tip of that time.
      guard kind != .save, let merge = try? repository.commit(entry.new),
        DerivedMerge.isDerived(merge)
      else { continue }
      for id in merge.parents {
        if let old = entry.old, try repository.isAncestor(id, of: old) { continue }
        found.insert(id)
      }
    }
    return found
  }

  package func operationHistory() throws -> OperationHistory {
    let head = try repository.head()
    let log = try BranchLog(of: head.reference, tip: head.commit, gitFolder: repository.gitFolder)
    return OperationHistory(
      log, dropped: try DroppedVersions.all(in: repository), in: repository)
  }

  /// Whether an operation changed a file or a conflict, or dropped a version. Undoing any other would change nothing.
  public func hasEffect(_ operation: Operation) throws -> Bool {
    guard let before = operation.before else { return true }
    let (old, new) = (try repository.commit(before), try repository.commit(operation.after))
    if old.tree != new.tree { return true }
    let conflicts = try [old, new].map { try OpenConflicts.conflicts(at: $0.id, in: repository) }
    return try conflicts[0] != conflicts[1]
      || !operation.dropped(from: operation.after, in: repository).isEmpty
  }

  /// The operation with its summary.
  package func summarized(_ operation: Operation) -> Operation {
    var operation = operation
    // A summary is only for people: if the versions are missing, it is empty.
    operation.summary = (try? summary(of: operation)) ?? ""
    return operation
  }

  private func summary(of step: Operation) throws -> String {
    let after = try repository.commit(step.after)
    if let drop = try step.summaryOfDrop(in: repository) { return drop }
    if step.kind != .receive, !DerivedMerge.isDerived(after) {
      return String(after.message.prefix { !$0.isNewline })
    }
    let before = try step.before.map { try repository.commit($0).tree }
    let changes = try repository.changes(from: before, to: after.tree).map(Change.init)
    return changes.isEmpty ? "Nothing changed" : Change.summary(of: changes)
  }
}

/// The kind of a command's operation, as recorded in the branch's log on this device (git-reflog(1)):
/// `notes: KIND`.
public enum OperationKind: String, Sendable, CaseIterable {
  /// A save of the folder.
  case save
  /// A new note.
  case create
  /// A note changed by `notes edit`.
  case edit
  case rename
  case delete
  case restore
  /// A resolved conflict.
  case resolve
  /// An automatic merge, turned back into conflict markers.
  case unmerge
  /// The versions that a sync received.
  case receive
  case undo
  case redo
  /// The rest of a checkout that an interrupted command had left.
  case checkout
  /// A continuation of the operation before it: a merge that a save made after it had saved the other files.
  case continuation
  /// A text or note was forgotten in all versions.
  case forget
  /// A git command.
  case git
}
