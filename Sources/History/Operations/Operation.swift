public import Git
internal import Merge
internal import WorkTree

/// Something that a command, or git by hand, did to the notebook on this device.
public struct Operation: Hashable, Sendable {
  /// The kind of operation.
  public let kind: OperationKind
  /// When, in seconds since 1970.
  public var time: Int64
  /// The tip before; nil for the first version.
  public let before: ObjectID?
  /// The tip after.
  public let after: ObjectID
  /// The line that says what was done: the version's own, or what changed for versions that came
  /// from elsewhere. Empty until it is asked for (`History.summarized`).
  public fileprivate(set) var summary: String
  /// Whether it was taken back, and not done again since.
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

  /// The summary of the operation that an undo with this summary took back; nil if it does not say.
  public static func undoneSummary(_ summary: String) -> String? {
    if summary.hasPrefix("Undo: ") { return String(summary.dropFirst(6)) }
    return summary.hasPrefix("Undo ") ? String(summary.dropFirst(5)) : nil
  }
}

/// The lines by which a version says that it takes something back: notes-undo(1), "Versions".
package enum UndoTrailer {
  package static let undo = "Notes-Undo"
  package static let redo = "Notes-Redo"

  /// `KEY: BEFORE AFTER`: the change from one tip to the other was taken back, or done again.
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

/// The operations on this device, and which of them can be taken back or done again.
package struct OperationHistory {
  /// The message in the branch's log for a plain form that takes the place of a foreign commit.
  package static let portableRewriteMessage = "notes: plain form"

  /// All, oldest first.
  package private(set) var all: [Operation] = []
  /// The operations that stand, oldest first: `undo` takes them back from the end.
  package private(set) var done: [Operation] = []
  /// The undos that were not taken back, oldest first: what `redo` takes back from the end.
  package private(set) var undone: [Operation] = []
  /// The operations that the undos took back.
  private(set) var takenBack: Set<ObjectID> = []

  /// - Parameter dropped: what git commands took off a branch, in the log of this one or not.
  package init(
    _ log: BranchLog, dropped: [DroppedVersions] = [], in repository: Repository
  ) {
    // The operations that each undo took back, and each redo did again.
    var taken: [ObjectID: [Operation]] = [:]
    var redone: [ObjectID: [Operation]] = [:]
    for entry in DroppedVersions.entries(of: log, with: dropped) {
      // A branch or a clone began with what was there: nothing was done to the notes.
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
      // Only these say more in their version.
      let version =
        // Of a version that git has pruned nothing more is said.
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
      // Nothing is left that it could be taken back to.
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

  /// The step that led to the plain form of a foreign commit, in the place of those that led to
  /// that version.
  private mutating func made(by step: Operation, in repository: Repository) -> Operation {
    var first = step
    while let last = all.last, last.after == first.before,
      // If a version was pruned the steps stay apart.
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

  /// The versions that this device made, as far back as the branch's log goes. What a version says of
  /// its author is a claim: whoever made it wrote it.
  public func versionsMadeHere() throws -> Set<ObjectID> {
    let head = try repository.head()
    let log = try BranchLog(of: head.reference, tip: head.commit, gitFolder: repository.gitFolder)
    let others: [OperationKind] = [.receive, .checkout, .continuation, .forget, .git]
    var found: Set<ObjectID> = []
    for entry in log.entries {
      let kind = OperationHistory.kind(of: entry)
      if others.contains(kind) { continue }
      found.insert(entry.new)
      // One that was made on an older version shows as the merge of it with what was there.
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

  /// The operation with its summary.
  package func summarized(_ operation: Operation) -> Operation {
    var operation = operation
    // A summary is for people: without the versions there is none.
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

/// The kind of a command's operation, as the branch's log (git-reflog(1)) remembers it on this device:
/// `notes: KIND`.
public enum OperationKind: String, Sendable, CaseIterable {
  /// A version of what the folder held.
  case save
  /// A new note.
  case create
  /// A note changed by `notes edit`.
  case edit
  case rename
  case delete
  case restore
  /// A conflict settled.
  case resolve
  /// An automatic merge taken back to markers.
  case unmerge
  /// The versions that a sync brought.
  case receive
  case undo
  case redo
  /// The end of a command that was interrupted.
  case checkout
  /// More of the operation before: what a save merged after its version of the other files.
  case continuation
  /// Something forgotten, in all versions.
  case forget
  /// Something else than `notes`: git, by hand.
  case git
}
