import TestSupport
import Testing

/// The page in a real browser, at the sizes of a phone and of a desktop.
@Suite struct WebStoryTests {
  /// Plays the story of a script, which takes so many pictures.
  private func play(_ script: String, pictures count: Int) throws {
    let folder = try TemporaryFolder()
    let result = try run(
      [
        "\(BuiltBinary.sourceFolder)/scripts/\(script)", "--binary", BuiltBinary.notes(),
        "--pictures", folder["pictures"],
      ], within: 900)
    #expect(result.isSuccess, "\(result)")
    print(result.text)
    let pictures = try run(["find", folder["pictures"], "-name", "*.png", "-size", "+4k"]).lines
    #expect(pictures.count >= count, "\(pictures)")
  }

  @Test(.enabled("Chromium's story: scripts/test --full") { TestEnvironment.isFull })
  func `A browser and a terminal write the same notes`() throws {
    try play("web-story", pictures: 118)
  }

  @Test func `Where Chromium is missing it says so, and leaves nothing running`() throws {
    let folder = try TemporaryFolder()
    try makeFolder(folder["bin"])
    // What is found as python3 may be a shell script that looks for the program.
    let find = [
      "python3": "python3 -c 'import sys; print(sys.executable)'", "git": "command -v git",
      "env": "command -v env",
    ]
    for (program, command) in find {
      let path = try run(["sh", "-c", command]).lines[0]
      try #require(try run(["ln", "-s", path, folder["bin/\(program)"]]).isSuccess)
    }
    var environment = try TestEnvironment.isolated(home: folder["home"])
    (environment["PATH"], environment["TMPDIR"]) = (folder["bin"], folder.path)
    let result = try run(
      ["\(BuiltBinary.sourceFolder)/scripts/web-story", "--binary", BuiltBinary.notes()],
      environment: environment, within: 300)
    #expect(result.status == .exited(1) && result.errorText.contains("chromium is missing"))
    let folders = try run(["sh", "-c", "readlink /proc/[0-9]*/cwd"]).lines
    #expect(folders.filter { $0.hasPrefix(folder.path + "/") }.isEmpty, "\(folders)")
  }

  // notes-security(7), "The page's authority" and "The page as an app".
  @Test(.enabled("Chromium's story: scripts/test --full") { TestEnvironment.isFull })
  func `A browser that knows the authority keeps the page as an app`() throws {
    try play("web-app", pictures: 20)
  }

  @Test(.enabled("Chromium's cases: scripts/test --full") { TestEnvironment.isFull })
  func `Nothing that is typed is lost, in tabs, phones, editors and without answers`() throws {
    let cases = BuiltBinary.sourceFolder + "/scripts/web-cases"
    let result = try run([cases, "--binary", BuiltBinary.notes()], within: 900)
    #expect(result.isSuccess, "\(result)")
  }

  @Test func `README's picture of the page is small`() throws {
    // `scripts/web-app --portrait` takes it again.
    let root = BuiltBinary.sourceFolder
    let picture = try readFile(root + "/contrib/page.png")
    #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) && picture.count < 60 << 10)
    let readme = String(decoding: try readFile(root + "/README.md"), as: UTF8.self)
    #expect(readme.contains("(contrib/page.png)"))
  }
}
