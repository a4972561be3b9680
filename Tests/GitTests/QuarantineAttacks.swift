import GitSupport

@testable import Git

private let nameAttacks: [Attack] = [
  ".", "..", ".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git . .", ".git::$DATA",
  ".git:stream", "git~1::$INDEX_ALLOCATION", ".g\u{200c}it", "\u{feff}.git", ".gi\u{200d}T",
  "a\\.git",
  "..\\.git", "a/b", "../x", "/etc", "line\nbreak", "tab\t", "bell\u{7}", "del\u{7f}", "c1\u{85}",
  String(repeating: "n", count: 256),
].map(Attack.named)

private let treeAttacks: [Attack] = [
  .tree("an empty name") { _ in [("100644", [])] },
  .tree("a symbolic link") { _ in [("120000", [97])] },
  .tree("a submodule") { _ in [("160000", [97])] },
  .tree("a device's mode") { _ in [("60644", [97])] },
  .tree("group-writable") { _ in [("100664", [97])] },
  .tree("a leading zero") { _ in [("0100644", [97])] },
  .tree("no mode") { _ in [("", [97])] },
  .tree("the same name twice") { _ in [("100644", [97]), ("100644", [97])] },
  .tree("the same name with two modes") { _ in [("100644", [97]), ("100755", [97])] },
  .tree("out of order") { _ in [("100644", [98]), ("100644", [97])] },
  .tree("a folder that is a blob") { _ in [("40000", [97])] },
  Attack("a file and a folder of one name") { pack in
    let blob = try pack.add(.blob, [])
    let folder = try pack.addTree([("100644", [97], blob)])
    let tree = try pack.addTree([
      ("100644", Array("a".utf8), blob), ("100644", Array("a.b".utf8), blob),
      ("40000", Array("a".utf8), folder),
    ])
    return (nil, [try pack.addCommit(tree)])
  },
  Attack("a leading zero in the next version") { pack in
    let blobs = try [[97], [98]].map { try pack.add(.blob, $0) }
    let first = try pack.addTree([("100644", [97], blobs[0])])
    let head = try pack.addCommit(first)
    let next = try pack.addTree([("0100644", [97], blobs[1])])
    return (nil, [try pack.addCommit(next, parents: [head])])
  },
  Attack("a file that is a tree") { pack in
    let empty = try pack.addTree([])
    let tree = try pack.addTree([("100644", [97], empty)])
    return (nil, [try pack.addCommit(tree)])
  },
  Attack("a tree cut short") { pack in
    let tree = try pack.add(.tree, Array("100644 a\0short".utf8))
    return (nil, [try pack.addCommit(tree)])
  },
  Attack("folders inside one another without end", limits: Attack.smallLimits) { pack in
    let blob = try pack.add(.blob, [])
    var tree = try pack.addTree([("100644", [97], blob)])
    for _ in 0..<9 { tree = try pack.addTree([("40000", [97], tree)]) }
    return (nil, [try pack.addCommit(tree)])
  },
  Attack("a deep folder inside another, in a former version", limits: Attack.smallLimits) { pack in
    let blob = try pack.add(.blob, [])
    var tree = try pack.addTree([("100644", [97], blob)])
    for _ in 0..<6 { tree = try pack.addTree([("40000", [97], tree)]) }
    var head = try pack.addCommit(tree)
    for name in [98, 99, 100, 101] as [UInt8] { tree = try pack.addTree([("40000", [name], tree)]) }
    head = try pack.addCommit(tree, parents: [head])
    let last = try pack.addTree([("100644", [97], blob)])
    return (nil, [try pack.addCommit(last, parents: [head])])
  },
  Attack("few trees that stand for a million files", limits: Attack.smallLimits) { pack in
    let blob = try pack.add(.blob, [])
    let letters = (97..<107).map { [UInt8($0)] }
    var tree = try pack.addTree(letters.map { ("100644", $0, blob) })
    for _ in 0..<5 {
      let below = tree
      tree = try pack.addTree(letters.map { ("40000", $0, below) })
    }
    return (nil, [try pack.addCommit(tree)])
  },
]

