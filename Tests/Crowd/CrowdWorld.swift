internal import Git
internal import History
internal import Merge
internal import Notebook
internal import TestSupport
internal import WorkTree

/// A crowd of devices with a network between them.
///
/// A step is one event on one device: an edit of a file, a save, the arrival of another device's
/// heads, a crash, or housekeeping by another process. What only happens to messages is no step.
final class CrowdWorld {
  private(set) var steps = 0
  private(set) var counts: [String: Int] = [:]
  var random: SplitMix64
  let devices: [CrowdDevice]
  var network: CrowdNetwork
  /// Where some devices meet, in some worlds.
  let hub: CrowdHub?
  /// How objects travel in this world.
  let transfer: CrowdTransfer
  /// Everything that somebody had written into a file when a save looked. What a derived merge wrote
  /// there is not: it follows from its heads, and goes when there is a new one.
  var saved: Set<ObjectID> = []
  /// What each set of heads came to, wherever it was seen first.
  private var tips: [[ObjectID]: ObjectID] = [:]

  struct Violation: Error, CustomStringConvertible { let description: String }

  init(
    size: Int, folder: String, transfer: CrowdTransfer, sharesHub: Bool, random: SplitMix64
  ) throws {
    self.random = random
    self.transfer = transfer
    var devices = [try CrowdDevice(first: folder + "/0", random: &self.random)]
    for number in 1..<size {
      devices.append(
        try CrowdDevice(
          number: number, joining: devices[0], at: "\(folder)/\(number)", random: &self.random))
    }
    self.devices = devices
    network =
      sharesHub
      ? CrowdNetwork(sharingHub: size, random: &self.random)
      : CrowdNetwork(size: size, random: &self.random)
    let members = network.hubMembers
    hub = sharesHub ? try CrowdHub(in: folder, for: members) : nil
  }

  /// Plays events until that many steps have been made.
  func play(_ count: Int) throws {
    while steps < count {
      let device = devices[Int.random(in: 0..<devices.count, using: &random)]
      device.tick(&random)
      switch Int.random(in: 0..<200, using: &random) {
      case 0, 1: network.part(&random)
      case 2, 3: network.heal()
      case 4: try tidy(device)
      case 5..<72: try edit(device)
      case 72..<96: try save(device)
      case 96..<118 where hub?.members.contains(device.number) == true: try visit(device)
      case 96..<140:
        network.send(try device.notebook.state().heads, from: device.number, &random)
      case 140..<194:
        if let message = network.deliver(&random) { try deliver(message) }
      default: if let message = network.deliver(&random) { try crash(message) }
      }
    }
  }

  func count(_ kind: String) {
    steps += 1
    counts[kind, default: 0] += 1
  }

  func edit(_ device: CrowdDevice) throws {
    try device.edit("t\(steps)", &random)
    count("edits")
  }

  private func tidy(_ device: CrowdDevice) throws {
    try device.tidy(all: Bool.random(using: &random))
    count("tidyings")
  }

  func save(_ device: CrowdDevice) throws {
    try willSave(device)
    _ = try device.notebook.save(allowsMassDeletion: true)
    try check(device)
    count("saves")
  }

  /// Visits the hub. Others may be faster, whose visits lie between this one's look at the branch and its
  /// push.
  private func visit(_ device: CrowdDevice) throws {
    let others = hub?.members.filter { $0 != device.number }.map { devices[$0] } ?? []
    let isRaced = Int.random(in: 0..<3, using: &random) == 0
    try meet(device) { [self] in
      guard isRaced, let other = others.randomElement(using: &random) else { return }
      hub?.countRace()
      try edit(other)
      try meet(other)
    }
    // A service lives on, a command ends.
    if Bool.random(using: &random) { try device.restart() }
  }

  /// Saves, and visits the hub.
  func meet(_ device: CrowdDevice, meanwhile: @escaping () throws -> Void = {}) throws {
    try willSave(device)
    _ = try device.notebook.save(allowsMassDeletion: true)
    try hub?.visit(for: device, meanwhile: meanwhile)
    try check(device)
    count("hub visits")
  }

