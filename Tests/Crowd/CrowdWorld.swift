import Git
import Glibc
import TestSupport

@testable import Notebook

/// A crowd of devices with a network between them that loses, repeats, reorders and parts.
///
/// A step is one event on one device: an edit of a file, a save, the arrival of another device's
/// heads, or a crash in the middle of a checkout. Messages that are lost, partitions and clocks are
/// not counted.
final class CrowdWorld {
  private(set) var steps = 0
  private(set) var counts: [String: Int] = [:]

  private var random: SplitMix64
  private let devices: [CrowdDevice]
  private let links: [(Int, Int)]
  private var partition: [Int]
  private var messages: [Message] = []
  /// Everything that somebody had written into a file when a save looked. What a derived merge wrote
  /// there is not: it follows from its heads, and goes when there is a new one.
  private var saved: Set<ObjectID> = []
  /// What each set of heads came to, wherever it was seen first.
  private var tips: [[ObjectID]: ObjectID] = [:]

  private struct Message {
    var from: Int
    var to: Int
    var heads: [ObjectID]
  }

  struct Violation: Error, CustomStringConvertible { let description: String }

  init(size: Int, folder: String, random: SplitMix64) throws {
    self.random = random
    var devices = [try CrowdDevice(first: folder + "/0", random: &self.random)]
    for number in 1..<size {
      devices.append(
        try CrowdDevice(
          number: number, copyOf: devices[0], at: "\(folder)/\(number)", random: &self.random))
    }
    self.devices = devices
    links = Self.network(of: size, &self.random)
    partition = [Int](repeating: 0, count: size)
  }

