import Git
import TestSupport
import Testing

/// git-config(1), "Syntax" and "Includes", with git as the oracle.
@Suite struct ConfigurationFileTests {
  /// Git's own list of a file's settings; nil if git refuses the file.
  private func byGit(_ path: String) throws -> [String]? {
    let result = try run(["git", "config", "--includes", "--list", "-z", "-f", path])
    guard result.isSuccess else { return nil }
    return result.text.split(separator: "\0").map { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return "\(parts[0])=\(parts.count == 2 ? String(parts[1]) : "true")"
    }
  }

  private func expectAlike(_ text: String, in folder: TemporaryFolder) throws {
    let path = folder["config"]
    try writeFile(path, Array(text.utf8))
    var own: [String]?
    do {
      own = try ConfigurationFile(at: path).entries.map { "\($0.name)=\($0.value ?? "true")" }
    } catch {}
    // Before 2.45, git made spaces of blanks inside a value.
    func spaced(_ lines: [String]?) -> [String]? {
      lines?.map {
        String(decoding: $0.utf8.map { [9, 13].contains($0) ? 32 : $0 }, as: UTF8.self)
      }
    }
    let (ours, gits) = (spaced(own), spaced(try byGit(path)))
    #expect(ours == gits, "\(text.debugDescription)")
  }

  @Test(arguments: [
    "[core]\n\tattributesFile = ~/mine ; what is secret\n",
    "[core]\n\tattributesFile = ~/mine\n\t# attributesFile = ~/old\n",
    "[core]\n\tattributesFile = \"~/my  own/mine\"\n",
    "[core]\n\tattributesFile = ~/mi\\\nne\n",
    "[core] attributesFile = one\n[CORE]\nATTRIBUTESFILE=two\n",
    "[a.B \"C.d\\\"e\"]\r\n x = \"\" y\r\n bare\r\n", "[core]\n x = \"open\n", "[core\n x = 1\n",
    "x = 1\n", "[core]\n x = a\\qb\n", "[core]\n x = a # \" \n y = \"#;\" b\t\tc  \n",
    "[include]\n path = other\n[core]\n x = last\n",
  ])
  func asGitReadsIt(_ text: String) throws {
    let folder = try TemporaryFolder()
    try writeFile(folder["other"], Array("[core]\n x = included\n z = 1\n".utf8))
    try expectAlike(text, in: folder)
  }

  @Test func whateverIsWritten() throws {
    var random = SplitMix64.reported()
    let folder = try TemporaryFolder()
    let pieces = [
      "[core]", "[a \"b\"]", "\n", "\n", " ", "\t", "=", "x", "name", " = ", "\"", "\\", "\\\"",
      "\\n", "#", ";", "\r\n", "value", "\\\n", "-", "1",
    ]
    for _ in 0..<TestEnvironment.amount(150, inFull: 3_000) {
      let count = Int.random(in: 0..<14, using: &random)
      let text = (0..<count).map { _ in pieces[Int.random(in: pieces.indices, using: &random)] }
      try expectAlike("[core]\n" + text.joined(), in: folder)
    }
  }

  @Test func filesThatIncludeThemselvesAreRefused() throws {
    let folder = try TemporaryFolder()
    try writeFile(folder["config"], Array("[include]\n path = config\n".utf8))
    #expect(throws: GitError.self) { try ConfigurationFile(at: folder["config"]) }
  }
}
