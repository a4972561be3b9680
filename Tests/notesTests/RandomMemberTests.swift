import Membership
import TestSupport
import Testing

/// A member that puts histories below its own versions at random: in others' names, with others' keys, by strangers,
/// with merges of its own making. They come by a hub, in a session or in a bundle. Then every command runs, and the
/// page is read. None takes more than 10 s of the processor or 200 MiB, and no name is shown that was not earned:
/// notes-security(7), "Who made a version". `scripts/hostile` plays it longer.
extension AuthorshipTests {
  /// What is known of a version that the model made.
  private struct Truth {
    /// The words that the field `signature` may have.
    let signatures: Set<String>
    /// The name, if it is shown as proved.
    var author: String?
  }

  /// A name that nobody has.
  private static let forged = "Grandma"
  /// The words that stand beside a name that nothing proves, or that is a device's word.
  private static let marks = [
    "unsigned", "wrong signature", "not a member", "removed before", "a reader", "(via bob)",
  ]
  private static let texts = [
    ["log", "--all"], ["log", "A"], ["blame", "A"], ["list"], ["status"], ["conflicts"],
    ["show", "A"], ["search", "line"], ["diff"], ["members"], ["remote"],
    ["doctor", "--no-discovery"], ["gc"],
  ]

  /// How versions travel.
  private enum Way: CaseIterable { case hub, session, bundle }

  @Test("A member at random costs no command more than 10 s, and shows no name it has not earned")
  func anyHistory() throws {
    var random = SplitMix64.reported(for: "AuthorshipTests.anyHistory")
    let seconds = TestEnvironment.variable("NOTES_FUZZ_SECONDS").flatMap { Double($0) }
    let end = TestSupport.Moment.now + (seconds ?? 0)
    let stranger = try DeviceKey.loadOrCreate(in: ada.folder["stranger"])
    var truths: [String: Truth] = [:]
    let page = try Page(of: ada)
    // Each way is gone in each run, in an order that the seed decides.
    var rounds: [Way] = []
    repeat {
      let ways = Way.allCases.filter { !rounds.suffix(2).contains($0) }
      rounds.append(try #require(ways.randomElement(using: &random)))
      let top = try push(&truths, stranger, &random)
      if Bool.random(using: &random) {
        try change("notes/A.txt", to: "ada's \(random.next())", &random)
      }
      try bring(by: rounds[rounds.count - 1])
      for words in Self.texts { try expectFrugal(words) }
      for id in [top, truths.keys.sorted().randomElement(using: &random) ?? top] {
        try expectFrugal(["show", String(id.prefix(12))])
      }
      try expectEarned(truths)
      try page.expectEarned(truths.mapValues { $0.author != nil }, Self.forged)
    } while rounds.count < Way.allCases.count || TestSupport.Moment.now < end
    print("a member at random: \(rounds.count) rounds, \(truths.count) versions")
  }

  /// Brings what is at the hub to ada's device: she fetches it, or the member does and passes it on.
  private func bring(by way: Way) throws {
    if way == .hub { return try expectFrugal(["sync", "--hub"]) }
    // What he made may conflict with what ada wrote.
    let met = try bob.notes("sync", "--hub")
    #expect([.exited(0), .exited(3)].contains(met.status), "\(met)")
    if way == .bundle {
      // A bundle is never written over another.
      let file = ada.folder["\(try git("rev-parse", "origin/main")).bundle"]
      try #require(try bob.notes("bundle", "create", file).isSuccess)
      return try expectFrugal(["bundle", "apply", file])
    }
    let (service, port) = try bob.listening("serve")
    defer { service.send(9) }
    try expectFrugal(["sync", "--no-discovery", "--at", "127.0.0.1:\(port)"])
  }

  /// Puts a line of its own in the place of one of the note's.
  private func change(_ file: String, to text: String, _ random: inout SplitMix64) throws {
    var lines = try ada.folder.text(file).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    lines[Int.random(in: 0..<lines.count, using: &random)] = text
    try ada.folder.write(lines.joined(separator: "\n"), to: file)
  }

  /// Pushes some versions to the hub, the last one signed by the member.
  private func push(
    _ truths: inout [String: Truth], _ stranger: DeviceKey, _ random: inout SplitMix64
  ) throws -> String {
    _ = try git("fetch", "-q", "origin")
    var made = [try git("rev-parse", "origin/main")]
    _ = try git("checkout", "-q", "--force", "--detach", made[0])
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let (person, key, truth) = try version(stranger, &random)
      let id = try store(person, key, after: &made, &random)
      truths[id] = truth
    }
    let top = try store(
      "\(Self.forged) <\(address(of: bob))>", key(of: bob), after: &made, &random)
    truths[top] = Truth(signatures: ["verified"], author: "bob")
    _ = try git("push", "-q", "origin", "\(top):main")
    return top
  }

