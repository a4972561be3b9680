import Git
import TestSupport

/// What lies between the devices: links, and messages under way that get lost, arrive twice, late, in
/// any order, or not at all while the network is in parts.
struct CrowdNetwork {
  /// A device's heads on their way to another one.
  struct Message {
    var from: Int
    var to: Int
    var heads: [ObjectID]
  }

  /// Pairs of devices that can talk.
  let links: [(Int, Int)]
  /// The longest of the shortest ways between two devices, in links; the way to a hub is one, too.
  let diameter: Int
  /// The devices that know the hub, where there is one.
  let hubMembers: [Int]
  private(set) var messages: [Message] = []
  /// What happened to messages, for the record.
  private(set) var counts: [String: Int] = [:]
  /// The part each device is in.
  private var parts: [Int]

  /// A connected network: a line, a ring, a star, or a tree with some more links. Large ones are
  /// stars and trees: to settle, a line of 64 takes 8,000 exchanges.
  init(size: Int, random: inout SplitMix64) {
    parts = [Int](repeating: 0, count: size)
    hubMembers = []
    switch Int.random(in: (size > 20 ? 2 : 0)..<5, using: &random) {
    case 0: links = (1..<size).map { ($0 - 1, $0) }
    case 1: links = (0..<size).map { ($0, ($0 + 1) % size) }.filter { $0.0 != $0.1 }
    case 2: links = (1..<size).map { (0, $0) }
    default:
      var tree = (1..<size).map { (Int.random(in: 0..<$0, using: &random), $0) }
      for _ in 0..<(size / 4) {
        let (one, other) = (
          Int.random(in: 0..<size, using: &random), Int.random(in: 0..<size, using: &random)
        )
        if one != other { tree.append((one, other)) }
      }
      links = tree
    }
    diameter = Self.diameter(of: links, size: size)
  }

  /// Networks in two or three places, lines or stars or a device alone, that share nothing but a hub, which
  /// one or more devices of each know.
  init(sharingHub size: Int, random: inout SplitMix64) {
    parts = [Int](repeating: 0, count: size)
    let places = Int.random(in: 2...min(3, size), using: &random)
    let starts = (0..<places).map { $0 * size / places } + [size]
    var (links, members) = ([(Int, Int)](), [Int]())
    for (start, end) in zip(starts, starts.dropFirst()) {
      let isLine = Bool.random(using: &random)
      links += (start..<end).dropFirst().map { (isLine ? $0 - 1 : start, $0) }
      let known = Int.random(in: start..<end, using: &random)
      members += (start..<end).filter { $0 == known || Int.random(in: 0..<3, using: &random) == 0 }
    }
    (self.links, hubMembers) = (links, members)
    diameter = Self.diameter(of: links + members.map { ($0, size) }, size: size + 1)
  }

  private static func diameter(of links: [(Int, Int)], size: Int) -> Int {
    var neighbours = [[Int]](repeating: [], count: size)
    for (one, other) in links {
      neighbours[one].append(other)
      neighbours[other].append(one)
    }
    return (0..<size).map { start in
      var distance = [start: 0]
      var waiting = [start]
      var next = 0
      while next < waiting.count {
        let device = waiting[next]
        next += 1
        for neighbour in neighbours[device] where distance[neighbour] == nil {
          distance[neighbour] = (distance[device] ?? 0) + 1
          waiting.append(neighbour)
        }
      }
      return distance.values.max() ?? 0
    }.max() ?? 0
  }

  private mutating func count(_ kind: String) { counts[kind, default: 0] += 1 }

  /// Falls into up to three parts.
  mutating func part(_ random: inout SplitMix64) {
    for device in parts.indices { parts[device] = Int.random(in: 0..<3, using: &random) }
    count("partitions")
  }

  /// Is whole again.
  mutating func heal() { for device in parts.indices { parts[device] = 0 } }

  /// Forgets what is under way.
  mutating func calm() {
    messages = []
    heal()
  }

  /// Puts a device's heads on all its links.
  mutating func send(_ heads: [ObjectID], from device: Int, _ random: inout SplitMix64) {
    for (one, other) in links where one == device || other == device {
      let message = Message(from: device, to: one == device ? other : one, heads: heads)
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1: count("messages lost")
      case 9:
        messages += [message, message]
        count("messages repeated")
      default: messages.append(message)
      }
    }
    while messages.count > 8 * parts.count {
      messages.remove(at: Int.random(in: 0..<messages.count, using: &random))
      count("messages lost")
    }
  }

  /// Takes any message from those under way; nil when there is none, or when its way is cut, which
  /// loses it.
  mutating func deliver(_ random: inout SplitMix64) -> Message? {
    guard !messages.isEmpty else { return nil }
    // Whichever it is, the last takes its place: order means nothing here.
    messages.swapAt(Int.random(in: messages.indices, using: &random), messages.count - 1)
    let message = messages.removeLast()
    if parts[message.from] == parts[message.to] { return message }
    count("messages cut off")
    return nil
  }
}
