import Git
import Merge
import TestSupport

/// A few devices that edit, exchange and edit on, at random: histories with criss-crosses, derived
/// merges, conflicts nobody resolved and conflicts somebody did.
struct MergeHistories {
  let store: any MergeStore
  let bounds: MergeBounds
  var random: SplitMix64
  /// Which commit first held each line.
  private(set) var origins: [String: ObjectID] = [:]
  /// Lines that stood in more than one note at a time, as a note renamed by one device and edited by
  /// another may leave them.
  private(set) var copied: Set<String> = []
  /// Per device: the heads it knows.
  private(set) var heads: [[ObjectID]] = []
  private var clock: Int64 = 1_700_000_000
  private var lineCount = 0

  /// With `onOneLine` every device begins with an edit of the same line, without knowing of the
  /// others' edits.
  init(
    store: any MergeStore, seed: UInt64, devices: Int, steps: Int, onOneLine: Bool = false,
    bounds: MergeBounds = .standard
  ) throws {
    self.store = store
    self.bounds = bounds
    random = SplitMix64(seed: seed)
    let first = (0..<(1 + below(onOneLine ? 3 : 6))).map { _ in newLine() }
    let root = try commit(texts: ["n.txt": first, "d/o.txt": [newLine()]], by: 0, on: [])
    for line in first { origins[line] = root }
    heads = Array(repeating: [root], count: devices)
    if onOneLine {
      for device in 0..<devices {
        let new = newLine()
        let edited = [new] + first.dropFirst()
        let id = try commit(
          texts: ["n.txt": edited, "d/o.txt": []], by: device, on: [store.commit(root)])
        origins[new] = id
        heads[device] = [id]
      }
    }
    for _ in 0..<steps { try step() }
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func newLine() -> String {
    lineCount += 1
    return "line \(lineCount) " + String(lineCount &* 7919, radix: 36)
  }

  private mutating func step() throws {
    let device = below(heads.count)
    if below(3) == 0 {
      let other = below(heads.count)
      heads[device] = try DerivedMerge.tip(
        of: heads[device] + heads[other], in: store, bounds: bounds
      ).heads
    } else {
      try edit(by: device)
    }
  }

  private mutating func edit(by device: Int) throws {
    let tip = try store.commit(DerivedMerge.tip(of: heads[device], in: store, bounds: bounds).id)
    var texts: [TreePath: [String]] = [:]
    for path: TreePath in ["n.txt", "d/o.txt", "m.txt"] {
      guard let entry = try store.entry(at: path, in: tip.tree) else { continue }
      let lines = Self.lines(try store.blob(entry.id))
      for others in texts.values { copied.formUnion(Set(others).intersection(lines)) }
      texts[path] = lines
    }
    var added: [String] = []
    let open = try OpenConflicts.conflicts(at: tip, in: store)
    let choice = below(20)
    if choice == 0, let moved = texts["n.txt"], texts["m.txt"] == nil {
      (texts["n.txt"], texts["m.txt"]) = (nil, moved)
    } else if choice == 1, texts.count > 1 {
      texts[texts.keys.sorted()[below(texts.count)]] = nil
    } else {
      let path = choice < 16 ? "n.txt" : ["n.txt", "d/o.txt", "m.txt"][below(3)] as TreePath
      var lines = texts[path] ?? []
      if let size = open[path], below(2) == 0 {
        let chosen: [Resolution] = [.older, .newer, .both]
        let resolved = try chosen[below(3)].apply(
          to: MarkedText(Array((lines.joined(separator: "\n") + "\n").utf8), markerSize: size))
        lines = Self.lines(resolved)
      }
      for _ in 0...below(2) { added += change(&lines) }
      texts[path] = lines
    }
    let parents = [tip]
    let id = try commit(texts: texts, by: device, on: parents)
    for line in added where origins[line] == nil { origins[line] = id }
    heads[device] = try DerivedMerge.tip(of: [id], in: store, bounds: bounds).heads
  }

  /// Changes some lines and returns those that are new.
  private mutating func change(_ lines: inout [String]) -> [String] {
    let place = below(lines.count + 1)
    let isMarker = place < lines.count && "<=>".contains(lines[place].first ?? " ")
    switch below(isMarker ? 3 : 6) {
    case 0...2:
      let new = (0...below(2)).map { _ in newLine() }
      lines.insert(contentsOf: new, at: below(2) == 0 ? place : lines.count)
      return new
    case 3 where place < lines.count:
      lines.remove(at: place)
      return []
    case 4, 5:
      guard place < lines.count else { return [] }
      let new = newLine()
      lines[place] = new
      return [new]
    default: return []
    }
  }

  private mutating func commit(
    texts: [TreePath: [String]], by device: Int, on parents: [Commit]
  ) throws -> ObjectID {
    var files: [TreePath: TreeEntry?] = [:]
    for (path, lines) in texts {
      let text = lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
      files[path] = TreeEntry(
        name: path.name, mode: .regular, id: try store.write(blob: Array(text.utf8)))
    }
    let tree = try store.write(tree: nil, replacing: files)
    clock += Int64(below(3))
    let author = Signature(
      name: "D\(device)", email: "d\(device)@notes.invalid", time: clock, offset: 60)
    let trailers = try OpenConflicts.carried(from: parents, to: tree, in: store)
    return try store.write(
      commit: tree, parents: parents.map(\.id), author: author, committer: author,
      message: "Edit \(lineCount) \(clock)\n\n"
        + trailers.lines(within: bounds.listBytes).joined(separator: "\n") + "\n")
  }

  static func lines(_ text: [UInt8]) -> [String] {
    text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
