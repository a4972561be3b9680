import Glibc
import System
import TestSupport
import Testing

@Suite("Programs that are started", .timeLimit(.minutes(20)))
struct ChildProcessTests {
  private func shell(
    _ command: String, _ words: [[UInt8]] = [], variables: [[UInt8]] = [],
    output: ChildProcess.Stream = .null, group: ChildProcess.Group = .inherited
  ) throws -> ChildProcess {
    try ChildProcess(
      "/bin/sh", arguments: ChildProcess.shell(command, words), variables: variables,
      input: .null, output: output, group: group)
  }

  @Test("the end is told: by itself, by a signal, or not in time")
  func endings() throws {
    #expect(try shell("exit 3").wait() == .exited(3))
    #expect(try shell("kill -KILL $$").wait() == .killed(SIGKILL))
    let slow = try shell("sleep 60 & sleep 60", group: .own)
    #expect(slow.wait(until: .now + 0.05) == nil)
    #expect(!slow.hasEnded)
    slow.killGroup()
    #expect(slow.hasEnded)
  }

  @Test("words and variables arrive byte by byte, and what is written comes back")
  func words() throws {
    let pipe = try Pipe()
    let name: [UInt8] = [0x66, 0xff, 0x0a]
    let child = try shell(
      #"printf '%s|%s' "$1" "$WORD""#, [[0x30], name],
      variables: [Array("WORD=".utf8) + name], output: .descriptor(pipe.writeEnd))
    #expect(child.wait() == .exited(0))
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(pipe.readEnd, &bytes, bytes.count)
    #expect(Array(bytes[..<max(count, 0)]) == name + [UInt8(ascii: "|")] + name)
  }

  @Test("variables take the place of ours of the same name, and what is left out is not there")
  func environment() throws {
    setenv("NOTES_TEST_HERE", "here", 1)
    defer { unsetenv("NOTES_TEST_HERE") }
    let pipe = try Pipe()
    func printed(_ variables: [String], without left: Set<String> = []) throws -> String {
      let child = try ChildProcess(
        "/bin/sh", arguments: ChildProcess.shell(#"printf '%s' "${NOTES_TEST_HERE-none}""#),
        variables: variables.map { Array($0.utf8) }, withoutVariables: left, input: .null,
        output: .descriptor(pipe.writeEnd))
      #expect(child.wait() == .exited(0))
      var bytes = [UInt8](repeating: 0, count: 16)
      let count = read(pipe.readEnd, &bytes, bytes.count)
      return String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
    }
    #expect(try printed([]) == "here")
    #expect(try printed(["NOTES_TEST_HERE=there"]) == "there")
    #expect(try printed([], without: ["NOTES_TEST_HERE"]) == "none")
  }

  @Test("a session of its own has no part in ours")
  func session() throws {
    #expect(getsid(try shell("sleep 0.2", group: .session).id) != getsid(0))
  }

  @Test("a program that is not there is an error, one on $PATH is found")
  func missing() throws {
    #expect(throws: SystemCallError.system(call: "posix_spawn", path: "/no/such", errno: ENOENT)) {
      try ChildProcess("/no/such", ["such"])
    }
    #expect(try ChildProcess("true", ["true"]).wait() == .exited(0))
  }
}