  private func store(
    _ person: String, _ key: DeviceKey?, after made: inout [String], _ random: inout SplitMix64
  ) throws -> String {
    try change("clone/A.txt", to: "line \(random.next())", &random)
    _ = try git("add", "--all")
    var parents = [made[made.count - 1]]
    let other = made[Int.random(in: 0..<made.count, using: &random)]
    if other != parents[0], Bool.random(using: &random) { parents.append(other) }
    let id = try put(
      git("write-tree"), on: parents, person,
      at: "\(1_700_000_000 + Int.random(in: 0..<1_000_000, using: &random))", signedBy: key)
    made.append(id)
    return id
  }

  /// Who a version says has made it, who has signed it, and what that proves.
  private func version(
    _ stranger: DeviceKey, _ random: inout SplitMix64
  ) throws -> (person: String, DeviceKey?, Truth) {
    let (adas, bobs) = (try address(of: ada), try address(of: bob))
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return ("laptop <\(adas)>", nil, Truth(signatures: ["unsigned"]))
    case 1: return ("laptop <\(adas)>", try key(of: bob), Truth(signatures: ["wrong"]))
    case 2: return ("\(Self.forged) <\(adas)>", stranger, Truth(signatures: ["wrong"]))
    case 3:
      return (
        "\(Self.forged) <\(stranger.deviceID.lowercased())@notes.invalid>", stranger,
        Truth(signatures: ["stranger"])
      )
    case 4:
      return (
        "\(Self.forged) <g@example.org>", try key(of: bob),
        Truth(signatures: ["vouched"], author: "\(Self.forged) (via bob)")
      )
    case 5: return ("\(Self.forged) <g@example.org>", nil, Truth(signatures: ["unsigned"]))
    case 6:
      return (
        "laptop <\(bobs)>", try key(of: bob), Truth(signatures: ["verified"], author: "bob")
      )
    default:
      // What a merge is whose text nobody signed is told in other words; it proves nobody.
      return ("laptop <merge@notes.invalid>", nil, Truth(signatures: ["unsigned", "null"]))
    }
  }

  /// Runs a command with the budget. It may find conflicts, or something to tell.
  private func expectFrugal(_ words: [String]) throws {
    let (result, cost) = try runMeasured(
      [BuiltBinary.notes()] + words, in: ada.folder["notes"], environment: ada.environment)
    #expect(cost.processorSeconds <= 10 && cost.peakBytes <= 200 << 20, "\(words): \(cost)")
    #expect([.exited(0), .exited(1), .exited(3)].contains(result.status), "\(words) \(result)")
    // The labels in a note are what the versions say themselves.
    let isLabel = ["<<<<<<<", ">>>>>>>", "|||||||", "======="]
    for line in result.lines where line.contains(Self.forged) {
      if isLabel.contains(where: line.contains) { continue }
      #expect(Self.marks.contains(where: line.contains), "\(words): \(line)")
    }
  }

  private func expectEarned(_ truths: [String: Truth]) throws {
    var seen: Set<String> = []
    for line in try ada.notes("log", "--all", "--json").lines {
      guard let truth = truths[try Shell.field("id", of: line)] else { continue }
      seen.insert(try Shell.field("id", of: line))
      #expect(truth.signatures.contains(try Shell.field("signature", of: line)), "\(line)")
      if let author = truth.author {
        #expect(try Shell.field("author", of: line) == author, "\(line)")
      }
    }
    #expect(seen == Set(truths.keys))
  }
}
