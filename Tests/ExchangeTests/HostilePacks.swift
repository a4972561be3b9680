import Channel
import GitSupport
import Membership

@testable import Exchange
@testable import Git

extension HostileRow {
  /// A pack that breaks a rule; it brings the heads that were announced.
  private static func pack(
    _ name: String, _ make: @escaping @Sendable (inout HandmadePack) throws -> [ObjectID]
  ) -> HostileRow {
    HostileRow(name: name) { script in
      var pack = HandmadePack()
      let heads = try make(&pack)
      try script.greet(heads: heads)
      try script.offer(pack.bytes(), heads: heads, objects: pack.count)
    }
  }

  /// A version with one tree of these entries.
  private static func tree(_ name: String, _ entries: [(String, String)]) -> HostileRow {
    pack(name) { pack in
      let blob = try pack.add(.blob, Array("x\n".utf8))
      let tree = try pack.addTree(entries.map { ($0.0, Array($0.1.utf8), blob) })
      return [try pack.addCommit(tree)]
    }
  }

  private static let names: [HostileRow] = [
    "..", ".", "../x", "/etc/passwd", "a/b", ".git", ".GIT", ".git/config", "git~1", ".git ",
    ".git::$DATA", ".g\u{200c}it", "..\\.git", "bell\u{7}", "line\nbreak", "escape\u{1b}[2J",
    "c1\u{9b}",
  ].map { name in tree("a file named \(name.debugDescription)", [("100644", name)]) }

  private static let trees: [HostileRow] = [
    tree("a symbolic link", [("120000", "a")]),
    tree("a submodule", [("160000", "a")]),
    tree("a block device", [("60644", "a")]),
    tree("a character device", [("20666", "a")]),
    tree("a setuid file", [("104755", "a")]),
    tree("one name twice", [("100644", "a"), ("100644", "a")]),
    tree("unsorted names", [("100644", "b"), ("100644", "a")]),
    tree("a folder that is a blob", [("40000", "a")]),
    pack("a .git two folders down") { pack in
      let blob = try pack.add(.blob, [1])
      var tree = try pack.addTree([("100644", Array("config".utf8), blob)])
      for name in [".git", "b", "a"] {
        tree = try pack.addTree([("40000", Array(name.utf8), tree)])
      }
      return [try pack.addCommit(tree)]
    },
    pack("folders a thousand deep") { pack in
      let blob = try pack.add(.blob, [1])
      var tree = try pack.addTree([("100644", [97], blob)])
      for _ in 0..<1_000 { tree = try pack.addTree([("40000", [97], tree)]) }
      return [try pack.addCommit(tree)]
    },
    // Refused although the heads hold next to nothing: history is bounded like heads.
    pack("a former version of 2^40 files") { pack in
      var tree = try pack.addTree([("100644", [97], try pack.add(.blob, [1]))])
      let small = tree
      for _ in 0..<40 { tree = try pack.addTree([("40000", [97], tree), ("40000", [98], tree)]) }
      return [try pack.addCommit(small, parents: [try pack.addCommit(tree)])]
    },
    pack("few trees that stand for ten million files") { pack in
      let blob = try pack.add(.blob, [1])
      let letters = (97..<107).map { [UInt8($0)] }
      var tree = try pack.addTree(letters.map { ("100644", $0, blob) })
      for _ in 0..<6 {
        let below = tree
        tree = try pack.addTree(letters.map { ("40000", $0, below) })
      }
      return [try pack.addCommit(tree)]
    },
  ]

  private static let objects: [HostileRow] = [
    pack("a blob that does not come") { pack in
      let tree = try pack.addTree([("100644", [97], HandmadePack.id(.blob, [1]))])
      return [try pack.addCommit(tree)]
    },
    pack("a tree that does not come") { pack in [try pack.addCommit(HandmadePack.id(.tree, [1]))] },
    pack("a second tree, after the committer, that does not come") { pack in
      let second = "tree \(HandmadePack.id(.tree, [1]))"
      return [try pack.addCommit(pack.addTree([]), further: [second])]
    },
    pack("a parent that does not come") { pack in
      let tree = try pack.addTree([])
      return [try pack.addCommit(tree, parents: [HandmadePack.id(.commit, [1])])]
    },
    pack("a head that does not come") { pack in
      _ = try pack.addCommit(try pack.addTree([]))
      return [HandmadePack.id(.commit, [1])]
    },
    pack("a head that is a tree") { pack in
      let tree = try pack.addTree([])
      _ = try pack.addCommit(tree)
      return [tree]
    },
    pack("an object that says it is small and unpacks to a megabyte") { pack in
      let bomb = try pack.add(.blob, [UInt8](repeating: 0, count: 1 << 20), size: 100)
      return [try pack.addCommit(try pack.addTree([("100644", [97], bomb)]))]
    },
    // Refused by its header, before room is made: so little content is enough to show it.
    pack("an object over the limit") { pack in
      let bomb = try pack.add(.blob, [0], size: PackLimits.standard.objectBytes + 1)
      return [try pack.addCommit(try pack.addTree([("100644", [97], bomb)]))]
    },
    pack("a delta that unpacks to 1 TiB") { pack in
      var delta: [UInt8] = []
      PackDelta.appendSize(0, to: &delta)
      PackDelta.appendSize(1 << 40, to: &delta)
      try pack.add(.blob, delta, type: 7, between: ObjectID.emptyBlob.bytes)
      return [try pack.addCommit(try pack.addTree([]))]
    },
    pack("a blob that nothing refers to") { pack in
      try pack.add(.blob, [1])
      return [try pack.addCommit(try pack.addTree([]))]
    },
  ]

