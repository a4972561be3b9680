public import Git
internal import Merge
internal import State
internal import System
internal import WorkTree

/// Which version this device shows.
public struct NotebookState: Hashable, Sendable {
  /// The commit the branch stands on; nil before the first version.
  public let tip: ObjectID?
  /// The heads it stands for, in the order of the merge; where they are more than devices tell each
  /// other, the merges of them that stand for them.
  public let heads: [ObjectID]
  /// How many notes have an open conflict.
  public let conflictCount: Int

  /// A state of these parts; `conflictCount` is that of the tip.
  public init(tip: ObjectID?, heads: [ObjectID], conflictCount: Int) {
    self.tip = tip
    self.heads = heads
    self.conflictCount = conflictCount
  }
}

extension History {
  /// Which version this device shows now. Unsaved changes in the folder are not part of it.
  public func state() throws -> NotebookState {
    let tip = try repository.head().commit
    if let remembered = rememberedState(), remembered.tip == tip { return remembered }
    return try computedState(tip: tip)
  }

  /// Whether this device shows these heads, or something made on top of them.
  public func shows(_ heads: [ObjectID]) throws -> Bool {
    guard let tip = try repository.head().commit else { return false }
    // A merge that stands for many heads may be another here, where there are more.
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

  // The state that each look at the notebook asks for is kept in a small file that costs no library to
  // read. It is a cache: it names the tip it is true of, and a reader that finds another tip computes anew.

  private var tipPath: String { stateFolder[.tip] }

  /// Keeps the state for the next look.
  package func rememberTip() throws {
    let state = try computedState(tip: repository.head().commit)
    guard let tip = state.tip else { return }
    let text = """
      1
      \(tip)
      \(state.conflictCount)
      \(state.heads.map(\.hex).joined(separator: " "))

      """
    // A disk without room loses no more than the cache.
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
