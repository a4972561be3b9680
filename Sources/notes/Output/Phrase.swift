internal import WorkTree

enum Phrase {
  /// The numbers of notes and of other files: `12 notes and 3 attachments`.
  static func files(_ notes: Int, _ others: Int) -> String {
    list([count(notes, "note")] + (others > 0 ? [count(others, "attachment")] : []))
  }

  /// `1 note`, `2 notes`, `10,000 notes`; `plural` if an s at the end is not enough.
  static func count(_ count: Int, _ singular: String, _ plural: String? = nil) -> String {
    number(count) + " " + (count == 1 ? singular : plural ?? singular + "s")
  }

  /// A number with a comma between each three digits.
  static func number(_ number: Int) -> String {
    if number.magnitude < 1000 { return String(number) }
    return self.number(number / 1000) + "," + String(1000 + number.magnitude % 1000).dropFirst()
  }

  /// A size in powers of a thousand, with at least two digits: `512 B`, `3.4 KB`, `12 MB`.
  static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var tenths = count / 100
    var units = ["KB", "MB", "GB", "TB"][...]
    while tenths >= 10_000, units.count > 1 {
      tenths /= 1000
      units = units.dropFirst()
    }
    let unit = units.first ?? "KB"
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(tenths / 10) \(unit)"
  }

  /// The amounts done and in total: `saving 1,200 of 10,000 files, 12 MB of 80 MB`.
  static func work(_ work: String, _ done: WorkAmount, of total: WorkAmount) -> String {
    "\(work) \(number(done.files)) of \(count(total.files, "file")), "
      + bytes(done.bytes, of: total.bytes)
  }

  /// `12 MB of 80 MB`; if a file grew in the meantime, the first number is limited to the second.
  static func bytes(_ done: Int, of total: Int) -> String {
    "\(bytes(min(done, total))) of \(bytes(total))"
  }

  /// `a`, `a and b`, `a, b and c`.
  static func list(_ items: [String], _ conjunction: String = "and") -> String {
    guard let last = items.last, items.count > 1 else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }
}
