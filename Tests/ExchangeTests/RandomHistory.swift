import GitSupport
import TestSupport

@testable import Git

/// Packs at random, as somebody may make them who has read notes-protocol(7), PACKS: histories that keep
/// all of its rules, and some that break one.
struct RandomHistory {
  struct Offer {
    var bytes: [UInt8]
    var heads: [ObjectID]
    var objects: Int
    /// All commits that it brings.
    var commits: [ObjectID]
    /// The rule that it breaks; nil where it keeps them all.
    var broken: Rule?
  }

  /// What a pack may break, in the words of the page.
  enum Rule: String, CaseIterable {
    case name, mode, order, duplicate, missingBlob, missingTree, missingParent, wrongKind,
      parentTwice
    case date, person, noTree, nul, unreachable, objectTwice, count, checksum, cut, size,
      deltaWithoutBase
  }

  var random: SplitMix64
  /// Commits that the receiver has, and the names that a forged merge may give.
  var known: [ObjectID]
  private var pack = HandmadePack()
  private var added: Set<ObjectID> = []
  private var broken: Rule?
  private var number = 0

  init(random: SplitMix64, known: [ObjectID]) { (self.random, self.known) = (random, known) }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func one<Element>(of all: [Element]) -> Element { all[below(all.count)] }

  /// The next pack; every other one breaks a rule.
  mutating func offer() throws -> Offer {
    (pack, added) = (HandmadePack(), [])
    let rule = below(2) == 0 ? one(of: Rule.allCases) : nil
    broken = rule
    var commits: [ObjectID] = []
    let count = 1 + below(5)
    // The rule is broken in the last one, which all heads lead to.
    for index in 0..<count {
      broken = index == count - 1 ? rule : nil
      commits.append(try commit(on: known + commits, after: commits.last))
    }
    let heads = Array(commits.suffix(1))
    return Offer(
      bytes: bytes(breaking: rule), heads: heads, objects: pack.count, commits: commits,
      broken: rule)
  }

  private mutating func bytes(breaking rule: Rule?) -> [UInt8] {
    var bytes = pack.bytes(count: rule == .count ? pack.count + 1 + below(3) : nil)
    if rule == .checksum { bytes[bytes.count - 1 - below(20)] ^= UInt8(1 << below(8)) }
    if rule == .cut { bytes.removeLast(1 + below(bytes.count - 1)) }
    return bytes
  }

  private mutating func add(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    let id = HandmadePack.id(kind, content)
    if added.insert(id).inserted { try pack.add(kind, content) }
    return id
  }

  private mutating func commit(on earlier: [ObjectID], after last: ObjectID?) throws -> ObjectID {
    number += 1
    var tree = try tree(depth: below(3))
    var parents = last.map { [$0] } ?? []
    for _ in 0..<below(3) where !earlier.isEmpty {
      let parent = one(of: earlier)
      if !parents.contains(parent) { parents.append(parent) }
    }
    let nobody = HandmadePack.id(.blob, Array("nobody \(number)".utf8))
    switch broken {
    case .missingTree: tree = nobody
    case .missingParent: parents.append(nobody)
    case .wrongKind: parents.append(tree)
    case .parentTwice: parents += parents.isEmpty ? [nobody, nobody] : [parents[0]]
    case .unreachable: _ = try add(.blob, Array("alone \(number)".utf8))
    default: break
    }
    let author = broken == .date || broken == .person ? brokenPerson() : person()
    let lines =
      (broken == .noTree ? [] : ["tree \(tree)"]) + parents.map { "parent \($0)" }
      + ["author \(author)", "committer \(person())"] + furtherHeaders() + ["", message(parents)]
    var content = Array(lines.joined(separator: "\n").utf8)
    if broken == .nul { content += [0, 10] }
    return try addBroken(content)
  }

  /// A commit's object, and what is wrong with it as one of a pack.
  private mutating func addBroken(_ content: [UInt8]) throws -> ObjectID {
    let id = HandmadePack.id(.commit, content)
    switch broken {
    case .size: return try pack.add(.commit, content, size: content.count + 1 + below(100))
    case .objectTwice: try pack.add(.commit, content)
    case .deltaWithoutBase:
      let base = HandmadePack.id(.blob, Array("base \(number)".utf8))
      try pack.add(
        .blob, PackDelta.blob(from: [1, 2, 3], to: [1, 2, 4]), type: 7, between: base.bytes)
    default: break
    }
    try pack.add(.commit, content)
    return id
  }

  // MARK: Trees and texts

  private static let names =
    [
      "n.txt", "a.txt", "A.txt", "b.md", "d", "d.txt", "\u{e9}.txt", "e\u{301}.txt", "\u{df}.txt",
      "SS.txt",
    ]
    + [
      "with space.txt", "<<<<<<< x.txt", ".gitignore", ".hidden", "CON", "-rf",
      "a\\b.txt",
    ]
    + [
      "n (Bob's copy, 2026-01-01).txt", "\u{202e}txt.a",
      String(repeating: "n", count: 251) + ".txt",
    ]

