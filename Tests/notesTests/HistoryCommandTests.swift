import TestSupport
import Testing

/// The commands of history as a shell sees them.
@Suite struct HistoryCommandTests {
  /// A note with a version at each of these times, made by git.
  private func notebook(_ times: [String]) throws -> Shell {
    let shell = try Shell()
    try shell.folder.write("start\n", to: "notes/A.txt")
    for (position, time) in times.enumerated() {
      try shell.folder.write("version \(position)\n", to: "notes/A.txt")
      var environment = shell.environment
      for name in ["AUTHOR", "COMMITTER"] {
        environment["GIT_\(name)_NAME"] = "Ada"
        environment["GIT_\(name)_EMAIL"] = "ada@example.org"
        environment["GIT_\(name)_DATE"] = time
      }
      let script =
        position == 0
        ? "git init -q -b main; git add -A; git commit -q -m 0" : "git commit -q -a -m \(position)"
      let made = try run(
        ["sh", "-c", script], in: shell.folder["notes"], environment: environment)
      try #require(made.isSuccess, "\(made)")
    }
    try shell.initialise()
    return shell
  }

  // notes-versions(7), "Times": times are read in the local zone (TZ).
  @Test func `Times are read in the zone of TZ`() throws {
    let shell = try notebook([
      "2026-03-28T12:00:00Z", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z",
      "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
    ])
    func shown(_ time: String, _ zone: String) throws -> String {
      shell.environment["TZ"] = zone
      return try shell.notes("show", "A@" + time).text
    }
    #expect(try shown("2026-03-29 01:00", "UTC") == "version 1\n")
    #expect(try shown("2026-03-29 01:00", "Europe/Berlin") == "version 0\n")
    // 02:30 is left out that night in Berlin: it means 03:00, which is 01:00 in UTC.
    #expect(try shown("2026-03-29 02:30", "Europe/Berlin") == "version 1\n")
    #expect(try shown("2026-03-29 03:30", "Europe/Berlin") == "version 2\n")
    // 02:30 comes twice that night: the version is the last one by the second.
    #expect(try shown("2026-10-25 02:30", "Europe/Berlin") == "version 4\n")
    #expect(try shown("2026-10-25 02:29", "America/New_York") == "version 4\n")
    #expect(try shown("2026-03-29", "Pacific/Auckland") == "version 2\n")
  }

  // notes(1), "ENVIRONMENT": COLUMNS.
  @Test(arguments: [("40", 40), ("", 60), ("0", 60), ("wide", 60)])
  func `The width is the window's unless COLUMNS wants another`(value: String, width: Int) throws {
    let shell = try Shell()
    try shell.folder.write("x\n", to: "notes/\(String(repeating: "long ", count: 20)).txt")
    try shell.initialise()
    shell.environment["COLUMNS"] = value
    let command = "stty cols 60; exec '\(try BuiltBinary.notes())' list --no-pager"
    let result = try run(
      ["script", "-q", "-e", "-c", command, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.text.contains("…"))
    #expect(result.text.filter { $0 != "\r\n" }.count == width)
  }

  @Test func `Leaving the pager early is no failure`() throws {
    let shell = try Shell()
    let lines = (0..<40_000).map { "line \($0)\n" }.joined()
    try shell.folder.write(lines, to: "notes/Long.txt")
    try shell.initialise()
    shell.environment["NOTES_PAGER"] = "head -n 1"
    let command = "stty cols 80; exec '\(try BuiltBinary.notes())' show Long"
    let result = try run(
      ["script", "-q", "-e", "-c", command, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.isSuccess, "\(result)")
    #expect(result.text == "line 0\r\n")
  }
}