  /// Takes in what another device knows, as the receiving half of a sync does.
  private func deliver(_ message: CrowdNetwork.Message) throws {
    let (device, other) = (devices[message.to], devices[message.from])
    try willSave(device)
    // Some people save while the files are being exchanged.
    if Int.random(in: 0..<6, using: &random) == 0 {
      try device.fetch(message.heads, from: other, by: transfer)
      try device.notebook.withWriterLock { transaction in
        _ = try transaction.save(allowsMassDeletion: true)
        try edit(device)
        let meanwhile = try unsaved(in: device)
        _ = try transaction.merge(
          message.heads, options: MergeOptions(allowsMassDeletion: true))
        // What the save has not seen and the checkout has not touched is still to be saved.
        let after = try device.files()
        let found = meanwhile.filter { after[$0.key] != $0.value }
        try note(found, in: device)
        device.touched.subtract(found.keys)
      }
      counts["edits amid a checkout", default: 0] += 1
    } else {
      _ = try device.notebook.save(allowsMassDeletion: true)
      try device.receive(message.heads, from: other, by: transfer)
    }
    try check(device)
    count("deliveries")
  }

  /// Takes a message in, and dies on the way. Somebody may edit before the next command, which a new
  /// process runs.
  private func crash(_ message: CrowdNetwork.Message) throws {
    let device = devices[message.to]
    try device.fetch(message.heads, from: devices[message.from], by: transfer)
    let between = try dieInCheckout(of: message.heads, at: device)
    try device.restart()
    if Bool.random(using: &random) { try edit(device) }
    try willSave(device, besides: between)
    _ = try device.notebook.save(allowsMassDeletion: true)
    try check(device)
    count("crashes")
  }

  /// Returns the tips that the folder lies between then.
  private func dieInCheckout(of heads: [ObjectID], at device: CrowdDevice) throws -> [ObjectID] {
    let notebook = device.notebook
    return try notebook.withWriterLock { transaction in
      try willSave(device)
      _ = try transaction.save(allowsMassDeletion: true)
      let head = try notebook.repository.head()
      let tip = try DerivedMerge.tip(
        of: (head.commit.map { [$0] } ?? []) + heads, in: notebook.repository
      ).id
      guard tip != head.commit, Int.random(in: 0..<8, using: &random) > 0 else { return [] }
      let journal = CheckoutJournal(from: head.commit, to: tip)
      let plan = try journal.plan(in: notebook.repository)
      let checkout = try Checkout(in: notebook.workTree, plan: plan, journal: journal)
      try checkout.stage()
      guard Int.random(in: 0..<8, using: &random) > 0 else { return [] }
      if Bool.random(using: &random) {
        try transaction.writer.move(head, to: tip, operation: .checkout)
      }
      var part = try Checkout(
        in: notebook.workTree,
        plan: plan.prefix(Int.random(in: 0...plan.steps.count, using: &random)), journal: journal)
      try part.run()
      return [head.commit, tip].compactMap { $0 }
    }
  }

  // MARK: Writing

  /// Notes what somebody has written, as a save is about to look.
  private func willSave(_ device: CrowdDevice, besides others: [ObjectID] = []) throws {
    try note(unsaved(in: device, besides: others), in: device)
    device.touched = []
  }

  /// What somebody has written into files that differ from the tip, and from those versions.
  private func unsaved(
    in device: CrowdDevice, besides others: [ObjectID] = []
  ) throws -> [String: [UInt8]] {
    let found = try device.unsaved()
    if found.isEmpty { return [:] }
    let repository = device.notebook.repository
    let trees = try ([try repository.head().commit] + others).compactMap { $0 }.map {
      try repository.commit($0).tree
    }
    return try found.filter { name, bytes in
      let id = try repository.hash(blob: bytes)
      return try !trees.contains { try repository.entry(at: TreePath(name), in: $0)?.id == id }
    }
  }

  private func note(_ files: [String: [UInt8]], in device: CrowdDevice) throws {
    for bytes in files.values { saved.insert(try device.notebook.repository.hash(blob: bytes)) }
  }

  /// "Devices that know the same set of heads have the same tip commit ID, byte for byte."
  func check(_ device: CrowdDevice) throws {
    let state = try device.notebook.state()
    guard let tip = state.tip else { throw Violation(description: "no tip") }
    if let known = tips[state.heads], known != tip {
      throw Violation(description: "heads \(state.heads) came to \(known) and to \(tip)")
    }
    tips[state.heads] = tip
  }
}