  private static let forbidden =
    [
      "", ".", "..", ".git", ".GIT", "git~1", ".git ", ".git::$DATA", ".g\u{200c}it", "x\\.git",
      "a/b",
    ]
    + ["a\nb", "\u{1b}[2J", "\u{9b}", "\u{7f}", String(repeating: "n", count: 256)]

  private mutating func tree(depth: Int) throws -> ObjectID {
    var entries: [[UInt8]: (mode: String, name: [UInt8], id: ObjectID)] = [:]
    for _ in 0..<1 + below(6) {
      let name = Array(one(of: Self.names).utf8)
      if entries[name] != nil { continue }
      if depth > 0, below(4) == 0 {
        // Nothing is broken twice, nor below what a second tree may replace.
        let rule = broken
        broken = nil
        entries[name] = ("40000", name, try tree(depth: depth - 1))
        broken = rule
      } else {
        entries[name] = (below(8) == 0 ? "100755" : "100644", name, try blob())
      }
    }
    var sorted = entries.values.sorted { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
    let unique = Array("z \(number)".utf8)
    switch broken {
    case .name: sorted = [("100644", Array(one(of: Self.forbidden).utf8), try blob())]
    case .mode:
      sorted = [
        (one(of: ["120000", "160000", "100600", "0100644", "40755", ""]), unique, try blob())
      ]
    case .order:
      sorted = [("100644", unique, try blob()), ("100644", [0x61], try blob())]
    case .duplicate: sorted = Array(repeating: ("100644", unique, try blob()), count: 2)
    case .missingBlob:
      sorted = [("100644", unique, HandmadePack.id(.blob, Array("missing \(number)".utf8)))]
    default: break
    }
    return try add(.tree, HandmadePack.treeContent(sorted))
  }

  /// In which git sorts a tree: folders as if a slash ended their names.
  private static func key(_ entry: (mode: String, name: [UInt8], id: ObjectID)) -> [UInt8] {
    entry.name + (entry.mode == "40000" ? [UInt8(ascii: "/")] : [])
  }

  private static let lines = [
    "one", "two", "", "- item", "# Title", "<<<<<<< Ada \u{b7} 2026-01-01", "=======",
    ">>>>>>> Bob",
    "<<<<<<<", "|||||||", "\u{1b}[2J", "two\r", "\u{0}", "---", "title: x", "*", "```",
  ]

  private mutating func blob() throws -> ObjectID {
    number += 1
    var text = (0..<below(8)).map { _ in one(of: Self.lines) } + ["\(number)"]
    text.shuffle(using: &random)
    var content = Array(text.joined(separator: "\n").utf8)
    if below(3) > 0 { content.append(10) }
    if below(10) == 0 { content += [0xFF, 0xFE, 0x80] }
    if below(10) == 0 { content += [UInt8](repeating: 0x61, count: below(100_000)) }
    return try add(.blob, content)
  }

  // MARK: Authors, times and messages

  private mutating func person() -> String {
    let names = ["Bob", "Carol", "Ada", "notes", "B\u{f6}b", "<<<<<<<", "x y", "\u{202e}Bob"]
    let mails = ["b@example.org", "merge@notes.invalid", "", "DEVICE@notes.invalid"]
    let times: [Int64] = [0, 1, 1_700_000_000 + Int64(number), 1_795_000_000, 253_402_300_799]
    let name = one(of: names).filter { $0 != "<" }
    return "\(name.isEmpty ? "n" : name) <\(one(of: mails))> \(one(of: times)) "
      + one(of: ["+0000", "-0000", "+0100", "-1130", "+1400"])
  }

  private mutating func brokenPerson() -> String {
    broken == .date
      ? "A <a@b> "
        + one(of: ["253402300800 +0000", "-1 +0000", "01 +0000", "1e9 +0000", "1 0000", "1"])
      : one(of: ["A a@b 1 +0000", "A <a<b> 1 +0000", "\u{1b}[2J <a> 1 +0000", "", "A> <b> 1 +0000"])
  }

  private mutating func furtherHeaders() -> [String] {
    switch below(8) {
    case 0: ["gpgsig -----BEGIN SSH SIGNATURE-----", " U1NI", " -----END SSH SIGNATURE-----"]
    case 1: ["encoding ISO-8859-1"]
    case 2: ["x-unknown " + String(repeating: "x", count: below(2_000))]
    default: []
    }
  }

  /// Some as a derived merge has them.
  private mutating func message(_ parents: [ObjectID]) -> String {
    let trailers = [
      "Notes-Merge: 2", "Notes-Merge: 1", "Notes-Merge: -9", "Notes-More: 99999999999999999999",
      "Notes-More: 3", "Notes-Conflict: 7 n.txt", "Notes-Conflict: 9999999999 n.txt",
      "Notes-Conflict: 7 \"\\303\"", "Notes-Merged: joined a.txt", "Notes-Merged: nonsense a.txt",
      "Notes-Foreign: x",
    ]
    let text =
      below(2) == 0
      ? "Merge \(parents.count) versions" : one(of: ["save", "", "\u{1b}[2J", "a\nb"])
    return text + "\n\n" + (0..<below(4)).map { _ in one(of: trailers) }.joined(separator: "\n")
      + "\n"
  }
}
