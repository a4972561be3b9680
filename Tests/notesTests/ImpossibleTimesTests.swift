import TestSupport
import Testing

/// Versions made with git may name any second, and any zone.
@Suite struct ImpossibleTimesTests {
  // notes-json(5): "a string in the form of RFC 3339"
  @Test(arguments: [
    "9223372036854775807 +0100", "9223372036854775807 -9223372036854775808",
    "-9223372036854775808 -1200", "4102444800 +9959",
  ])
  func `A version of any time is shown`(time: String) throws {
    let shell = try Shell()
    try shell.folder.write("one\n", to: "notes/A.txt")
    try shell.initialise()
    let script = """
      tree=$(git rev-parse HEAD^{tree})
      id=$(printf 'tree %s\\nparent %s\\nauthor P <p@x> %s\\ncommitter P <p@x> %s\\n\\nby hand\\n' \\
        $tree $(git rev-parse HEAD) "$1" "$1" | git hash-object -t commit -w --stdin --literally)
      git update-ref refs/heads/main $id
      """
    try #require(try run(["sh", "-ec", script, "sh", time], in: shell.folder["notes"]).isSuccess)
    try shell.folder.write("two\n", to: "notes/A.txt")
    for words in [["save"], ["status"], ["list"], ["blame", "A"], ["log", "--all", "--long"]] {
      let result = try run(
        [BuiltBinary.notes()] + words, in: shell.folder["notes"], environment: shell.environment)
      #expect(result.isSuccess, "\(words): \(result)")
    }
    let log = try shell.notes("log", "--all", "--json")
    #expect(log.isSuccess && log.lines.count == 3, "\(log)")
    for line in log.lines {
      let told = try Shell.field("time", of: line)
      #expect(
        try told.wholeMatch(of: Regex(#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"#)) != nil,
        "\(told)")
    }
  }
}
