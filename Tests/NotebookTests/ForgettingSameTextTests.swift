import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-forget(1), "Other devices".
@Suite("A text that two people wrote, of whom one forgets it")
struct ForgettingSameTextTests {
  // "Versions that the other device has accepted also stay. If their author also wrote the text, it stays there until
  // an admin forgets it again."
  @Test(
    "A device that knows the text takes the other's history as it is", arguments: [false, true])
  func taken(isWrittenAgain: Bool) throws {
    let ada = try Fixture()
    try ada.write("Start.txt", "begins here\n")
    _ = try ada.notebook.save()
    let (ben, cleo) = (try ada.clone(device: "Ben"), try ada.clone(device: "Cleo"))
    let all = [ada, ben, cleo]
    for device in all {
      device.notebook.signer = VersionSigner(load: { _ in nil }, counts: { _, _, _ in true })
    }
    func tick() {
      for device in all { device.seconds.now += 10 }
    }
    func take(_ device: Fixture, from other: Fixture) throws {
      tick()
      try device.receive(from: other)
    }
    try ada.write("Wifi.txt", "wifi correct-horse\n")
    _ = try ada.notebook.save()
    try take(cleo, from: ada)
    try ben.write("House.txt", "ours: correct-horse\n")
    _ = try ben.notebook.save()
    if isWrittenAgain {
      try cleo.write("Own.txt", "mine: correct-horse\n")
      _ = try cleo.notebook.save()
    }
    tick()
    _ = try ada.notebook.forget(.text(Array("correct-horse".utf8)))
    // Neither Ada's device nor Ben's has the note in both forms, so neither knows the text.
    try take(ada, from: ben)
    try take(ben, from: ada)
    try take(cleo, from: ada)
    for device in [ada, ben] { try take(device, from: cleo) }
    try take(ben, from: ada)
    #expect(try Set(all.map { try $0.notebook.state().tip }).count == 1)
    for device in all {
      #expect(try device.read("Wifi.txt") == "wifi [forgotten]\n")
      #expect(try device.read("House.txt") == "ours: correct-horse\n")
      #expect(try device.read("Own.txt") == (isWrittenAgain ? "mine: [forgotten]\n" : nil))
      #expect(try device.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
    }
  }

  /// What the admin forgets after devices have a version in both forms.
  enum Later: CaseIterable { case nothing, note, text, earlierText }

  // "If devices that moved over have a version in different forms, because not all of them knew the removed text, both
  // forms stay."
  @Test(
    "Two devices that moved over by themselves, of which one knows the text, keep both forms",
    arguments: Later.allCases)
  func apart(later: Later) throws {
    let ada = try Fixture()
    try ada.write("Start.txt", "begins here\n")
    try ada.write("House.txt", "the house\n")
    _ = try ada.notebook.save()
    let (ben, cleo) = (try ada.clone(device: "Ben"), try ada.clone(device: "Cleo"))
    let all = [ada, ben, cleo]
    for device in all {
      device.notebook.signer = VersionSigner(load: { _ in nil }, counts: { _, _, _ in true })
    }
    func tick() {
      for device in all { device.seconds.now += 10 }
    }
    func take(_ device: Fixture, from other: Fixture) throws {
      tick()
      try device.receive(from: other)
    }
    func forget(_ target: ForgetTarget) throws {
      tick()
      _ = try ada.notebook.forget(target)
    }
    try ada.write("Wifi.txt", "wifi correct-horse\n")
    _ = try ada.notebook.save()
    try take(cleo, from: ada)
    try ben.write("House.txt", "the house\nours: correct-horse\n")
    _ = try ben.notebook.save()
    try take(cleo, from: ben)
    try forget(.text(Array("correct-horse".utf8)))
    // Cleo's device knows the text and removes it from Ben's version, too; Ben's does not know it.
    try take(cleo, from: ada)
    try take(ben, from: ada)
    try take(ada, from: ben)
    #expect(try cleo.read("House.txt") == "the house\nours: [forgotten]\n")
    #expect(try ada.read("House.txt") == "the house\nours: correct-horse\n")
    for (device, other) in [(cleo, ben), (ben, cleo), (ada, cleo), (cleo, ada), (ben, ada)] {
      try take(device, from: other)
    }
    #expect(try Set(all.map { try $0.notebook.state().tip }).count == 1)
    let house = try ada.read("House.txt") ?? ""
    #expect(house.contains("ours: correct-horse\n") && house.contains("ours: [forgotten]\n"))
    try cleo.write("Late.txt", "of Cleo\n")
    _ = try cleo.notebook.save()
    switch later {
    case .nothing: break
    case .note: try forget(.note("House.txt"))
    case .text: try forget(.text(Array("correct-horse".utf8)))
    case .earlierText: try forget(.text(Array("begins".utf8)))
    }
    let form = try ada.notebook.state().tip
    for (device, other) in [(ben, ada), (cleo, ada), (ada, cleo), (ben, cleo), (cleo, ben)] {
      try take(device, from: other)
    }
    #expect(try Set(all.map { try $0.notebook.state().tip }).count == 1)
    for device in all {
      #expect(try device.read("Wifi.txt") == "wifi [forgotten]\n")
      #expect(try device.read("Late.txt") == "of Cleo\n")
      #expect(
        try device.read("Start.txt")
          == (later == .earlierText ? "[forgotten] here\n" : "begins here\n"))
      let house = try device.read("House.txt")
      switch later {
      case .note: #expect(house == nil)
      case .text: #expect(house?.contains("correct-horse") == false)
      case .nothing, .earlierText:
        #expect(house?.contains("ours: correct-horse\n") == true)
        #expect(house?.contains("ours: [forgotten]\n") == true)
      }
      #expect(try device.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
      // Nothing below the admin's list was made a second time.
      let count = try device.git([
        "rev-list", "--count", "--no-merges", "HEAD", "^\(form?.hex ?? "")",
      ])
      #expect(
        Int(count.split(separator: "\n").first ?? "").map { $0 <= 1 } == true, "\(later): \(count)")
    }
  }
}