  private static let deltas: [HostileRow] = [
    pack("two deltas that lead to one note") { pack in
      let new = Array("both\n".utf8)
      var blobs: [ObjectID] = []
      for old in [Array("one\n".utf8), Array("two\n".utf8)] {
        let base = try pack.add(.blob, old)
        try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: base.bytes)
        blobs.append(base)
      }
      return [try pack.addCommit(named: blobs + [HandmadePack.id(.blob, new)])]
    },
    pack("two deltas that lead to one folder") { pack in
      let blob = try pack.add(.blob, [1])
      let old = HandmadePack.treeContent([("100644", [97], blob)])
      let new = HandmadePack.treeContent([("100644", [97], blob), ("100644", [98], blob)])
      let base = try pack.add(.tree, old)
      for _ in 0..<2 {
        guard let delta = PackDelta.tree(from: old, to: new) else { continue }
        try pack.add(.tree, delta, type: 7, between: base.bytes)
      }
      let parent = try pack.addCommit(base)
      return [try pack.addCommit(HandmadePack.id(.tree, new), parents: [parent])]
    },
    // "a\n" is what the receiver's note holds.
    pack("two deltas based on one another, one of which the receiver has") { pack in
      let (here, new) = (Array("a\n".utf8), Array("a\nb\n".utf8))
      let ids = [HandmadePack.id(.blob, here), HandmadePack.id(.blob, new)]
      try pack.add(.blob, PackDelta.blob(from: here, to: new), type: 7, between: ids[0].bytes)
      try pack.add(.blob, PackDelta.blob(from: new, to: here), type: 7, between: ids[1].bytes)
      return [try pack.addCommit(named: ids)]
    },
    pack("two deltas based on one another") { pack in
      let (one, two) = (Array("one\n".utf8), Array("two\n".utf8))
      let ids = [HandmadePack.id(.blob, one), HandmadePack.id(.blob, two)]
      try pack.add(.blob, PackDelta.blob(from: one, to: two), type: 7, between: ids[0].bytes)
      try pack.add(.blob, PackDelta.blob(from: two, to: one), type: 7, between: ids[1].bytes)
      return [try pack.addCommit(named: ids)]
    },
    pack("a thousand deltas in a row") { pack in
      var content = Array("note\n".utf8)
      var base = try pack.add(.blob, content)
      for number in 0..<1_000 {
        let next = Array("\(number)\n".utf8)
        try pack.add(.blob, PackDelta.blob(from: content, to: next), type: 7, between: base.bytes)
        (content, base) = (next, HandmadePack.id(.blob, next))
      }
      return [try pack.addCommit(named: [base])]
    },
  ]

  private static let dates: [HostileRow] =
    [
      ("a clock in the year 9999, and after", "253402300800 +0000"),
      ("a clock in the year 1901", "-2177452800 +0000"), ("a date that is none", "1e9 +0000"),
      ("a time zone that is none", "1 +9999999"),
    ].map { name, date in
      pack(name) { pack in
        let blob = try pack.add(.blob, [1])
        let tree = try pack.addTree([("100644", [97], blob)])
        return [try pack.addCommit(tree, author: "author A <a@example.org> \(date)")]
      }
    } + [
      pack("an author who clears the screen") { pack in
        let tree = try pack.addTree([])
        return [try pack.addCommit(tree, author: "author \u{1b}[2J <a> 1 +0000")]
      }
    ]

  private static let transfers: [HostileRow] = [
    HostileRow(name: "bytes that are no pack") { script in
      let head = HandmadePack.id(.commit, [1])
      try script.greet(heads: [head])
      try script.offer(Array("PACKnonsense".utf8), heads: [head])
    },
    HostileRow(name: "a pack cut short") { script in
      var pack = HandmadePack()
      let head = try pack.addCommit(try pack.addTree([]))
      try script.greet(heads: [head])
      try script.offer(Array(pack.bytes().dropLast(25)), heads: [head])
    },
    HostileRow(name: "a pack with a wrong checksum") { script in
      var pack = HandmadePack()
      let head = try pack.addCommit(try pack.addTree([]))
      var bytes = pack.bytes()
      bytes[bytes.count - 1] ^= 1
      try script.greet(heads: [head])
      try script.offer(bytes, heads: [head])
    },
    HostileRow(name: "a pack that promises other heads") { script in
      var pack = HandmadePack()
      let head = try pack.addCommit(try pack.addTree([]))
      try script.greet(heads: [head])
      try script.offer(pack.bytes(), heads: [])
    },
    HostileRow(name: "nothing at all in place of a pack") { script in
      let head = HandmadePack.id(.commit, [1])
      try script.greet(heads: [head])
      try script.offer([], heads: [head])
    },
    HostileRow(name: "more objects announced than are allowed") { script in
      let head = HandmadePack.id(.commit, [1])
      try script.greet(heads: [head])
      try script.offer([], heads: [head], objects: 1 << 40)
    },
  ]

  /// Packs and what is in them.
  static let packs = names + trees + objects + deltas + dates + transfers
}
