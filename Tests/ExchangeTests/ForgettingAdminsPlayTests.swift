import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-forget(1), "Other devices": admins who forget without knowing of one another, also the same text.
@Suite("Random plays of three admins who forget texts", .timeLimit(.minutes(60)))
struct ForgettingAdminsPlayTests {
  @Test("whoever forgot what, and whoever met whom, all come to one history")
  func plays() throws {
    var random = SplitMix64.reported()
    for _ in 0..<TestEnvironment.amount(2, inFull: 60) {
      let seed = random.next()
      var play = try AdminsPlay(seed: seed)
      do {
        for _ in 0..<50 { try play.step() }
        try play.finish()
      } catch {
        Issue.record("play \(seed): \(error)\n\(play.told.joined(separator: "\n"))")
      }
    }
  }
}

private struct AdminsPlay {
  struct Violation: Error { let description: String }

  private(set) var told: [String] = []
  private var random: SplitMix64
  private let devices: [Device]
  private var lines = 0
  private let secrets: [String]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    secrets = (0..<Int.random(in: 1...4, using: &random)).map { "hunter-\($0)-pass-\($0)f" }
    let ada = try Device(founding: "Ada")
    devices =
      try [ada] + ["Eve", "Ida"].map { try Device($0, certifiedBy: ada, as: .admin) }
      + [Device("Bob", certifiedBy: ada)]
    try ada.write("begins\n", to: "Shared.txt")
    for device in devices.dropFirst() { _ = try sync(device, ada) }
  }

  mutating func step() throws {
    let position = Int.random(in: 0..<devices.count, using: &random)
    let device = devices[position]
    switch Int.random(in: 0..<8, using: &random) {
    case 0...1: try write(on: device, with: nil)
    case 2...3: try write(on: device, with: secrets.randomElement(using: &random))
    case 4...5:
      let other = devices[
        (position + Int.random(in: 1..<devices.count, using: &random)) % devices.count]
      let mode = [SyncMode.both, .both, .pull, .push].randomElement(using: &random) ?? .both
      told.append("\(device.name) meets \(other.name), \(mode)")
      do {
        _ = try sync(device, other, mode: mode)
      } catch SyncError.notMerged(.forgotten, _) {
        told.append("refused")
      } catch SyncError.notMergedAtPeer(.forgotten) {
        told.append("refused there")
      }
    default: if device.name != "Bob" { try forget(on: device) }
    }
  }

  private mutating func write(on device: Device, with secret: String?) throws {
    lines += 1
    let note = Bool.random(using: &random) ? "Shared.txt" : "\(device.name).txt"
    let line = "line \(lines)" + (secret.map { " and \($0)" } ?? "") + "\n"
    told.append("\(device.name) writes to \(note): \(line.dropLast())")
    let before = device.exists(note) ? try device.text(note) : ""
    try device.write(before + line, to: note)
    if Bool.random(using: &random) { _ = try device.context.notebook().save() }
  }

  private mutating func forget(on device: Device) throws {
    guard let text = secrets.randomElement(using: &random) else { return }
    do {
      _ = try device.context.notebook().forget(.text(Array(text.utf8)))
      told.append("\(device.name) forgets \(text)")
    } catch ForgetError.notFound {}
  }

  mutating func finish() throws {
    told.append("the end")
    for round in 0..<3 {
      for device in devices {
        for other in devices where other.name != device.name {
          told.append("\(device.name) meets \(other.name)")
          do {
            _ = try sync(device, other)
          } catch SyncError.notMerged(.forgotten, _) where round < 2 {
            told.append("refused")
          }
        }
      }
    }
    let tips = try devices.map { try $0.tip() }
    guard Set(tips).count == 1 else { throw Violation(description: "they end apart: \(tips)") }
    var held = ""
    for file in try devices[0].notebook().history.noteTitles() {
      held += try devices[0].text(file)
    }
    for number in 1...max(1, lines)
    where lines > 0 && !held.contains("line \(number)\n") && !held.contains("line \(number) and ") {
      throw Violation(description: "line \(number) is lost")
    }
    for device in devices where !(try device.git("fsck", "--strict").isSuccess) {
      throw Violation(description: "\(device.name) is damaged")
    }
  }
}
