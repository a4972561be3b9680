import Channel
import Git
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// A peer with a valid certificate that says anything. Whatever it says, the service goes on, takes
/// nothing that breaks a rule of notes-protocol(7), and what it takes another device takes as well.
@Suite("A peer that says anything", .timeLimit(.minutes(90)))
struct RandomPeerTests {
  /// Seconds that it is played for; scripts/hostile says an hour.
  static let seconds = TestEnvironment.variable("NOTES_FUZZ_SECONDS").flatMap { Double($0) }

  @Test("random messages and histories leave the service sound, and members in step")
  func anything() throws {
    let random = SplitMix64.reported(for: "RandomPeerTests.anything")
    let world = try HostileWorld()
    var player = try RandomPeer(world: world, random: random)
    let end = TestSupport.Moment.now + (Self.seconds ?? 0)
    var (rounds, taken, refused) = (0, 0, 0)
    while Self.seconds == nil ? rounds < 60 : TestSupport.Moment.now < end {
      try player.play()
      rounds += 1
      if rounds.isMultiple(of: 30) { try player.expectSound(after: rounds) }
      // Otherwise the notebook grows without end, and each session takes longer than the one before.
      if rounds.isMultiple(of: 400) {
        (taken, refused) = (taken + player.taken, refused + player.refused)
        player = try RandomPeer(world: HostileWorld(), random: player.random)
      }
    }
    try player.expectSound(after: rounds)
    (taken, refused) = (taken + player.taken, refused + player.refused)
    print("a peer that says anything: \(rounds) sessions, \(taken) packs taken, \(refused) refused")
    #expect(rounds < 60 || taken > 0 && refused > 0)
  }
}

/// Bob, at random.
private struct RandomPeer {
  let world: HostileWorld
  var random: SplitMix64
  private(set) var (taken, refused) = (0, 0)
  private var known: [ObjectID] = []

  init(world: HostileWorld, random: SplitMix64) throws {
    (self.world, self.random) = (world, random)
    known = [try #require(try world.ada.tip())]
  }

  mutating func play() throws {
    let part = SplitMix64(seed: random.next())
    if Int.random(in: 0..<3, using: &random) == 0 {
      var messages = RandomMessages(random: part, device: world.bob)
      let ids = known
      try world.play { script in
        if messages.below(3) > 0 { try script.greet(heads: []) { $0.once = true } }
        for frame in try messages.frames(knowing: ids, from: script) {
          try script.stream.send(frame)
        }
        // Nothing more will come: so the service need not wait for it.
        script.stream.close(.done)
      }
    } else {
      try offer(with: part)
    }
    #expect(world.isServing)
  }

  private mutating func offer(with part: SplitMix64) throws {
    var history = RandomHistory(random: part, known: known)
    let offer = try history.offer()
    try world.play { script in
      try script.greet(heads: offer.heads) { $0.once = true }
      try script.offer(offer.bytes, heads: offer.heads, objects: offer.objects)
      while try script.stream.receive().type != .applied {}
      script.stream.close(.done)
    }
    let repository = try world.ada.notebook().repository
    let isHere = try repository.contains(offer.heads[0])
    if let rule = offer.broken {
      #expect(!isHere, "a pack was taken that breaks a rule: \(rule)")
    } else if !isHere {
      Issue.record("a pack that keeps the rules was refused: \(world.latestRefusal())")
    }
    (taken, refused) = isHere ? (taken + 1, refused) : (taken, refused + 1)
    if isHere { known += offer.commits }
    known = Array(known.suffix(40))
  }

  /// What was taken keeps git's rules and ours, and other devices take it.
  func expectSound(after rounds: Int) throws {
    _ = try world.serveCarol()
    try world.synchronise(world.carol)
    #expect(try world.carol.tip() == world.ada.tip(), "after \(rounds) sessions")
    let new = try Device("Dora", certifiedBy: world.ada)
    try world.synchronise(new)
    #expect(try new.tip() == world.ada.tip(), "after \(rounds) sessions")
    for device in [world.ada, new] {
      let check = try run(["git", "fsck", "--strict", "--no-dangling"], in: device.notes)
      #expect(check.isSuccess, "after \(rounds) sessions: \(check)")
    }
    #expect(try world.quarantined().isEmpty)
    let files = try run(["git", "ls-files", "-s", "-z"], in: world.ada.notes)
    for entry in files.output.split(separator: 0) {
      let text = String(decoding: entry, as: UTF8.self)
      #expect(text.hasPrefix("100644 ") || text.hasPrefix("100755 "), "\(text)")
      let name = text.drop { $0 != "\t" }.dropFirst()
      #expect(!name.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }
}
