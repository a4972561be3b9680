package import Git

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
    let local = signature.time + Int64(signature.offset) * 60
    let days = (local - (local % 86400 + 86400) % 86400) / 86400
    let minutes = Int((local % 86400 + 86400) % 86400 / 60)
    let (year, month, dayOfMonth) = civil(days)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    var years = String(min(max(year, 0), 9999))
    while years.utf8.count < 4 { years = "0" + years }
    return "\(years)-\(two(month))-\(two(dayOfMonth)) \(two(minutes / 60)):\(two(minutes % 60))"
  }

  /// The day of the Gregorian calendar that is `days` after 1970-01-01.
  private static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
    // Counting from a 1 March makes the leap day the last of its year.
    let shifted = Int(days) + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