// notes-protocol(7), PACKS: "Every version, not only the heads, is within the limits of files, folders and
// paths."
private let historyAttacks: [Attack] = [
  .former("few trees that stand for 2^40 files") { pack in
    let blob = try pack.add(.blob, [])
    return try pack.doubled(40, from: try pack.addTree([("100644", [97], blob)]))
  },
  .former("few trees that stand for 2^40 folders and no file") { pack in
    try pack.doubled(40, from: try pack.addTree([]))
  },
  .former("a path longer than is allowed") { pack in
    let name = [UInt8](repeating: 97, count: 200)
    var tree = try pack.addTree([("100644", name, try pack.add(.blob, []))])
    for _ in 0..<21 { tree = try pack.addTree([("40000", name, tree)]) }
    return tree
  },
]

extension HandmadePack {
  /// A folder with two folders alike in it, and so on.
  fileprivate mutating func doubled(_ times: Int, from tree: ObjectID) throws -> ObjectID {
    var tree = tree
    for _ in 0..<times { tree = try addTree([("40000", [97], tree), ("40000", [98], tree)]) }
    return tree
  }
}

private let commitAttacks: [Attack] =
  [
    "author A <a@example.org> 253402300800 +0000", "author A <a@example.org> -1 +0000",
    "author A <a@example.org> 01 +0000", "author A <a@example.org> 1e9 +0000",
    "author A <a@example.org> 1 0000", "author A <a@example.org> 1 +00", "author A 1 +0000",
    "author A <a<b> 1 +0000", "author A> <b> 1 +0000", "author A<b> 1 +0000",
    "author A <a> 1 +0000\nauthor A <a> 1 +0000", "nobody", "author \u{1b}[2J <a> 1 +0000",
  ].map(Attack.author) + [
    Attack("a commit without a tree") { pack in
      (nil, [try pack.add(.commit, Array("author A <a> 1 +0000\n\nm\n".utf8))])
    },
    Attack("a second tree, which did not arrive, after the committer") { pack in
      let second = "tree \(HandmadePack.id(.tree, [1]))"
      return (nil, [try pack.addCommit(pack.addTree([]), further: [second])])
    },
    Attack("a commit with a NUL") { pack in
      let tree = try pack.addTree([])
      let text = "tree \(tree)\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nm\0\n"
      return (nil, [try pack.add(.commit, Array(text.utf8))])
    },
    Attack("a missing parent") { pack in
      let tree = try pack.addTree([])
      return (nil, [try pack.addCommit(tree, parents: [.emptyBlob])])
    },
    Attack("one parent twice") { pack in
      let tree = try pack.addTree([])
      let parent = try pack.addCommit(tree)
      return (nil, [try pack.addCommit(tree, parents: [parent, parent])])
    },
    Attack("too many parents", limits: Attack.smallLimits) { pack in
      let tree = try pack.addTree([])
      let parents = try (1..<5).map {
        try pack.addCommit(tree, author: "author A <a@example.org> \($0) +0000")
      }
      return (nil, [try pack.addCommit(tree, parents: parents)])
    },
    Attack("a parent that is a tree") { pack in
      let tree = try pack.addTree([])
      return (nil, [try pack.addCommit(tree, parents: [tree])])
    },
    Attack("a tree that is a commit") { pack in
      let commit = try pack.addCommit(try pack.addTree([]))
      return (nil, [try pack.addCommit(commit)])
    },
  ]

