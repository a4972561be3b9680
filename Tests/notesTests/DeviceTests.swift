import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-device(1) and the verbs of notes-members(1) that concern this device alone, as a shell sees
/// them.
@Suite struct DeviceTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.initialise()
  }

  private func id(_ shell: Shell) throws -> String {
    try shell.notes("device", "--json").text
  }

  @Test func `The key goes out under a passphrase and comes back on another machine`() throws {
    let file = shell.folder["key.pem"]
    let exported = try shell.notes(
      "device", "export", file, "--passphrase-file", "-", input: "correct horse\n")
    #expect(exported.isSuccess, "\(exported)")
    let mode = try run(["stat", "-c", "%a", file]).text
    #expect(mode == "600\n")
    #expect(try run(["openssl", "pkey", "-in", file, "-passin", "pass:correct horse"]).isSuccess)
    // Nothing is overwritten.
    let again = try shell.notes(
      "device", "export", file, "--passphrase-file", "-", input: "correct horse\n")
    #expect(again.status == .exited(1))
    // Nobody is asked for a passphrase that would be of no use.
    for (file, reason) in [(file, "file exists"), (shell.folder["no/key"], "no such file")] {
      let refused = try shell.notes("device", "export", file)
      #expect(refused.status == .exited(1) && refused.errorText.contains(reason), "\(refused)")
    }

    let other = try Shell()
    #expect(try other.notes("device").status == .exited(1))
    let wrong = try other.notes(
      "device", "import", file, "--passphrase-file", "-", input: "wrong horse\n")
    #expect(wrong.errorText.hasPrefix("notes: error: the passphrase is wrong"))
    #expect(wrong.status == .exited(1))
    #expect(
      try other.notes(
        "device", "import", file, "--passphrase-file", "-", input: "correct horse\n"
      ).isSuccess)
    let device = try #require(try id(shell).split(separator: ",").first)
    #expect(try id(other).hasPrefix(device))
  }

  @Test func `A key in place is kept unless another is to replace it`() throws {
    let other = try Shell()
    try other.initialise()
    let file = other.folder["key.pem"]
    let former = try id(shell)
    #expect(
      try other.notes(
        "device", "export", file, "--passphrase-file", "-", input: "correct horse\n"
      ).isSuccess)
    let refused = try shell.notes(
      "device", "import", file, "--passphrase-file", "-", input: "correct horse\n")
    #expect(refused.errorText.hasPrefix("notes: error: this device already has a key"))
    let kind = try shell.notes(
      "device", "import", file, "--passphrase-file", "-", "--json", input: "correct horse\n")
    #expect(kind.errorText.contains(#""kind":"device_key_exists""#), "\(kind)")
    #expect(try id(shell) == former)
    let replaced = try shell.notes(
      "device", "import", file, "--replace", "--passphrase-file", "-", "--json",
      input: "correct horse\n")
    #expect(replaced.text.contains(#""type":"imported""#) && replaced.text.contains("device-key-"))
    // The notebook was another device's.
    #expect(try shell.notes("members", "block", "x").errorText.contains("another device key"))
  }

  @Test func `A passphrase is asked for at a terminal alone, and is not too short`() throws {
    let file = shell.folder["key.pem"]
    let none = try shell.notes("device", "export", file, input: "correct horse\n")
    #expect(none.status == .exited(64))
    #expect(none.errorText.contains("--passphrase-file"))
    let short = try shell.notes(
      "device", "export", file, "--passphrase-file", "-", input: "seven77\n")
    #expect(short.status == .exited(64))
  }

  @Test(arguments: ["", "--json"])
  func `Two passphrases that differ write nothing`(option: String) throws {
    let words = ["device", "export", "key.pem"] + (option.isEmpty ? [] : [option])
    let screen = try shell.screen(notes: words)
    try screen.wait(for: "Passphrase:")
    try screen.type("correct horse\n")
    try screen.wait(for: "Repeat passphrase:")
    try screen.type("correct hearse\n")
    let shown = try screen.wait(for: "left with 64")
    try Golden.expect(
      shown.split(separator: "\n").map { $0 + "\n" }.joined(),
      matches: "device-export-differs\(option).txt")
    #expect(access(shell.folder["notes/key.pem"], F_OK) != 0)
  }

  @Test func `The membership begins anew, notes and history stay`() throws {
    try shell.folder.write("kept\n", to: "notes/kept.txt")
    try shell.notes("save")
    let before = try shell.notes("status", "--json").text
    let refused = try shell.notes("members", "reset")
    #expect(refused.status == .exited(64))
    let result = try shell.notes("members", "reset", "--yes", "--json")
    #expect(result.text.hasPrefix(#"{"type":"reset","notebook":""#), "\(result)")
    let after = try shell.notes("status", "--json").text
    let isTip: (Substring) -> Bool = { $0.hasPrefix("\"tip\"") }
    #expect(
      after.split(separator: ",").filter(isTip) == before.split(separator: ",").filter(isTip))
    #expect(after != before)
    #expect(try shell.notes("show", "kept").text == "kept\n")
    let doctor = try shell.notes("doctor", "--no-discovery")
    #expect(doctor.isSuccess, "\(doctor)")
  }
}
