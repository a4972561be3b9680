internal import Git

/// The texts, lines and notes that a device finds removed, by comparing its versions with their rewritten forms:
/// to be removed from versions that no other device has seen. notes-forget(1), "Other devices".
struct LearnedCut {
  /// Texts to remove wherever they are.
  let texts: [TextCut]
  /// The replacements of blobs.
  let files: [ObjectID: ObjectID]
  /// Lines to remove from the notes that lost them, and their replacements.
  let lines: [[UInt8]: [UInt8]]
  /// The removed lines of notes.
  private let goneLines: Set<[UInt8]>
  /// The removed files.
  private let goneFiles: Set<ObjectID>

  /// - Parameter survivors: calls `look` with each text that is kept in the new history.
  init(
    _ forms: FormerForms, kinds: Set<String>, in repository: Repository,
    survivors: (_ look: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    files = forms.texts
    var gone: Set<ObjectID> = []
    for id in forms.versions {
      guard let files = forms.files[id] else { continue }
      let tree = try repository.commit(id).tree
      for (path, new) in files where new == .gone {
        if let entry = try repository.entry(at: path, in: tree) { gone.insert(entry.id) }
      }
    }
    goneFiles = gone
    var goneLines: Set<[UInt8]> = []
    for id in gone {
      let content = try repository.blobReadOnce(id)
      if content.isTextByLook { goneLines.formUnion(LineCut.lines(of: content)) }
    }
    self.goneLines = goneLines
    var lines: [[UInt8]: [UInt8]] = [:]
    // Files from which a text with a line break was removed.
    var whole: [(old: ObjectID, new: ObjectID)] = []
    let pairs = forms.texts.sorted { $0.key < $1.key }
    for (old, new) in pairs {
      let first = LineCut.lines(of: try repository.blobReadOnce(old))
      let second = LineCut.lines(of: try repository.blobReadOnce(new))
      guard first.count == second.count else {
        whole.append((old, new))
        continue
      }
      for (line, rest) in zip(first, second) where line != rest { lines[line] = rest }
    }
    self.lines = lines
    var texts: [TextCut] = []
    // If a line has several texts, each is found after the others are known.
    while kinds.contains(Forgetting.Kind.text.rawValue) {
      var candidates: Set<TextCut> = []
      func compare(_ old: [UInt8], _ new: [UInt8]) {
        let rest = texts.applied(to: old) ?? old
        if rest != new { candidates.formUnion(TextCut.candidates(rest, new)) }
      }
      for (old, new) in lines { compare(old, new) }
      for (old, new) in forms.messages { compare(old, new) }
      for (old, new) in whole {
        try compare(repository.blobReadOnce(old), repository.blobReadOnce(new))
      }
      candidates.subtract(texts)
      if candidates.isEmpty { break }
      for (old, new) in pairs {
        let content = try repository.blobReadOnce(new)
        let former = try repository.blobReadOnce(old)
        candidates = candidates.filter { !$0.isIn(content) || !$0.isIn(former) }
      }
      try survivors { content in candidates = candidates.filter { !$0.isIn(content) } }
      // Drop a text that is a part of another one: it was typed on the way to that one, or was left of it.
      let all = candidates.union(texts)
      candidates = candidates.filter { text in
        !all.contains { $0 != text && text.isIn($0.text) }
      }
      if candidates.isEmpty { break }
      texts = (texts + candidates).sorted {
        $0.text.count == $1.text.count
          ? $0.text.lexicographicallyPrecedes($1.text) : $0.text.count > $1.text.count
      }
    }
    self.texts = texts
  }

  /// The rest of a removed note's text that the forgetting device has never seen: the lines that the note never
  /// had on that device. Nil if there are none.
  func rest(of content: [UInt8], _ id: ObjectID) -> [UInt8]? {
    if goneFiles.contains(id) { return nil }
    guard content.isTextByLook else { return content }
    let lines = LineCut.lines(of: content).filter { !$0.isEmpty }
    let kept = lines.filter { !goneLines.contains($0) }
    if kept.isEmpty { return nil }
    return kept.count == lines.count ? content : Array(kept.flatMap { $0 + [UInt8(ascii: "\n")] })
  }
}

extension TextCut {
  /// The texts whose removal may explain the difference of two contents: removing one of them from the old gives
  /// the new.
  static func candidates(_ old: [UInt8], _ new: [UInt8]) -> Set<TextCut> {
    let size = Placeholder.bytes.count
    let parts = new.split(byPart: Placeholder.bytes)
    var found: Set<TextCut> = []
    var start = 0
    for (position, part) in parts.dropLast().enumerated() {
      start += part.count + (position == 0 ? 0 : size)
      // Before the first new placeholder, both texts are equal.
      guard old.count >= start, old[..<start].elementsEqual(new[..<start]) else { break }
      // If there are several placeholders, some may have been there before.
      for count in 1..<parts.count {
        let taken = old.count - new.count + count * size
        guard taken > 0, taken % count == 0, start + taken / count <= old.count,
          let text = TextCut(Array(old[start..<(start + taken / count)])),
          text.applied(to: old) == new
        else { continue }
        found.insert(text)
      }
    }
    return found
  }
}
