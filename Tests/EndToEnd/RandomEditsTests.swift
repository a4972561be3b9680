import TestSupport
import Testing

/// Promise 1, no lost write, and promise 2, convergence: both folders are edited at random between
/// syncs, and every line that was ever saved is in the history of both devices.
@Suite struct RandomEditsTests {
  static let rounds = 10
  static let editsPerRound = 5

  @Test func loseNothing() throws {
    var random = SplitMix64.reported()
    let lab = try Lab(hosts: 2)
    let alice = try Device("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    var written: Set<String> = []
    for number in 0..<20 {
      let lines = (0..<Int.random(in: 1...30, using: &random)).map { "Note \(number), line \($0)" }
      written.formUnion(lines)
      try alice.write("Note \(number).txt", lines + [""])
    }
    try alice.succeed(
      ["init", alice.folder, "--name", "Home", "--device-name", "alice"], in: alice.host.home)
    try pair(alice, bob)
    let service = try alice.start(["serve", "--json"])
    _ = try service.line { $0.contains("listening") }

    for round in 0..<Self.rounds {
      for edit in 0..<Self.editsPerRound {
        for device in [alice, bob] {
          let line = "\(device.name) \(round).\(edit) \(random.next() % 1_000_000)"
          try change(device, line, &random)
          written.insert(line)
          // The last edit of a round is left to the sync.
          if edit < Self.editsPerRound - 1 { try device.succeed(["save"]) }
        }
      }
      // The service shows what stands in its folder when a peer comes.
      let result = try bob.notes(["sync"])
      try #require([.exited(0), .exited(3)].contains(result.status), "\(result)")
      try expectEqual(alice, bob)
    }
    for device in [alice, bob] {
      try device.checkGit()
      let history = try everyLine(in: device)
      let lost = written.subtracting(history)
      #expect(lost.isEmpty, "lost on \(device.name): \(lost.sorted())")
    }
    try service.terminate()
  }

  /// One edit that writes `line`: a new note, or a line added to, put in place of another in, or
  /// taken from a note. What is overwritten has been saved before.
  private func change(
    _ device: Device, _ line: String, _ random: inout SplitMix64
  ) throws {
    let notes = try run(["find", ".", "-name", "*.txt", "-printf", "%P\\n"], in: device.folder)
      .lines.sorted()
    let note = try #require(notes.randomElement(using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try device.write("Note of \(line).txt", [line, ""])
    case 1 where notes.count > 15:
      try run(["rm", "\(device.folder)/\(note)"]).expectSuccess()
      try device.write("Instead of it \(line).txt", [line, ""])
    case 2:
      try run(["mv", note, "\(line).txt"], in: device.folder).expectSuccess()
      try device.edit("\(line).txt") { $0.insert(line, at: 0) }
    case 3, 4, 5:
      try device.edit(note) { $0[Int.random(in: 0..<$0.count, using: &random)] = line }
    case 6, 7: try device.edit(note) { $0.insert(line, at: max(0, $0.count - 1)) }
    default:
      try device.edit(note) { lines in
        lines.remove(at: Int.random(in: 0..<lines.count, using: &random))
        lines.insert(line, at: Int.random(in: 0...lines.count, using: &random))
      }
    }
  }

  /// Every line of every version that can be reached from the tip.
  private func everyLine(in device: Device) throws -> Set<String> {
    let all = try device.host.run(
      [
        "sh", "-c",
        "git rev-list --objects HEAD | cut -d' ' -f1 | git cat-file --batch='%(objecttype)'",
      ], in: device.folder)
    return Set(all.text.split(separator: "\n").map(String.init))
  }
}
