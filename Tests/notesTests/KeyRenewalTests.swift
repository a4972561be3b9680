import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-security(7), "A key on two machines" and "A key of its own", as shells on three machines see them.
@Suite(.timeLimit(.minutes(20))) struct KeyRenewalTests {
  private let ada: Shell
  private let bob: Shell
  /// A machine that `bob`'s disk was cloned to.
  private let clone: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    clone = try Shell()
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.initialise()
  }

  private func cloneDisk(of shell: Shell) throws {
    for place in ["home/.local", "notes"] {
      _ = try run(["mkdir", "-p", clone.folder["home"]])
      let target = clone.folder[place]
      _ = try run(["rm", "-rf", target])
      try #require(try run(["cp", "-a", shell.folder[place], target]).isSuccess)
    }
  }

  @discardableResult
  private func sync(_ device: Shell, with other: Shell) throws -> ProcessResult {
    let (serve, port) = try other.listening("serve")
    defer { serve.send(9) }
    return try device.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
  }

  private func id(_ shell: Shell) throws -> String {
    try Shell.field("device", of: shell.notes("device", "--json").text)
  }

  @Test("both are told, and an admin gives one a certificate of its own with one command")
  func byAnAdmin() throws {
    try bob.join(ada, as: "bob")
    try cloneDisk(of: bob)
    let warning = "Another machine uses this device's key; laptop connected to both;"
    for device in [bob, clone, bob] { #expect(try !sync(device, with: ada).text.contains(warning)) }
    for device in [clone, bob] {
      #expect(try sync(device, with: ada).text.contains(warning))
      #expect(try device.notes("status").text.contains(warning))
      let doctor = try device.notes("doctor", "--no-discovery")
      #expect(doctor.status == .exited(1) && doctor.text.contains("'notes device renew'"))
    }
    #expect(try !ada.notes("status").text.contains("Another machine"))

    let former = try id(clone)
    let renewed = try clone.notes("device", "renew")
    #expect(renewed.text.contains("'notes members certify bob' on laptop"), "\(renewed)")
    let new = try id(clone)
    #expect(try new != former && id(bob) == former)
    // It goes on with the former key, and asks. Asking twice makes no third key.
    #expect(try clone.notes("device", "renew").isSuccess && id(clone) == new)
    try clone.folder.write("from the clone\n", to: "notes/clone.txt")
    #expect(try sync(clone, with: ada).isSuccess)
    #expect(try ada.folder.text("notes/clone.txt") == "from the clone\n")
    #expect(try ada.notes("members").text.contains("bob asks for a certificate for a new key"))
    let refused = try ada.notes("members", "certify", "bob")
    #expect(refused.status == .exited(64), "\(refused)")
    let certified = try ada.notes("members", "certify", "bob", "--yes", "--json")
    #expect(certified.text.contains(#""type":"certified","name":"bob 2","device":"\#(new)""#))
    #expect(
      try ada.notes("members", "certify", "bob", "--yes").errorText.contains("has not asked for"))

    #expect(try sync(clone, with: ada).isSuccess)
    #expect(try sync(clone, with: ada).isSuccess)
    let status = try clone.notes("status", "--json").text
    #expect(status.contains(#""device":"\#(new)""#) && status.contains(#""device_name":"bob 2""#))
    #expect(try clone.notes("doctor", "--no-discovery").isSuccess)
    #expect(try bob.notes("status", "--json").text.contains(#""device":"\#(former)""#))
    // "The warning ends before where [...] the member that told of it says nothing of it any more."
    #expect(try sync(bob, with: ada).isSuccess)
    #expect(try !bob.notes("status").text.contains(warning))
    #expect(try bob.notes("doctor", "--no-discovery").isSuccess)
    // Now they meet as two.
    try clone.folder.write("two\n", to: "notes/two.txt")
    #expect(try sync(bob, with: clone).isSuccess)
    #expect(try bob.folder.text("notes/two.txt") == "two\n")
  }

  @Test("an admin's machine certifies itself, while it is watched and meets the other one")
  func byItself() throws {
    try cloneDisk(of: ada)
    let (watcher, port) = try ada.listening("watch")
    defer { watcher.send(9) }
    let met = try clone.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    #expect(met.status == .exited(5), "\(met)")
    #expect(met.errorText.contains("another machine uses this device's key"))
    _ = try watcher.line { $0.contains(#""type":"key_shared""#) }
    #expect(try ada.notes("status").text.contains("Another machine uses this device's key;"))

    let renewed = try ada.notes("device", "renew", "--json")
    #expect(renewed.text.contains(#""certified":true"#), "\(renewed)")
    // The watcher goes over to the new key by itself.
    let again = try watcher.line { $0.contains(#""type":"listening""#) }
    let newPort = try Shell.field("port", of: again)
    try ada.folder.write("two\n", to: "notes/two.txt")
    _ = try watcher.line { $0.contains(#""type":"version""#) }
    let synced = try clone.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(newPort)")
    #expect(synced.isSuccess && synced.text.contains("laptop 2"), "\(synced)")
    #expect(try clone.folder.text("notes/two.txt") == "two\n")
    // "... if the device connects to the other machine under a new key."
    #expect(try !clone.notes("status").text.contains("Another machine"))
    let members = try clone.notes("members", "--json").lines
    #expect(members.count == 2 && members.allSatisfy { $0.contains(#""role":"admin""#) })
  }
}