private let packAttacks: [Attack] = [
  Attack("not a pack") { _ in (Array("hello, world".utf8), []) },
  Attack("a missing blob") { pack in
    let tree = try pack.addTree([("100644", [97], HandmadePack.id(.blob, [1]))])
    return (nil, [try pack.addCommit(tree)])
  },
  Attack("a missing blob in versions that take each other back") { pack in
    let missing = HandmadePack.id(.blob, [1])
    let blobs = [try pack.add(.blob, [2]), try pack.add(.blob, [3])]
    let trees = try blobs.map { blob in
      try pack.addTree([("100644", [97], missing), ("100644", [98], blob)])
    }
    var heads: [ObjectID] = []
    for number in 0..<8 { heads = [try pack.addCommit(trees[number % 2], parents: heads)] }
    return (nil, heads)
  },
  Attack("a missing tree") { pack in (nil, [try pack.addCommit(HandmadePack.id(.tree, [1]))]) },
  Attack("a head that does not come") { pack in
    _ = try pack.addCommit(try pack.addTree([]))
    return (nil, [HandmadePack.id(.commit, [1])])
  },
  Attack("a head that is a tree") { pack in
    let tree = try pack.addTree([])
    _ = try pack.addCommit(tree)
    return (nil, [tree])
  },
  Attack("a blob that nothing refers to") { pack in
    _ = try pack.add(.blob, [1])
    return (nil, [try pack.addCommit(try pack.addTree([]))])
  },
  Attack("a tree that nothing refers to") { pack in
    _ = try pack.addTree([("100644", Array(".git".utf8), .emptyBlob)])
    return (nil, [try pack.addCommit(try pack.addTree([]))])
  },
  Attack("a tag") { pack in
    let commit = try pack.addCommit(try pack.addTree([]))
    let tag = "object \(commit)\ntype commit\ntag v\ntagger A <a> 1 +0000\n\nm\n"
    _ = try pack.add(.tag, Array(tag.utf8))
    return (nil, [commit])
  },
  Attack("a size too large") { pack in
    try pack.add(.blob, [1, 2, 3], size: 4)
    return (nil, [])
  },
  Attack("a size too small") { pack in
    try pack.add(.blob, [1, 2, 3], size: 2)
    return (nil, [])
  },
  Attack("an object over the limit", limits: Attack.smallLimits) { pack in
    try pack.add(.blob, [UInt8](repeating: 0, count: 2 << 20))
    return (nil, [])
  },
  Attack("an object that says it is small and is not") { pack in
    try pack.add(.blob, [UInt8](repeating: 0, count: 20 << 20), size: 100)
    return (nil, [])
  },
  Attack("a delta that unpacks to 1 TiB") { pack in
    var delta: [UInt8] = []
    PackDelta.appendSize(0, to: &delta)
    PackDelta.appendSize(1 << 40, to: &delta)
    try pack.add(.blob, delta, type: 7, between: ObjectID.emptyBlob.bytes)
    return (nil, [])
  },
  Attack("a delta that does not state its sizes") { pack in
    try pack.add(.blob, [0x80], type: 7, between: ObjectID.emptyBlob.bytes)
    return (nil, [])
  },
  Attack("a delta against nothing that is known") { pack in
    try pack.add(.blob, [1, 1, 1, 0], type: 7, between: HandmadePack.id(.blob, [9]).bytes)
    return (nil, [])
  },
  Attack("a delta against what lies before the pack") { pack in
    try pack.add(.blob, [1, 1, 1, 0], type: 6, between: [0xff, 0xff, 0x7f])
    return (nil, [])
  },
  Attack("an unknown type of object") { pack in
    try pack.add(.blob, [1], type: 5)
    return (nil, [])
  },
  Attack("a header without end") { _ in
    let start = Array("PACK".utf8) + [0, 0, 0, 2, 0, 0, 0, 1]
    return (start + [UInt8](repeating: 0xff, count: 100), [])
  },
  Attack("too many objects", limits: Attack.smallLimits) { pack in
    for number in 0..<21 { try pack.add(.blob, [UInt8(number)]) }
    return (nil, [])
  },
  Attack("a pack too large", limits: Attack.smallLimits) { pack in
    for seed in 0..<9 {
      var state = UInt32(seed + 1)
      let noise = (0..<10_000).map { _ -> UInt8 in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(state >> 24)
      }
      try pack.add(.blob, noise)
    }
    return (nil, [])
  },
  Attack("more objects than it says") { pack in
    let commit = try pack.addCommit(try pack.addTree([]))
    return (pack.bytes(count: 1), [commit])
  },
  Attack("fewer objects than it says") { pack in
    let commit = try pack.addCommit(try pack.addTree([]))
    return (pack.bytes(count: 3), [commit])
  },
  Attack("bytes after the end") { pack in
    let commit = try pack.addCommit(try pack.addTree([]))
    return (pack.bytes() + [0], [commit])
  },
  Attack("a wrong checksum") { pack in
    let commit = try pack.addCommit(try pack.addTree([]))
    var bytes = pack.bytes()
    bytes[bytes.count - 1] ^= 1
    return (bytes, [commit])
  },
]

