import TestSupport
import Testing

/// scripts/try plays the main job for somebody who has just come, with and without namespaces.
@Suite struct TryTests {
  @Test(arguments: ["yes", "no"]) func playsTheMainJob(namespaces: String) throws {
    let folder = try TemporaryFolder()
    try makeFolder(folder["tmp"])
    var environment = try TestEnvironment.isolated(home: folder["home"])
    environment["TMPDIR"] = folder["tmp"]
    environment["NOTES_BINARY"] = try BuiltBinary.notes()
    environment["NOTES_TRY_PREPARED"] = "yes"
    environment["NOTES_TRY_NAMESPACES"] = namespaces
    let script = "\(BuiltBinary.sourceFolder)/scripts/try"
    let result = try run([script], environment: environment, within: 360)
    try #require(result.isSuccess, "\(result)")
    #expect(result.errorText == "")
    for part in [
      "    <<<<<<< ", "    >>>>>>> ", " alice · 20", " bob · 20", "    Coffee", "    Olives",
      "That is all:",
    ] {
      #expect(result.text.contains(part), "\(part) is not in\n\(result)")
    }
    #expect(!result.text.contains("notes: error:"), "\(result)")
    let way = namespaces == "yes" ? "with" : "without"
    #expect(result.text.contains("This is the way \(way) network namespaces"), "\(result)")
    if namespaces == "yes" {
      // README's picture shows what is printed today.
      let root = BuiltBinary.sourceFolder
      let check = ["\(root)/contrib/picture", "--check", "\(root)/contrib/story.svg"]
      try run(check, input: Array(result.text.utf8)).expectSuccess()
    }
    // It leaves nothing behind.
    #expect(try run(["ls", "-A", folder["tmp"]]).text == "")
  }
}
