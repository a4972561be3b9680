import Git
import History
import Notebook
import TestSupport

/// What must hold once all is quiet.
extension CrowdWorld {
  /// Lets everybody meet until all is known everywhere, and checks what must hold then.
  ///
  /// - Returns: how many rounds it took.
  func settle() throws -> Int {
    network.calm()
    for device in devices { try save(device) }
    var rounds = 0
    while Set(try devices.map { try $0.notebook.state().tip }).count > 1 {
      guard rounds <= mostRounds else {
        throw Violation(description: "not settled after \(rounds) rounds of \(mostRounds)")
      }
      try round()
      rounds += 1
    }
    try checkHistory()
    try checkFiles()
    try checkQuiet()
    return rounds
  }

  /// In how many rounds all is known everywhere. What leads a hub's branch forward is news of its own, which
  /// has the whole way before it when the last of the other news has come to the hub.
  var mostRounds: Int { (hub == nil ? 1 : 2) * network.diameter }

  /// Everybody tells each neighbour what it knew when the round began.
  private func round() throws {
    let known = try devices.map { try $0.notebook.state().heads }
    for (one, other) in network.links.flatMap({ [($0.0, $0.1), ($0.1, $0.0)] }) {
      let device = devices[one]
      try device.receive(known[other], from: devices[other], by: transfer)
      try check(device)
      count("deliveries")
    }
    for member in hub?.members ?? [] { try meet(devices[member]) }
  }

  /// Nothing grows when there is nothing new: another round, with joins that know better, and a save
  /// leave every tip where it is.
  private func checkQuiet() throws {
    let tip = try devices[0].notebook.state().tip
    try hub?.check(holds: tip)
    let moves = hub?.counts
    try round()
    guard hub?.counts == moves else {
      throw Violation(description: "the hub's branch was moved while all was quiet")
    }
    for device in devices {
      let heads = try devices[0].notebook.state().heads
      _ = try device.notebook.merge(heads)
      guard try device.notebook.save().version == nil, try device.notebook.state().tip == tip else {
        throw Violation(description: "device \(device.number) moved while all was quiet")
      }
    }
  }

  /// Every byte ever saved is in the history of the tip, and all of that history is really there on
  /// every device.
  private func checkHistory() throws {
    let repository = devices[0].notebook.repository
    guard let tip = try repository.head().commit else { throw Violation(description: "no tip") }
    var reachable: Set<ObjectID> = []
    for id in try repository.commits(from: [tip]) {
      reachable.insert(id)
      try collect(repository.commit(id).tree, in: repository, into: &reachable)
    }
    for id in saved where !reachable.contains(id) {
      let text = String(decoding: try repository.blob(id), as: UTF8.self)
      throw Violation(description: "lost: \(id): \(text.debugDescription)")
    }
    // The tips are the same, and with them what they lead to.
    for device in devices {
      let repository = try Repository.open(at: device.folder)
      for id in reachable where try !repository.contains(id) {
        throw Violation(description: "device \(device.number) lacks \(id)")
      }
    }
  }

  private func collect(
    _ tree: ObjectID, in repository: Repository, into found: inout Set<ObjectID>
  ) throws {
    guard found.insert(tree).inserted else { return }
    for entry in try repository.tree(tree).entries {
      if entry.mode == .tree {
        try collect(entry.id, in: repository, into: &found)
      } else {
        found.insert(entry.id)
      }
    }
  }

  /// The same files everywhere, and no nested markers in them.
  private func checkFiles() throws {
    let files = try devices[0].files()
    for device in devices {
      guard try device.files() == files else {
        throw Violation(description: "device \(device.number) has other files than device 0")
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
