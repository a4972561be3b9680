internal import Git

/// The sum of a file's values in all terms: notes-merge(7), "Files".
struct FileSum {
  let store: any MergeStore
  let rules: MergeRules
  let bounds: MergeBounds
  let labels: SideLabels
  /// The names that the file may get, and how many bytes the trailers of its blocks may take.
  let names: [TreePath]
  private(set) var room: Int
  private(set) var budget: MergeBudget
  /// The files whose labels must be found first. Without these labels there is no result.
  private(set) var lacking: [TermFile] = []
  /// The decisions, for the report.
  private(set) var keptEdit = false
  private(set) var usedRules: MergeRules = []

  /// The sum: the file, if there is one, and the files that are kept beside it as copies. `keeps` says that
  /// some side renamed the file, which counts as an edit.
  mutating func files(
    positives: [TermFile?], negatives: [TermFile?], keeps: Bool
  ) throws -> [TermFile] {
    // Find the renamed file before equal terms cancel. Its content equals the base's, so it would be lost if all other
    // sides deleted the file.
    let renamed = keeps ? positives.first { $0.map { names.contains($0.source) } ?? false } : nil
    var (positives, negatives) = Self.remaining(positives, negatives)
    if Set(positives.map(\.?.value)).count > 1 || keeps {
      var present = positives.filter { $0 != nil }
      if present.isEmpty, let renamed { present = [renamed] }
      if !present.isEmpty, positives.contains(where: { $0 == nil }) {
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

  /// The remaining files, which may be sides of a conflict, if they differ.
  static func contested(positives: [TermFile?], negatives: [TermFile?]) -> [TermFile] {
    let files = remaining(positives, negatives).positives.compactMap(\.self)
    return Set(files.map(\.value)).count > 1 ? files : []
  }

  /// Cancels equal terms of opposite sign, one for one, the last ones first.
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

  /// Removes `count` terms: absent ones first, then one with the most frequent value.
  private static func drop(_ count: Int, from negatives: inout [TermFile?]) {
    var occurrences: [FileValue?: Int] = [:]
    for file in negatives { occurrences[file?.value, default: 0] += 1 }
    for _ in 0..<min(count, negatives.count) {
      let most = occurrences.values.max()
      let index =
        negatives.firstIndex { $0 == nil }
        ?? negatives.firstIndex { occurrences[$0?.value] == most }
      guard let index else { return }
      occurrences[negatives[index]?.value, default: 0] -= 1
      negatives.remove(at: index)
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
    let isCrowd = contents.count > 2
    let ids = Set(files.map(\.value.id))
    let bytes = try ids.reduce(0) { $0 + (try store.size(ofBlob: $1)) }
    if bytes > (isCrowd ? min(budget.crowdBytes, bounds.contentBytes) : bounds.contentBytes) {
      return Self.copies(positives)
    }
    var texts: [ObjectID: [UInt8]] = [:]
    var newlines = 0
    for id in ids {
      let text = try store.blob(id)
      newlines += text.count { $0 == UInt8(ascii: "\n") }
      if Self.isBinary(text) || newlines > min(budget.newlines, bounds.contentNewlines) {
        return Self.copies(positives)
      }
      texts[id] = text
    }
    budget.take(newlines: newlines, crowdBytes: isCrowd ? bytes : 0)
    func term(_ file: TermFile, label: [UInt8] = []) -> TextTerm {
      TextTerm(text: texts[file.value.id] ?? [], markerSize: file.markerSize, label: label)
    }
    // Finding labels requires the history, which most merges do not need.
    let isLabelled = positives.allSatisfy { labels[$0] != nil }
    let terms = positives.map { term($0, label: labels[$0] ?? []) }
    let bases = negatives.map { $0.map { term($0) } }
    // A file of another kind gets no markers, but keeps those that an earlier version of these rules gave it.
    let takesMarkers =
      names.allSatisfy(NoteSuffix.takesMarkers) || files.contains { $0.markerSize != nil }
    // Texts that are not in the result are freed while it is composed; only the result remains while it
    // is stored.
    texts = [:]
    let result = TextMerge.merge(
      positives: consume terms, negatives: consume bases, rules: takesMarkers ? rules : .lines,
      budget: &budget, mostBytes: bounds.textBytes)
    if result.isTooLarge { return Self.copies(positives) }
    if result.markerSize != nil, !takesMarkers { return Self.copies(positives) }
    if let size = result.markerSize {
      guard isLabelled else {
        lacking = positives
        return []
      }
      let trailers = names.reduce(0) {
        $0 + MergeTrailers.line(ofConflict: $1, size: size).utf8.count + 1
      }
      guard trailers <= room else { return Self.copies(positives) }
      room -= trailers
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

  /// Whether there is a NUL in the first 8,000 bytes, git's test for binary files.
  static func isBinary(_ content: [UInt8]) -> Bool { content.prefix(8000).contains(0) }
}
