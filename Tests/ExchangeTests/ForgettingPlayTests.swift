import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-forget(1): what an admin had forgotten is gone from wherever devices, hubs and bundles met, and nothing else.
@Suite(
  "Random plays of four devices, a hub and a bundle, with forgetting", .timeLimit(.minutes(60)))
struct ForgettingPlayTests {
  @Test("nothing forgotten is left, nothing written is lost, and all end alike")
  func plays() throws {
    var random = SplitMix64.reported()
    for _ in 0..<TestEnvironment.amount(2, inFull: 20) {
      let seed = random.next()
      var play = try ForgettingPlay(seed: seed)
      do {
        for _ in 0..<TestEnvironment.amount(40, inFull: 80) { try play.step() }
        try play.finish()
      } catch {
        Issue.record("play \(seed): \(error)\n\(play.told.joined(separator: "\n"))")
      }
    }
  }
}

private struct ForgettingPlay {
  struct Violation: Error { let description: String }

  private(set) var told: [String] = []
  private var random: SplitMix64
  private let hub: FolderHub
  private let devices: [Device]
  private var bundles: [String] = []
  private var lines = 0
  private var secrets = 0
  /// The secrets that were forgotten, each with the ID of that.
  private var forgotten: [(text: String, id: String)] = []
  private var ada: Device { devices[0] }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    hub = try FolderHub()
    try hub.lets(true)
    let ada = try Device(founding: "Ada")
    devices = try [ada] + ["Bob", "Cleo", "Dan"].map { try Device($0, certifiedBy: ada) }
    try ada.write("begins\n", to: "Shared.txt")
    for device in devices { try visit(device) }
  }

  private static func secret(_ number: Int) -> String { "hunter-\(number)-pass-\(number)f" }

  mutating func step() throws {
    let position = Int.random(in: 0..<devices.count, using: &random)
    let device = devices[position]
    switch Int.random(in: 0..<12, using: &random) {
    case 0...3: try write(on: device)
    case 4: try writeSecret(on: device)
    case 5...6:
      let other = devices[
        (position + Int.random(in: 1..<devices.count, using: &random)) % devices.count]
      told.append("\(device.name) meets \(other.name)")
      _ = try sync(device, other)
    case 7...9:
      told.append("\(device.name) at the hub")
      try visit(device)
    case 10:
      let path = hub.folder["\(bundles.count).bundle"]
      told.append("\(device.name) writes bundle \(bundles.count)")
      bundles.append(path)
      try device.writeBundle(path)
      if let old = bundles.randomElement(using: &random) {
        let reader = devices.randomElement(using: &random) ?? device
        told.append("\(reader.name) applies \(old)")
        try reader.apply(old)
      }
    default: try forget()
    }
  }

  private func visit(_ device: Device) throws {
    let outcome = try device.visit(hub.hub).outcome
    if let failure = outcome.failures.first { throw failure.error }
  }

  /// The text of a note; empty where there is none.
  private func text(_ note: String, on device: Device) throws -> String {
    device.exists(note) ? try device.text(note) : ""
  }

  private mutating func write(on device: Device) throws {
    lines += 1
    let note = Bool.random(using: &random) ? "Shared.txt" : "\(device.name).txt"
    told.append("\(device.name) writes line \(lines) to \(note)")
    try device.write(try text(note, on: device) + "line \(lines)\n", to: note)
    if Bool.random(using: &random) { _ = try device.context.notebook().save() }
  }

  /// A new secret, or one that this device has and that it does not know to be forgotten, in another note.
  private mutating func writeSecret(on device: Device) throws {
    let known = (0..<secrets).filter { number in
      let text = (try? self.text("Secret \(number).txt", on: device)) ?? ""
      return text.contains(Self.secret(number))
    }
    lines += 1
    guard let number = known.randomElement(using: &random), Bool.random(using: &random) else {
      told.append("\(device.name) writes secret \(secrets)")
      try device.write(
        "line \(lines)\nkey \(Self.secret(secrets)) of all\n", to: "Secret \(secrets).txt")
      secrets += 1
      _ = try device.context.notebook().save()
      return
    }
    let note = "\(device.name).txt"
    told.append("\(device.name) copies secret \(number)")
    try device.write(
      try text(note, on: device) + "line \(lines) and \(Self.secret(number))\n", to: note)
    _ = try device.context.notebook().save()
  }

  private mutating func forget() throws {
    let known = (0..<secrets).map(Self.secret).filter { secret in
      !forgotten.contains { $0.text == secret }
    }
    guard let text = known.randomElement(using: &random) else { return }
    let before = try Hub.knownTips(in: ada.notebook())
    do {
      _ = try ada.context.notebook().forget(.text(Array(text.utf8)))
    } catch ForgetError.notFound {
      return
    }
    told.append("Ada forgets \(text)")
    guard let id = try ada.notebook().history.obeyed()?.lines.first?.id else {
      throw Violation(description: "nothing was forgotten")
    }
    forgotten.append((text, id))
    guard Bool.random(using: &random) else { return }
    told.append("Ada at the hub")
    let outcome = try ada.visit(hub.hub) { $0.replaced = before }.outcome
    if let failure = outcome.failures.first { throw failure.error }
  }

  mutating func finish() throws {
    told.append("the end")
    for path in bundles { try ada.apply(path) }
    for _ in 0..<2 {
      for device in devices.dropFirst() { _ = try sync(device, ada) }
      for device in devices { try visit(device) }
    }
    let all = try devices.map { try $0.tip() }
    guard Set(all + [try hub.tip()]).count == 1 else {
      throw Violation(description: "they end apart: \(all)")
    }
    for (text, _) in forgotten {
      if try hub.reaches(text) { throw Violation(description: "the hub has \(text)") }
      for device in devices {
        let places = try Leftovers(in: device.notes).places(of: text)
        if !places.isEmpty {
          throw Violation(description: "\(device.name) has \(text): \(places)")
        }
      }
    }
    let files = try ada.notebook().history.noteTitles()
    var held = ""
    for file in files { held += try ada.text(file) }
    for number in 1...max(1, lines)
    where !held.contains("line \(number)\n") && !held.contains("line \(number) and ") {
      if lines > 0 { throw Violation(description: "line \(number) is lost") }
    }
    for device in devices where !(try device.git("fsck", "--strict").isSuccess) {
      throw Violation(description: "\(device.name) is damaged")
    }
  }
}

extension History {
  /// The files of the tip, by name.
  func noteTitles() throws -> [String] {
    guard let tip = try tipTree() else { return [] }
    return try repository.files(in: tip).compactMap { $0.path.utf8String }
  }
}
