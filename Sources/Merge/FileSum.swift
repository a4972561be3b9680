internal import Git

/// The sum of what one file is in each term: notes-merge(7), "Files".
struct FileSum {
  /// One term's file: what it is, its blocks' marker size, and the label of who wrote it.
  struct Value {
    var file: FileValue?
    var markerSize: Int?
    /// The position of the head, for positive terms.
    var owner = 0
    /// The name the term has for the file.
    var source: TreePath = ""
  }

  enum Outcome {
    case absent
    case file(Claim)
    /// All stay: the first under the file's name, the others as copies.
    case copies([Claim])
  }

  let store: any MergeStore
  let rules: MergeRules
  /// Gives the label of a head's side.
  let label: (Int) throws -> [UInt8]
  /// What was done, for the report.
  var keptEdit = false
  var usedRules: MergeRules = []

  init(store: any MergeStore, rules: MergeRules, label: @escaping (Int) throws -> [UInt8]) {
    self.store = store
    self.rules = rules
    self.label = label
  }

  /// The sum. `keeps` tells that some side renamed the file, which counts as an edit of it.
  mutating func outcome(
    positives: [Value], negatives: [Value], keeps: Bool
  ) throws -> Outcome {
    var (positives, negatives) = Self.remaining(positives, negatives)
    if Set(positives.map(\.file)).count > 1 || keeps {
      let present = positives.filter { $0.file != nil }
      if present.count < positives.count, !present.isEmpty {
        keptEdit = true
        Self.drop(positives.count - present.count, from: &negatives)
        positives = present
      }
    }
    let distinct = Set(positives.map(\.file))
    if distinct.count == 1, let first = positives.first {
      guard let file = first.file else { return .absent }
      let size = positives.lazy.compactMap(\.markerSize).first
      return .file(Claim(value: file, owner: first.owner, source: first.source, markerSize: size))
    }
    return try merged(positives, negatives)
  }

  /// Cancels equal terms of opposite sign, one against one, the last ones first.
  private static func remaining(
    _ positives: [Value], _ negatives: [Value]
  ) -> (positives: [Value], negatives: [Value]) {
    var net: [FileValue?: Int] = [:]
    for value in positives { net[value.file, default: 0] += 1 }
    for value in negatives { net[value.file, default: 0] -= 1 }
    func keep(_ values: [Value], sign: Int) -> [Value] {
      var left = net
      return values.filter { value in
        guard left[value.file, default: 0] * sign > 0 else { return false }
        left[value.file, default: 0] -= sign
        return true
      }
    }
    return (keep(positives, sign: 1), keep(negatives, sign: -1))
  }

  /// Takes `count` terms out: absent ones first, then one of the value that occurs most.
  private static func drop(_ count: Int, from negatives: inout [Value]) {
    for _ in 0..<min(count, negatives.count) {
      if let absent = negatives.firstIndex(where: { $0.file == nil }) {
        negatives.remove(at: absent)
        continue
      }
      let occurrences = negatives.map { value in
        negatives.count { $0.file == value.file }
      }
      if let most = occurrences.max(), let index = occurrences.firstIndex(of: most) {
        negatives.remove(at: index)
      }
    }
  }

  private mutating func merged(_ positives: [Value], _ negatives: [Value]) throws -> Outcome {
    let files = (positives + negatives).compactMap(\.file)
    guard files.allSatisfy(\.mode.isFile) else { return copies(positives) }
    let mode = Self.mode(positives, negatives)
    let ids = Cancellation(
      positives: positives.map { $0.file?.id }, negatives: negatives.map { $0.file?.id })
    if ids.positives.count == 1 {
      let value = positives[ids.positives[0]]
      guard let file = value.file else { return .absent }
      return .file(
        Claim(
          value: FileValue(mode: mode, id: file.id), owner: value.owner, source: value.source,
          markerSize: value.markerSize))
    }
    var texts: [ObjectID: [UInt8]] = [:]
    for file in files where texts[file.id] == nil {
      let text = try store.blob(file.id)
      if Self.isBinary(text) { return copies(positives) }
      texts[file.id] = text
    }
    func term(_ value: Value, label: [UInt8]) -> TextTerm? {
      value.file.map {
        TextTerm(text: texts[$0.id] ?? [], markerSize: value.markerSize, label: label)
      }
    }
    func merge(labelled: Bool) throws -> TextMergeResult {
      TextMerge.merge(
        positives: try positives.compactMap {
          term($0, label: labelled ? try label($0.owner) : [])
        },
        negatives: negatives.map { term($0, label: []) }, rules: rules)
    }
    // Labels are looked for in history, which most merges have no need of.
    var result = try merge(labelled: false)
    if result.markerSize != nil { result = try merge(labelled: true) }
    usedRules.formUnion(result.rules)
    return .file(
      Claim(
        value: FileValue(mode: mode, id: try store.write(blob: result.text)),
        owner: positives[0].owner, source: positives[0].source, markerSize: result.markerSize,
        isNewConflict: result.markerSize != nil))
  }

  /// The sum of the modes; a plain file where sides differ.
  private static func mode(_ positives: [Value], _ negatives: [Value]) -> FileMode {
    let modes = positives.map { $0.file?.mode }
    let left = Cancellation(positives: modes, negatives: negatives.map { $0.file?.mode })
    return left.positives.count == 1 ? modes[left.positives[0]] ?? .regular : .regular
  }

  private func copies(_ positives: [Value]) -> Outcome {
    var seen: Set<FileValue> = []
    return .copies(
      positives.compactMap { value in
        guard let file = value.file, seen.insert(file).inserted else { return nil }
        return Claim(
          value: file, owner: value.owner, source: value.source, markerSize: value.markerSize)
      })
  }

  /// Whether a NUL stands in the first 8,000 bytes, as git tells text from other files.
  static func isBinary(_ content: [UInt8]) -> Bool { content.prefix(8000).contains(0) }
}
