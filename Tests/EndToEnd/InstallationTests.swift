import TestSupport
import Testing

/// scripts/install puts everything where a system looks for it.
@Suite struct InstallationTests {
  @Test func everythingIsInItsPlace() throws {
    let folder = try TemporaryFolder()
    var environment = try TestEnvironment.isolated(home: folder["home"])
    environment["NOTES_BINARY"] = try BuiltBinary.notes()
    environment["DESTDIR"] = folder["stage"]
    let script = "\(BuiltBinary.sourceFolder)/scripts/install"
    let result = try run([script, "/usr"], environment: environment)
    try #require(result.isSuccess, "\(result)")

    let usr = folder["stage/usr"]
    let version = try run(["\(usr)/bin/notes", "--version"], environment: environment)
    #expect(version.isSuccess && version.text.contains { $0.isNumber })
    let unit = try folder.text("stage/usr/share/systemd/user/notes-watch.service")
    #expect(unit.contains("\nExecStart=/usr/bin/notes watch --all\n"))
    #expect(!unit.contains("@PREFIX@"))
    for section in ["man1/notes.1", "man7/notes-merge.7", "man7/notes-protocol.7"] {
      try run(["mandoc", "-T", "lint", "-W", "warning", "\(usr)/share/man/\(section)"])
        .expectSuccess()
    }
    for (shell, file) in [
      ("bash", "bash-completion/completions/notes"), ("zsh", "zsh/site-functions/_notes"),
      ("fish", "fish/vendor_completions.d/notes.fish"),
    ] {
      try run([shell, "-n", "\(usr)/share/\(file)"], environment: environment).expectSuccess()
    }
    // The installed program is the one that its shells know.
    let completions = try run(
      ["\(usr)/bin/notes", "--generate-completion-script", "fish"], environment: environment)
    #expect(
      completions.output == (try readFile("\(usr)/share/fish/vendor_completions.d/notes.fish")))
    try expectMenuEntry(below: usr)
    try expectDocuments(in: "\(usr)/share/doc/notes")
  }

  /// An icon to click, with what software centres show of it.
  private func expectMenuEntry(below usr: String) throws {
    let entry = "\(usr)/share/applications/notes-web.desktop"
    let text = String(decoding: try readFile(entry), as: UTF8.self)
    #expect(text.contains("\nTryExec=/usr/bin/notes\n") && !text.contains("@PREFIX@"))
    try run(["desktop-file-validate", entry]).expectSuccess()
    let metainfo = "\(usr)/share/metainfo/notes-web.metainfo.xml"
    // Newer ones miss a home page, which notes does not have yet, and nothing else.
    let validation = try run(["appstreamcli", "validate", "--no-net", metainfo])
    let warnings = validation.text.split(separator: "\n").filter {
      $0.hasPrefix("E:") || $0.hasPrefix("W:")
    }
    #expect(warnings.allSatisfy { $0.hasSuffix("url-homepage-missing") }, "\(validation)")
    for icon in ["scalable/apps/notes-web.svg", "512x512/apps/notes-web.png"] {
      #expect(try !readFile("\(usr)/share/icons/hicolor/\(icon)").isEmpty)
    }
    // Its releases are the change log's.
    let log = String(
      decoding: try readFile(BuiltBinary.sourceFolder + "/CHANGELOG.md"), as: UTF8.self)
    let told = String(decoding: try readFile(metainfo), as: UTF8.self)
    #expect(
      told.matches(of: /<release version="(.+)" date="(.+)"/).map { "\($0.1) – \($0.2)" }
        == log.matches(of: /(?m)^## ([0-9.]+ – [0-9]{4}-.+)$/).map { String($0.1) })
  }

  /// What is installed to be read leads only to what is installed.
  private func expectDocuments(in folder: String) throws {
    for name in ["LICENSE", "NOTICE", "copyright"] {
      #expect(try readFile("\(folder)/\(name)").count > 1000, "\(name)")
    }
    let text = String(decoding: try readFile("\(folder)/README.md"), as: UTF8.self)
    for link in text.matches(of: /\]\(([^):]+)\)/) {
      #expect(try !readFile("\(folder)/\(link.1)").isEmpty, "\(link.1)")
    }
    #expect(text.contains("## Two devices\n"))
    for absent in ["scripts/", "<!-- ", "Package.swift", "CONTRIBUTING"] {
      #expect(!text.contains(absent), "\(absent)")
    }
  }

  /// notes(1): --version --verbose.
  @Test func theProgramNamesWhatItWorksWith() throws {
    let folder = try TemporaryFolder()
    let environment = try TestEnvironment.isolated(home: folder["home"])
    let notes = try BuiltBinary.notes()
    func version(_ options: String...) throws -> String {
      let result = try run([notes, "--version"] + options, environment: environment)
      #expect(result.isSuccess && result.errorText.isEmpty, "\(result)")
      return result.text
    }
    let lines = try version("--verbose").split(separator: "\n").map(String.init)
    #expect(try version() == (try #require(lines.first)) + "\n")
    let openssl = try run(["openssl", "version"]).text.split(separator: " ")[1]
    #expect(lines.contains("OpenSSL \(openssl)"), "\(lines)")
    #expect(lines.contains { $0.wholeMatch(of: /libgit2 1\.\d+\.\d+/) != nil }, "\(lines)")
    #expect(lines.contains("protocol 2") && lines.contains("merge rules 4"))
    #expect(lines.contains { $0.wholeMatch(of: /zlib 1\.[0-9.]+/) != nil }, "\(lines)")
    // The daemon, or why it cannot be asked.
    #expect(lines.contains { $0.lowercased().hasPrefix("avahi") }, "\(lines)")
    let builtWith = try #require(lines.last)
    #expect(builtWith.hasPrefix("built with "), "\(builtWith)")
    for part in ["libgit2 1.", "OpenSSL 3.", "zlib 1."] { #expect(builtWith.contains(part)) }
    let json = try version("--json")
    #expect(json.hasPrefix(#"{"type":"version","notes":"# + "\""), "\(json)")
    #expect(json.contains(#""openssl":"\#(openssl)""#), "\(json)")
    #expect(json.contains(#""built_with":[{"name":""#), "\(json)")
  }

  /// What scripts/swift says where `swift` is that script.
  private func said(by toolchain: String?) throws -> ProcessResult {
    let folder = try TemporaryFolder()
    try makeFolder(folder["bin"])
    if let toolchain {
      try folder.write("#!/bin/sh\n\(toolchain)\n", to: "bin/swift")
      try run(["chmod", "+x", folder["bin/swift"]]).expectSuccess()
    }
    let result = try run(
      ["\(BuiltBinary.sourceFolder)/scripts/swift", "build"],
      environment: [
        "PATH": "\(folder["bin"]):/usr/bin:/bin", "HOME": folder.path,
        "NOTES_SWIFT_FOLDERS": "",
      ])
    #expect(result.errorText.contains("https://www.swift.org/install/linux/"))
    return result
  }

  @Test func aToolchainThatIsTooOldOrAbsentIsSaid() throws {
    let old = try said(by: "echo 'Swift version 5.10 (swift-5.10-RELEASE)'")
    #expect(old.status == .exited(1))
    #expect(old.errorText.contains("notes needs Swift 6.2 or later; found: swift (5.10)."))
    let none = try said(by: nil)
    #expect(none.status == .exited(1))
    #expect(none.errorText.contains("notes needs Swift 6.2 or later; found: none."))
  }

  @Test func aToolchainThatDoesNotRunSaysWhy() throws {
    let missing =
      "error while loading shared libraries: libncurses.so.6: cannot open shared object file"
    let broken = try said(by: "echo 'swift: \(missing)' >&2; exit 127")
    #expect(broken.status == .exited(1))
    #expect(broken.errorText.contains("It is installed and does not run:"), "\(broken)")
    #expect(broken.errorText.contains("swift --version fails (127):\n  swift: \(missing)\n"))
    #expect(!broken.errorText.contains("found: none"))
  }
}
