import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import Rewriting

// Merges, and two admins at once.
extension FirstVersionTests {
  @Test("git's own merges, derived ones and hubs' around the first version keep every edit")
  func merges() throws {
    let cleo = try ada.clone(device: "Cleo")
    obey(cleo)
    try save(ada, "List.txt", "a\nb\nc\nd\n")
    try take(cleo, from: ada)
    try take(ben, from: ada)
    // Ben and Cleo have versions that Ada has not: on older ones, on merges of these, and on the first one.
    try save(cleo, "Cleo.txt", "one\n")
    try save(ben, "List.txt", "a\nb\nc\nd\nof Ben\n")
    try take(ben, from: cleo)
    try save(ben, "Ben.txt", "on a merge\n")
    try save(ada, "List.txt", "of Ada\na\nb\nc\nd\n")
    let version = try tip(ada)
    try take(cleo, from: ada)
    try take(ben, from: ada)
    try save(ben, "Later.txt", "on the first one\n")
    try save(cleo, "Cleo.txt", "one\ntwo\n")
    try ben.copyObjects(from: cleo)
    tick()
    _ = try ben.git(["merge", "--quiet", "--no-edit"] + cleo.notebook.state().heads.map(\.hex))
    _ = try ben.notebook.save()
    try forgetOlder(on: ada)
    #expect(
      try ada.notebook.history.obeyed()?.lines.first?.beginning?.formers == [version])
    for (device, other) in [
      (ben, ada), (cleo, ada), (ada, cleo), (ada, ben), (ben, ada), (cleo, ada),
    ] {
      try take(device, from: other)
    }
    for device in [ada, ben, cleo] {
      #expect(try device.read("List.txt") == "of Ada\na\nb\nc\nd\nof Ben\n")
      #expect(try device.read("Cleo.txt") == "one\ntwo\n")
      #expect(try device.read("Ben.txt") == "on a merge\n")
      #expect(try device.read("Later.txt") == "on the first one\n")
      #expect(try tip(device) == tip(ada))
      #expect(try device.notebook.history.conflicts().isEmpty)
      #expect(try device.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
      let roots = try device.git(["rev-list", "--max-parents=0", "HEAD"])
      #expect(roots.split(separator: "\n").count == 1)
    }
  }

  // Both twins became one version without files; what stands on them is still the form of the other history's.
  @Test(
    "one admin forgets older versions with twins, another a text in later ones",
    arguments: [true, false])
  func twinsAtOnce(isAdaJoining: Bool) throws {
    try save(ada, "Twin.txt", "one\n")
    let other = try twin(of: tip(ada), on: ada, files: ["Late.txt": "two\n"])
    _ = try ada.notebook.merge([other])
    try save(ada, "Plan.txt", "plan\n")
    let day = ada.seconds.now + 1
    try save(ada, "Wifi.txt", "key hunter2-pass and more\n")
    try take(ben, from: ada)
    tick()
    _ = try ada.notebook.forget(.before(day))
    _ = try ben.notebook.forget(.text(Array("hunter2-pass".utf8)))
    try save(ada, "Ada.txt", "again hunter2-pass\n")
    let (one, two) = isAdaJoining ? (ada, ben) : (ben, ada)
    try take(one, from: two)
    try take(two, from: one)
    for device in [ada, ben] {
      #expect(try device.read("Ada.txt") == "again [forgotten]\n")
      #expect(try device.read("Wifi.txt") == "key [forgotten] and more\n")
    }
    try expectAlike([ada, ben], without: "hunter2-pass")
  }
}
