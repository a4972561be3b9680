internal import Git

/// The sum of what one file is in each term: notes-merge(7), "Files".
struct FileSum {
  let store: any MergeStore
  let rules: MergeRules
  let heads: [MergeTerm]
  /// What was done, for the report.
  private(set) var keptEdit = false
  private(set) var usedRules: MergeRules = []

  /// The sum: the file, if there is one, and others that stay beside it as copies. `keeps` tells that
  /// some side renamed the file, which counts as an edit of it.
  mutating func files(
    positives: [TermFile?], negatives: [TermFile?], keeps: Bool
  ) throws -> [TermFile] {
    var (positives, negatives) = Self.remaining(positives, negatives)
    if Set(positives.map(\.?.value)).count > 1 || keeps {
      let present = positives.filter { $0 != nil }
      if present.count < positives.count, !present.isEmpty {
        keptEdit = true
        Self.drop(positives.count - present.count, from: &negatives)
        positives = present
      }
    }
    let present = positives.compactMap { $0 }
    guard Set(positives.map(\.?.value)).count == 1 else { return try merged(present, negatives) }
    guard var file = present.first else { return [] }
    file.markerSize = present.lazy.compactMap(\.markerSize).first
    return [file]
  }

  /// Cancels equal terms of opposite sign, one against one, the last ones first.
  private static func remaining(
    _ positives: [TermFile?], _ negatives: [TermFile?]
  ) -> (positives: [TermFile?], negatives: [TermFile?]) {
    var net: [FileValue?: Int] = [:]
    for file in positives { net[file?.value, default: 0] += 1 }
    for file in negatives { net[file?.value, default: 0] -= 1 }
    func keep(_ files: [TermFile?], sign: Int) -> [TermFile?] {
      var left = net
      return files.filter { file in
        guard left[file?.value, default: 0] * sign > 0 else { return false }
        left[file?.value, default: 0] -= sign
        return true
      }
    }
    return (keep(positives, sign: 1), keep(negatives, sign: -1))
  }

  /// Takes `count` terms out: absent ones first, then one of the value that occurs most.
  private static func drop(_ count: Int, from negatives: inout [TermFile?]) {
    for _ in 0..<min(count, negatives.count) {
      let occurrences = negatives.map { file in
        file == nil ? Int.max : negatives.count { $0?.value == file?.value }
      }
      if let most = occurrences.max(), let index = occurrences.firstIndex(of: most) {
        negatives.remove(at: index)
      }
    }
  }

  private mutating func merged(
    _ positives: [TermFile], _ negatives: [TermFile?]
  ) throws -> [TermFile] {
    let files = (positives + negatives).compactMap { $0 }
    guard files.allSatisfy(\.value.mode.isFile) else { return Self.copies(positives) }
    func left<Part: Hashable>(_ part: (TermFile) -> Part) -> [TermFile] {
      let sum = Cancellation(
        positives: positives.map { Optional(part($0)) }, negatives: negatives.map { $0.map(part) })
      return sum.positives.map { positives[$0] }
    }
    let (contents, modes) = (left(\.value.id), left(\.value.mode))
    var merged = contents.count == 1 ? contents[0] : positives[0]
    merged.value.mode = modes.count == 1 ? modes[0].value.mode : .regular
    if contents.count == 1 { return [merged] }
    var texts: [ObjectID: [UInt8]] = [:]
    for id in files.map(\.value.id) where texts[id] == nil {
      let text = try store.blob(id)
      if Self.isBinary(text) { return Self.copies(positives) }
      texts[id] = text
    }
    func term(_ file: TermFile, label: [UInt8] = []) -> TextTerm {
      TextTerm(text: texts[file.value.id] ?? [], markerSize: file.markerSize, label: label)
    }
    let bases = negatives.map { $0.map { term($0) } }
    // Labels are looked for in history, which most merges have no need of.
    var result = TextMerge.merge(
      positives: positives.map { term($0) }, negatives: bases, rules: rules)
    if result.markerSize != nil {
      result = TextMerge.merge(
        positives: try positives.map { file in
          term(file, label: try SideLabel.text(for: file, of: heads, in: store))
        }, negatives: bases, rules: rules)
    }
    usedRules.formUnion(result.rules)
    merged.value.id = try store.write(blob: result.text)
    merged.markerSize = result.markerSize
    merged.isNewConflict = result.markerSize != nil
    return [merged]
  }

  private static func copies(_ positives: [TermFile]) -> [TermFile] {
    var seen: Set<FileValue> = []
    return positives.filter { seen.insert($0.value).inserted }
  }

  /// Whether a NUL stands in the first 8,000 bytes, as git tells text from other files.
  static func isBinary(_ content: [UInt8]) -> Bool { content.prefix(8000).contains(0) }
}