  /// A connected network: a line, a ring, a star or a tree with some more links.
  private static func network(of size: Int, _ random: inout SplitMix64) -> [(Int, Int)] {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return (1..<size).map { ($0 - 1, $0) }
    case 1: return (0..<size).map { ($0, ($0 + 1) % size) }.filter { $0.0 != $0.1 }
    case 2: return (1..<size).map { (0, $0) }
    default:
      var links = (1..<size).map { (Int.random(in: 0..<$0, using: &random), $0) }
      for _ in 0..<(size / 4) {
        let (one, other) = (
          Int.random(in: 0..<size, using: &random), Int.random(in: 0..<size, using: &random)
        )
        if one != other { links.append((one, other)) }
      }
      return links
    }
  }

  // MARK: Steps

  /// Plays events until that many steps have been made.
  func play(_ count: Int) throws {
    while steps < count {
      let device = devices[Int.random(in: 0..<devices.count, using: &random)]
      device.tick(&random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0: partition = devices.map { _ in Int.random(in: 0..<3, using: &random) }
      case 1: partition = [Int](repeating: 0, count: devices.count)
      case 2..<36: try edit(device)
      case 36..<48: try save(device)
      case 48..<70: try send(from: device)
      case 70..<97: try deliver()
      default: try crash(device)
      }
    }
  }

  private func count(_ kind: String) {
    steps += 1
    counts[kind, default: 0] += 1
  }

  private func edit(_ device: CrowdDevice) throws {
    try device.edit("t\(steps)", &random)
    count("edits")
  }

  private func save(_ device: CrowdDevice) throws {
    let before = try written(in: device)
    _ = try device.notebook.save(allowsMassDeletion: true)
    try check(device, saved: before)
    count("saves")
  }

  /// Sends a device's heads along its links; some messages get lost, some arrive twice.
  private func send(from device: CrowdDevice) throws {
    let heads = try device.notebook.state().heads
    for (one, other) in links where one == device.number || other == device.number {
      let message = Message(
        from: device.number, to: one == device.number ? other : one, heads: heads)
      let fate = Int.random(in: 0..<10, using: &random)
      if fate > 1 { messages.append(message) }
      if fate > 8 { messages.append(message) }
    }
    if messages.count > 8 * devices.count { messages.removeFirst(messages.count / 2) }
  }

  /// Hands any waiting message over, in whatever order.
  private func deliver() throws {
    guard !messages.isEmpty else { return }
    let message = messages.remove(at: Int.random(in: 0..<messages.count, using: &random))
    guard partition[message.from] == partition[message.to] else { return }
    let device = devices[message.to]
    try device.fetch(message.heads, from: devices[message.from])
    let before = try written(in: device)
    // Some people save while the files are being exchanged.
    if Int.random(in: 0..<6, using: &random) == 0 {
      try device.notebook.withWriterLock {
        _ = try device.notebook.saveLocked(allowsMassDeletion: true)
        try edit(device)
        let meanwhile = try written(in: device)
        _ = try device.notebook.joinLocked(
          message.heads, options: JoinOptions(allowsMassDeletion: true))
        // What the save has not seen and the checkout has not touched is still to be saved.
        let after = try device.files()
        try note(meanwhile.filter { after[$0.key] != $0.value }, in: device)
      }
      counts["edits amid a checkout", default: 0] += 1
    } else {
      _ = try device.notebook.save(allowsMassDeletion: true)
      _ = try device.notebook.join(message.heads, options: JoinOptions(allowsMassDeletion: true))
    }
    try check(device, saved: before)
    count("deliveries")
  }

  /// Takes a message in, and dies after some of the checkout's steps. Somebody may edit before the
  /// next command, which a new process runs.
  private func crash(_ device: CrowdDevice) throws {
    guard
      let place = messages.firstIndex(where: {
        $0.to == device.number && partition[$0.from] == partition[$0.to]
      })
    else { return }
    let message = messages.remove(at: place)
    try device.fetch(message.heads, from: devices[message.from])
    let notebook = device.notebook
    // The tips that the folder lies between.
    var between: [ObjectID?] = []
    try notebook.withWriterLock {
      let before = try written(in: device)
      _ = try notebook.saveLocked(allowsMassDeletion: true)
      try note(before, in: device)
      let head = try notebook.repository.head()
      let heads = try DerivedMerge.reduce(
        (head.commit.map { [$0] } ?? []) + message.heads, in: notebook.repository)
      let tip = try DerivedMerge.tip(of: heads, in: notebook.repository).id
      guard tip != head.commit else { return }
      between = [head.commit, tip]
      let journal = CheckoutJournal(from: head.commit, to: tip)
      let plan = try journal.plan(in: notebook.repository)
      let checkout = try Checkout(notebook: notebook, plan: plan, journal: journal)
      try checkout.stage()
      try journal.store(in: notebook.stateFolder)
      if Bool.random(using: &random) { try notebook.move(head, to: tip, operation: .checkout) }
      var part = try Checkout(
        notebook: notebook,
        plan: plan.prefix(Int.random(in: 0...plan.steps.count, using: &random)), journal: journal)
      try part.run()
    }
    try device.restart()
    if Bool.random(using: &random) { try edit(device) }
    let left = try written(in: device, besides: between)
    _ = try device.notebook.save(allowsMassDeletion: true)
    try check(device, saved: left)
    count("crashes")
  }

  // MARK: Checks

  /// What stands in the folder and was not brought there by a checkout.
  private func written(
    in device: CrowdDevice, besides others: [ObjectID?] = []
  ) throws -> [String: [UInt8]] {
    let repository = device.notebook.repository
    var brought: Set<ObjectID> = []
    for commit in ([try repository.head().commit] + others).compactMap({ $0 }) {
      for file in try repository.files(in: repository.commit(commit).tree) {
        brought.insert(file.entry.id)
      }
    }
    return try device.files().filter { !brought.contains(try repository.hash(blob: $0.value)) }
  }

  private func note(_ files: [String: [UInt8]], in device: CrowdDevice) throws {
    for (_, bytes) in files { saved.insert(try device.notebook.repository.hash(blob: bytes)) }
  }

  /// "Devices that know the same set of heads have the same tip commit ID, byte for byte."
  private func check(_ device: CrowdDevice, saved files: [String: [UInt8]]) throws {
    try note(files, in: device)
    let state = try device.notebook.state()
    guard let tip = state.tip else { throw Violation(description: "no tip") }
    if let known = tips[state.heads], known != tip {
      throw Violation(description: "heads \(state.heads) came to \(known) and to \(tip)")
    }
    tips[state.heads] = tip
  }

  /// Lets everybody meet until all is known everywhere, and checks what must hold then.
  ///
  /// - Returns: how many rounds it took, and the network's diameter.
  func settle() throws -> (rounds: Int, diameter: Int) {
    messages = []
    for device in devices { try save(device) }
    let diameter = self.diameter()
    var rounds = 0
    while Set(try devices.map { try $0.notebook.state().tip }).count > 1 {
      guard rounds <= diameter else {
        throw Violation(description: "not settled after \(rounds) rounds, diameter \(diameter)")
      }
      try round()
      rounds += 1
    }
    try checkSettled()
    // Nothing grows when there is nothing new.
    let tip = try devices[0].notebook.state().tip
    try round()
    for device in devices {
      guard try device.notebook.save().version == nil, try device.notebook.state().tip == tip else {
        throw Violation(description: "device \(device.number) moved while all was quiet")
      }
    }
    return (rounds, diameter)
  }

  /// Everybody tells each neighbour what it knew when the round began.
  private func round() throws {
    let known = try devices.map { try $0.notebook.state().heads }
    for (one, other) in links.flatMap({ [($0.0, $0.1), ($0.1, $0.0)] }) {
      try devices[one].fetch(known[other], from: devices[other])
      _ = try devices[one].notebook.join(
        known[other], options: JoinOptions(allowsMassDeletion: true))
      try check(devices[one], saved: [:])
      count("deliveries")
    }
  }

  private func diameter() -> Int {
    var neighbours = [[Int]](repeating: [], count: devices.count)
    for (one, other) in links {
      neighbours[one].append(other)
      neighbours[other].append(one)
    }
    return devices.indices.map { start in
      var distance = [start: 0]
      var waiting = [start]
      while !waiting.isEmpty {
        let device = waiting.removeFirst()
        for next in neighbours[device] where distance[next] == nil {
          distance[next] = (distance[device] ?? 0) + 1
          waiting.append(next)
        }
      }
      return distance.values.max() ?? 0
    }.max() ?? 0
  }

  /// The same files everywhere, every byte ever saved in everybody's history, no nested markers.
  private func checkSettled() throws {
    let files = try devices[0].files()
    for device in devices {
      guard try device.files() == files else {
        throw Violation(description: "device \(device.number) has other files than device 0")
      }
      let repository = device.notebook.repository
      guard let tip = try repository.head().commit else { throw Violation(description: "no tip") }
      // The tips are the same, and with them their histories; that all of it is really there is
      // looked up everywhere.
      if device.number > 0 {
        for id in saved where try !repository.contains(id) {
          throw Violation(description: "device \(device.number) lacks \(id)")
        }
        continue
      }
      var reachable: Set<ObjectID> = []
      for id in try repository.walk(from: [tip]).all() {
        for file in try repository.files(in: repository.commit(id).tree) {
          reachable.insert(file.entry.id)
        }
      }
      for id in saved where !reachable.contains(id) {
        let text = String(decoding: try repository.blob(id), as: UTF8.self)
        throw Violation(description: "lost: \(id): \(text.debugDescription)")
      }
    }
    for (name, bytes) in files {
      var depth = 0
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        if line.starts(with: "<<<<<<<".utf8) { depth += 1 }
        if depth > 1 {
          let text = String(decoding: bytes, as: UTF8.self)
          throw Violation(description: "nested markers in \(name):\n\(text)")
        }
        if line.starts(with: ">>>>>>>".utf8) { depth -= 1 }
      }
    }
  }
}
