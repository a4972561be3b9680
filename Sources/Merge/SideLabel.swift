package import Git
internal import System

/// The label of a side: who wrote it, and when where they wrote it: notes-merge(7), "Labels".
package enum SideLabel {
  /// Commits looked at before the head itself is taken for the writer.
  static let searchLimit = 1000

  /// The label for the side of the head that a file is of.
  static func text(
    for file: TermFile, of heads: [MergeTerm], in store: any MergeStore
  ) throws -> [UInt8] {
    guard let head = heads[file.owner].head else { return [] }
    let writer = try writer(of: file.source, at: head, store: store)
    return Array("\(cleanName(writer.author.name)) · \(date(of: writer.author))".utf8)
  }

  /// The commit that gave the file its present content: from the head on, the first parent that has
  /// the same content is followed, and a merge's last parent where a derived merge made it.
  private static func writer(
    of path: TreePath, at head: Commit, store: any MergeStore
  ) throws -> Commit {
    guard let wanted = try store.entry(at: path, in: head.tree)?.id else { return head }
    var commit = head
    for _ in 0..<searchLimit {
      let parents = try commit.parents.map { try store.commit($0) }
      if let same = try parents.first(where: {
        try store.entry(at: path, in: $0.tree)?.id == wanted
      }) {
        commit = same
      } else {
        return DerivedMerge.isDerived(commit) ? head : commit
      }
    }
    return head
  }

  /// The name as it can stand in a marker: control characters are spaces, and nobody is "unknown".
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
    let local = CalendarTime(signature.time + Int64(signature.offset) * 60)
    let year = min(max(local.year, 0), 9999)
    func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
      String(String(10_000 + Int(number)).suffix(width))
    }
    return "\(padded(year, 4))-\(padded(local.month))-\(padded(local.day)) "
      + "\(padded(local.hour)):\(padded(local.minute))"
  }
}
