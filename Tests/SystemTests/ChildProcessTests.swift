import Glibc
import System
import TestSupport
import Testing

@Suite("Programs that are started", .timeLimit(.minutes(1)))
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
