import Glibc
import TestSupport
import Testing

/// Hubs that lie, for each way to reach one: notes-hub(7), "A visit": "It checks the pack by the rules of
/// notes-protocol(7), PACKS ... If no member of the notebook vouches for a version, the visit ends, and the
/// device keeps nothing of the pack". See HubKindsTests for what is tested where.
@Suite(.timeLimit(.minutes(20))) struct LyingHubTests {
  private let ada: Shell
  /// The repository of the hub, and somebody's clone of it who uses git alone.
  private let (hub, clone): (String, String)
  private let folder: TemporaryFolder

  /// What the hub does, and by which kind of error it is refused.
  struct Lie: Sendable {
    let name: String
    let kinds: Set<String>
    let tell: @Sendable (LyingHubTests) throws -> Void

    static let all = [
      // A server that breaks off may be told as one that cannot be reached.
      Lie(name: "a pack that is cut short", kinds: ["hub_failed", "hub_unreachable"]) {
        try $0.commit(String(repeating: "text\n", count: 9_000), as: "Pat <pat@example.org>")
        try $0.git("-C", $0.hub, "repack", "-adq")
        let packs = $0.hub + "/objects/pack"
        for name in try run(["ls", packs]).lines where name.hasSuffix(".pack") {
          chmod(packs + "/" + name, 0o644)
          truncate(packs + "/" + name, 100)
        }
      },
      Lie(name: "an object that is damaged", kinds: ["hub_failed", "hub_unreachable"]) {
        try $0.commit("text\n", as: "Pat <pat@example.org>")
        let id = try $0.git("-C", $0.hub, "rev-parse", "main:pat.txt")
        let path = $0.hub + "/objects/\(id.prefix(2))/\(id.dropFirst(2))"
        chmod(path, 0o644)
        truncate(path, 8)
      },
      Lie(name: "a symbolic link", kinds: ["pack_refused"]) {
        symlink("/etc/passwd", $0.clone + "/link.txt")
        try $0.commit("text\n", as: "Pat <pat@example.org>")
      },
      Lie(name: "a file called .git in another spelling", kinds: ["pack_refused"]) {
        let blob = try $0.git("-C", $0.hub, "hash-object", "-w", "/dev/null")
        let list = $0.folder["tree"]
        try writeFile(list, Array("100644 blob \(blob)\t.Git \n".utf8))
        let tree = try $0.git(
          "-C", $0.hub, "-c", "core.protectNTFS=false", "mktree", input: list)
        try $0.put(tree: tree, as: "Pat <pat@example.org>")
      },
      Lie(name: "a version in a member's name", kinds: ["unsigned_version"]) {
        let tip = try $0.git("-C", $0.hub, "log", "-1", "--format=%an <%ae>", "main")
        try $0.commit("text\n", as: tip)
      },
      Lie(
        name: "a member's version from which the signature is taken", kinds: ["unsigned_version"]
      ) {
        let tip = try $0.git("-C", $0.hub, "log", "-1", "--format=%an <%ae>", "main")
        let tree = try $0.git("-C", $0.hub, "rev-parse", "main^{tree}")
        try $0.put(tree: tree, as: tip, on: "main~1")
      },
      Lie(name: "another notebook's members", kinds: ["hub_of_another"]) { lies in
        let eve = try Shell()
        try eve.folder.write("by eve\n", to: "notes/E.txt")
        try eve.initialise()
        let other = eve.folder["other.git"]
        try lies.git("init", "-q", "--bare", "-b", "main", other)
        try #require(try eve.notes("remote", "add", "home", other).isSuccess)
        try meet(eve)
        let members = "refs/notebook/members"
        try lies.git("-C", lies.hub, "fetch", "-q", other, "+\(members):\(members)")
      },
    ]
  }

  init() throws {
    ada = try Shell()
    folder = ada.folder
    clone = folder["clone"]
    hub = folder["repositories/home.git"]
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
  }

  // MARK: Acts of the hub's owner

  @discardableResult
  private func git(_ words: String..., input: String? = nil) throws -> String {
    let result = try run(
      ["git", "-c", "user.name=P", "-c", "user.email=p@example.org"] + words,
      input: input.map { try readFile($0) } ?? [])
    try #require(result.isSuccess, "\(result)")
    return result.text.filter { !$0.isNewline }
  }

  /// Puts what the clone's folder holds, and this text, on the hub's branch.
  private func commit(_ text: String, as author: String) throws {
    try writeFile(clone + "/pat.txt", Array(text.utf8))
    try git("-C", clone, "add", "--all")
    try git("-C", clone, "commit", "-q", "--author", author, "-m", "x")
    try git("-C", clone, "push", "-q", "origin", "main")
  }

  private func put(tree: String, as author: String, on parent: String = "main") throws {
    let words = author.split(separator: "<")
    let id = try git(
      "-C", hub, "-c", "user.name=\(words[0].dropLast())",
      "-c", "user.email=\(words[1].dropLast())", "commit-tree", "-p", parent, "-m", "x", tree)
    try git("-C", hub, "update-ref", "refs/heads/main", id)
  }

  @Test(arguments: GitServer.Kind.allCases)
  func `What a hub makes up comes in on no way, and honest versions do again`(
    kind: GitServer.Kind
  ) throws {
    let server = try GitServer(kind)
    let address = try server.makeRepository("home.git")
    symlink(server.repositories, folder["repositories"])
    try ada.add(hub: "home", at: address, on: server)
    try meet(ada)
    try ada.folder.write("two\n", to: "notes/A.txt")
    try meet(ada)
    let honest = folder["honest.git"]
    try #require(try run(["cp", "-a", hub, honest]).isSuccess)
    let tip = try run(["git", "-C", folder["notes"], "rev-parse", "HEAD"]).text
    for lie in Lie.all {
      try git("clone", "-q", hub, clone)
      try lie.tell(self)
      let told = try ada.notes("sync", "--hub", "--json")
      #expect(try lie.kinds.contains(errorKind(of: told)), "\(kind), \(lie.name): \(told)")
      // Nothing of it is kept, and nothing has changed.
      let notebook = folder["notes"]
      #expect(try run(["git", "-C", notebook, "rev-parse", "HEAD"]).text == tip, "\(lie.name)")
      #expect(try run(["git", "-C", notebook, "status", "--porcelain"]).text == "", "\(lie.name)")
      #expect(try run(["find", notebook + "/.git/notes/incoming", "-mindepth", "1"]).text == "")
      #expect(try run(["ls", notebook]).text == "A.txt\n", "\(lie.name)")
      removeTree(hub)
      removeTree(clone)
      try #require(try run(["cp", "-a", honest, hub]).isSuccess)
    }
    #expect(try run(["git", "-C", folder["notes"], "fsck", "--strict"]).isSuccess)
    try ada.folder.write("three\n", to: "notes/A.txt")
    try meet(ada)
    #expect(try git("-C", hub, "show", "main:A.txt") == "three")
  }
}
