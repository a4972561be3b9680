public import Git
internal import Merge
internal import State
internal import System
internal import WorkTree

/// The version that is in this device's folder.
public struct NotebookState: Hashable, Sendable {
  /// The branch's commit; nil before the first version.
  public let tip: ObjectID?
  /// The heads that the tip merges, in the order of the merge. If there are more heads than a device advertises, the
  /// merges that represent them.
  public let heads: [ObjectID]
  /// How many notes have an open conflict.
  public let conflictCount: Int

  /// A state of these parts; `conflictCount` is the tip's.
  public init(tip: ObjectID?, heads: [ObjectID], conflictCount: Int) {
    self.tip = tip
    self.heads = heads
    self.conflictCount = conflictCount
  }
}

extension History {
  /// The version in this device's folder now. Unsaved changes are not part of it.
  public func state() throws -> NotebookState {
    let tip = try repository.head().commit
    if let remembered = rememberedState(), remembered.tip == tip { return remembered }
    return try computedState(tip: tip)
  }

  /// Whether the tip has these heads in its history.
  public func shows(_ heads: [ObjectID]) throws -> Bool {
    guard let tip = try repository.head().commit else { return false }
    // A merge that represents many heads differs from device to device, so its heads are compared instead.
    return try DerivedMerge.reduce(heads, in: repository).allSatisfy {
      try repository.isAncestor($0, of: tip)
    }
  }

  private func computedState(tip: ObjectID?) throws -> NotebookState {
    guard let tip else { return NotebookState(tip: nil, heads: [], conflictCount: 0) }
    return NotebookState(
      tip: tip, heads: try DerivedMerge.advertisedHeads(of: tip, in: repository),
      conflictCount: try openConflictPaths().count)
  }

  // Every command needs the state, so a small file caches it: then no library must be loaded. The file names its tip; a
  // reader that finds another tip computes the state again.

  private var tipPath: String { stateFolder[.tip] }

  /// Saves the state for the next command.
  package func rememberTip() throws {
    let state = try computedState(tip: repository.head().commit)
    guard let tip = state.tip else { return }
    let text = """
      1
      \(tip)
      \(state.conflictCount)
      \(state.heads.map(\.hex).joined(separator: " "))

      """
    // If the disk is full, only the cache is lost.
    try? Disk.replace(tipPath, with: Array(text.utf8), waits: false)
  }

  package func rememberedState() -> NotebookState? {
    let path = tipPath
    return Disk.memory(at: path) { content throws(StateDamage) -> NotebookState? in
      let lines = content.lines
      if let format = lines.first?.key, format != "1" { return nil }
      guard lines.count == 4, let tip = ObjectID(hex: lines[1].bytes),
        let conflicts = Int(lines[2].key)
      else { throw StateDamage(path, "a line is missing") }
      let words = lines[3].words.words
      let heads = words.compactMap { ObjectID(hex: $0) }
      guard !heads.isEmpty, heads.count == words.count else {
        throw StateDamage(path, "a head is missing")
      }
      return NotebookState(tip: tip, heads: heads, conflictCount: conflicts)
    }
  }
}
