package import Git
internal import System

/// The label of a side: its author, and when it was written, in local time. notes-merge(7), "Labels".
package enum SideLabel {
  /// The suffix of the name of an author that is not a device: nothing proves who wrote it.
  package static let unsigned = " (unsigned)"

  package static func text(for author: Signature) -> [UInt8] {
    text(for: author, marked: DeviceAddress.deviceID(in: author.email) == nil ? unsigned : "")
  }

  /// The label in the form of release 1.0.
  package static func unmarkedText(for author: Signature) -> [UInt8] {
    text(for: author, marked: "")
  }

  private static func text(for author: Signature, marked mark: String) -> [UInt8] {
    Array("\(cleanName(author.name))\(mark) · \(date(of: author))".utf8)
  }

  /// The name in a form that is valid in a marker: control characters become spaces, and an empty
  /// name becomes "unknown".
  package static func cleanName(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      scalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
    }
    let bytes = String(scalars).utf8
    let trimmed = bytes.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
    return trimmed.isEmpty ? "unknown" : String(decoding: Array(trimmed), as: UTF8.self)
  }

  /// `YYYY-MM-DD HH:MM` in the signature's own zone.
  package static func date(of signature: Signature) -> String {
    let local = CalendarTime(signature.time, minutesEast: signature.offset)
    return "\(local.date) \(local.timeOfDay)"
  }
}

/// The labels of the sides of a merge. They are searched together: one walk through the history of a
/// head finds the authors of any number of its files.
struct SideLabels {
  /// How many commits are searched before the head's own author is used.
  static let searchLimit = 1000

  private struct Key: Hashable {
    let owner: Int
    let source: TreePath
  }

  private let heads: [MergeTerm]
  private let store: any MergeStore
  private var known: [Key: [UInt8]] = [:]

  init(of heads: [MergeTerm], in store: any MergeStore) {
    self.heads = heads
    self.store = store
  }

  /// The label for a file's side, after it was searched.
  subscript(file: TermFile) -> [UInt8]? { known[Key(owner: file.owner, source: file.source)] }

  mutating func find(_ files: some Sequence<TermFile>) throws {
    let lacking = files.filter { self[$0] == nil }
    for (owner, files) in Dictionary(grouping: lacking, by: \.owner) {
      let paths = Set(files.map(\.source))
      guard let head = heads[owner].head else {
        for path in paths { known[Key(owner: owner, source: path)] = [] }
        continue
      }
      let writers = try writers(of: paths, at: head)
      for path in paths {
        let author = writers[path]?.author ?? head.author
        known[Key(owner: owner, source: path)] = SideLabel.text(for: author)
      }
    }
  }

  /// The commits that wrote the present content of files. They are found by following, from the head on, the
  /// first parent with the same content. None for content that a derived merge made.
  private func writers(
    of paths: Set<TreePath>, at head: Commit
  ) throws -> [TreePath: Commit] {
    var found: [TreePath: Commit] = [:]
    let there = try paths.filter { try store.entry(at: $0, in: head.tree) != nil }
    var waiting = [head.id: (commit: head, paths: there)]
    for _ in 0..<Self.searchLimit where !waiting.isEmpty {
      var next: [ObjectID: (commit: Commit, paths: Set<TreePath>)] = [:]
      for (commit, paths) in waiting.values {
        var rest = paths
        for id in commit.parents where !rest.isEmpty {
          let parent = try store.commit(id)
          let same = try unchanged(rest, from: parent.tree, to: commit.tree)
          rest.subtract(same)
          if !same.isEmpty { next[id, default: (parent, [])].paths.formUnion(same) }
        }
        if DerivedMerge.isDerived(commit) { continue }
        for path in rest { found[path] = commit }
      }
      waiting = next
    }
    return found
  }

  private func unchanged(
    _ paths: Set<TreePath>, from old: ObjectID, to new: ObjectID
  ) throws -> Set<TreePath> {
    if old == new { return paths }
    // A few files are looked up; for many, the trees are compared.
    if paths.count <= 8 {
      return try paths.filter {
        try store.entry(at: $0, in: old)?.id == store.entry(at: $0, in: new)?.id
      }
    }
    let changes = try store.changes(from: old, to: new)
    return paths.subtracting(changes.filter { $0.old?.id != $0.new?.id }.map(\.path))
  }
}
