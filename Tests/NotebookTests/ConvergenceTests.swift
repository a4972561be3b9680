import FoundationEssentials
import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook

@Suite("Devices that exchange heads in any order")
struct ConvergenceTests {
  /// Design, promises 1, 2 and 4: no line is lost, equal heads mean an equal tip byte for byte, and a
  /// conflict stops nobody.
  @Test(
    "random edits, deletions and renames on four devices end on one tip with every line in history")
  func crowd() throws {
    var random = SplitMix64.reported(for: "ConvergenceTests.crowd")
    for _ in 0..<3 { try play(rounds: 25, &random) }
  }

  private func play(rounds: Int, _ random: inout SplitMix64) throws {
    let first = try Fixture(device: "D0")
    for name in ["a.txt", "b.txt", "c.txt"] {
      try first.write(name, (0..<6).map { "\(name) line \($0)\n" }.joined())
    }
    _ = try first.notebook.save()
    var devices = [first]
    for number in 1..<4 { devices.append(try first.clone(device: "D\(number)")) }
    var written: Set<String> = []
    for round in 0..<rounds {
      let device = devices.randomElement(using: &random) ?? first
      device.seconds.now += Int64.random(in: 0..<120, using: &random)
      try edit(device, line: "round \(round)", written: &written, &random)
      if Bool.random(using: &random) { _ = try device.notebook.save() }
      let other = devices.randomElement(using: &random) ?? first
      if other !== device { try device.receive(from: other) }
    }
    // Two rounds of everybody with everybody: after the first each has heard of all.
    for _ in 0..<2 {
      for device in devices {
        for other in devices where other !== device { try device.receive(from: other) }
      }
    }
    let tip = try first.notebook.state().tip
    let files = try content(of: first)
    for device in devices {
      #expect(try device.notebook.state().tip == tip)
      #expect(try content(of: device) == files)
      #expect(try device.notebook.save().version == nil)
      let joined = try device.receive(from: devices[0])
      #expect(joined.changes.isEmpty && joined.tip == tip)
    }
    let history = try allText(in: first)
    for line in written { #expect(history.contains(line), "lost: \(line)") }
    for (name, text) in files {
      // Markers never nest: between an opening and its closing there is no other opening.
      var depth = 0
      for line in text.split(separator: "\n") {
        if line.hasPrefix("<<<<<<< ") { depth += 1 }
        #expect(depth <= 1, "nested markers in \(name)")
        if line.hasPrefix(">>>>>>> ") { depth -= 1 }
      }
    }
  }

  private func edit(
    _ device: Fixture, line: String, written: inout Set<String>, _ random: inout SplitMix64
  ) throws {
    let names = try device.notebook.history.files().compactMap(\.path.utf8String)
    guard let name = names.randomElement(using: &random), let text = try device.read(name) else {
      return try device.write("\(line).txt", "\(line)\n")
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try device.remove(name)
    case 1:
      try device.remove(name)
      try device.write("renamed \(line).txt", text)
    case 2:
      try device.write("new \(line).txt", "new \(line)\n")
      written.insert("new \(line)")
    default:
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let place = Int.random(in: 0..<max(lines.count, 1), using: &random)
      if Bool.random(using: &random), place < lines.count {
        lines[place] = "\(line) of \(name)"
      } else {
        lines.insert("\(line) of \(name)", at: place)
      }
      try device.write(name, lines.joined(separator: "\n"))
      written.insert("\(line) of \(name)")
    }
    // What was written must have been looked at, or the next edit may overwrite it unseen.
    _ = try device.notebook.save()
  }

  private func content(of device: Fixture) throws -> [String: String] {
    var found: [String: String] = [:]
    for file in try device.notebook.history.files() {
      let name = file.path.description
      found[name] = try device.read(name)
    }
    return found
  }

  private func allText(in device: Fixture) throws -> String {
    let repository = device.notebook.repository
    let tip = try #require(try device.notebook.state().tip)
    var seen: Set<ObjectID> = []
    var text = ""
    for id in try repository.commits(from: [tip]) {
      for file in try repository.files(in: repository.commit(id).tree)
      where seen.insert(file.entry.id).inserted {
        text += String(decoding: try repository.blob(file.entry.id), as: UTF8.self) + "\n"
      }
    }
    return text
  }
}