// notes-protocol(7), PACKS: "Each object is in the pack only once", "The base of a delta is before the delta".
private let deltaAttacks: [Attack] = [
  Attack("one delta twice") { pack in
    let old = Array("first\n".utf8)
    let new = Array("first\nsecond\n".utf8)
    let base = try pack.add(.blob, old)
    for _ in 0..<2 {
      try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: base.bytes)
    }
    return (nil, [try pack.addCommit(named: [base, HandmadePack.id(.blob, new)])])
  },
  Attack("two deltas that lead to one object") { pack in
    let new = Array("second\n".utf8)
    var blobs: [ObjectID] = []
    for old in ["one\n", "two\n"].map({ Array($0.utf8) }) {
      let base = try pack.add(.blob, old)
      try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: base.bytes)
      blobs.append(base)
    }
    return (nil, [try pack.addCommit(named: blobs + [HandmadePack.id(.blob, new)])])
  },
  Attack("two deltas that lead to one folder") { pack in
    let blob = try pack.add(.blob, [1])
    let old = HandmadePack.treeContent([("100644", [97], blob)])
    let new = HandmadePack.treeContent([("100644", [97], blob), ("100644", [98], blob)])
    guard let delta = PackDelta.tree(from: old, to: new) else { return (nil, []) }
    let base = try pack.add(.tree, old)
    for _ in 0..<2 { try pack.add(.tree, delta, type: 7, between: base.bytes) }
    _ = try pack.addCommit(base)
    return (nil, [try pack.addCommit(HandmadePack.id(.tree, new))])
  },
  Attack("an object and a delta that leads to it") { pack in
    let (old, new) = (Array("one\n".utf8), Array("two\n".utf8))
    let blobs = [try pack.add(.blob, old), try pack.add(.blob, new)]
    try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: blobs[0].bytes)
    return (nil, [try pack.addCommit(named: blobs)])
  },
  Attack("an object twice") { pack in
    let blob = try pack.add(.blob, [1])
    try pack.add(.blob, [1])
    return (nil, [try pack.addCommit(named: [blob])])
  },
  Attack("two deltas based on one another, one of which the receiver has") { pack in
    let (here, new) = (Array("kept\n".utf8), Array("kept\nmore\n".utf8))
    let ids = [HandmadePack.id(.blob, here), HandmadePack.id(.blob, new)]
    try pack.add(.blob, PackDelta.blob(from: here, to: new), type: 7, between: ids[0].bytes)
    try pack.add(.blob, PackDelta.blob(from: new, to: here), type: 7, between: ids[1].bytes)
    return (nil, [try pack.addCommit(named: ids)])
  },
  Attack("two deltas based on one another, neither of which is known") { pack in
    let (old, new) = (Array("one\n".utf8), Array("two\n".utf8))
    let ids = [HandmadePack.id(.blob, old), HandmadePack.id(.blob, new)]
    try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: ids[0].bytes)
    try pack.add(.blob, PackDelta.blob(from: new, to: old), type: 7, between: ids[1].bytes)
    return (nil, [try pack.addCommit(named: ids)])
  },
  Attack("a delta based on itself") { pack in
    let delta = PackDelta.blob(from: Array("kept\n".utf8), to: Array("kept\n".utf8))
    let blob = HandmadePack.id(.blob, Array("kept\n".utf8))
    try pack.add(.blob, delta, type: 7, between: blob.bytes)
    return (nil, [try pack.addCommit(named: [blob])])
  },
  Attack("a delta against the middle of an object") { pack in
    try pack.add(.blob, Array("some text\n".utf8))
    try pack.add(.blob, [1, 1, 1, 0], type: 6, between: [3])
    return (nil, [])
  },
  Attack("a delta that does not fit its base") { pack in
    let old = Array("first\n".utf8)
    let base = try pack.add(.blob, old)
    let delta = PackDelta.blob(from: old + [1], to: old + [1, 2])
    try pack.add(.blob, delta, type: 7, between: base.bytes)
    return (nil, [try pack.addCommit(named: [base])])
  },
  Attack("a delta that copies from beyond its base") { pack in
    let base = try pack.add(.blob, [1, 2, 3])
    try pack.add(.blob, [3, 4, 0x91, 0, 4], type: 7, between: base.bytes)
    return (nil, [try pack.addCommit(named: [base])])
  },
  Attack("a longer chain than is allowed", limits: Attack.smallLimits) { pack in
    var content = Array("note\n".utf8)
    var blobs = [try pack.add(.blob, content)]
    for number in 0..<5 {
      let next = content + Array("\(number)\n".utf8)
      try pack.add(
        .blob, PackDelta.blob(from: content, to: next), type: 7, between: blobs[number].bytes)
      content = next
      blobs.append(HandmadePack.id(.blob, content))
    }
    return (nil, [try pack.addCommit(named: blobs)])
  },
]

let attacks: [Attack] =
  nameAttacks + treeAttacks + historyAttacks + commitAttacks + packAttacks + deltaAttacks
