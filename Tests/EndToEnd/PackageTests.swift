import Glibc
import TestSupport
import Testing

/// scripts/package makes what Debian's tools take, of the program that scripts/install built.
@Suite(
  .enabled("only of a program that scripts/install built") {
    TestEnvironment.variable("NOTES_BINARY") != nil
  })
struct PackageTests {
  private func package(_ options: String..., in folder: String) throws -> String {
    let result = try run(
      ["\(BuiltBinary.sourceFolder)/scripts/package"] + options + [folder],
      environment: [
        "NOTES_BINARY": try BuiltBinary.notes(), "HOME": folder,
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        // xz is slow at its best, and is not what is tested here.
        "SOURCE_DATE_EPOCH": "1795000000", "DPKG_DEB_COMPRESSOR_LEVEL": "0",
      ], within: 900)
    try #require(result.isSuccess, "\(result)")
    return result.text.split(separator: "\n").last.map(String.init) ?? ""
  }

  @Test func aPackageIsWhatDebiansToolsTake() throws {
    let folder = try TemporaryFolder()
    let package = try package(in: folder["a"])

    let found = try run(
      ["lintian", "--allow-root", "--fail-on", "error,warning", package],
      environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"])
    // A newer appstreamcli(1) wants the address of a home page, and the project has none.
    let others = found.lines.filter { !$0.contains("appstream-metadata-validation-failed") }
    #expect((found.isSuccess || found.lines.count == 1) && others.isEmpty, "\(found)")

    let fields = try run(["dpkg-deb", "--field", package, "Depends", "Recommends"]).text
    for library in [
      "libc6 (>= ", "libgit2-1.5", "libgit2-1.7", "libgit2-1.8", "libgit2-1.9",
      "libssl3 | libssl3t64", "zlib1g", "libqrencode4", "avahi-daemon, libavahi-client3",
    ] {
      #expect(fields.contains(library), "\(fields)")
    }
    #expect(fields.contains(/(libgit2-1\.\d( \| )?){5},/), "\(fields)")

    let listed = try run(["dpkg-deb", "--contents", package]).text
    for path in [
      "usr/bin/notes", "usr/bin/notes-web", "usr/lib/systemd/user/notes-watch.service",
      "usr/share/doc/notes/copyright", "usr/share/doc/notes/NOTICE",
      "usr/share/doc/notes/notes.spdx.json", "usr/share/applications/notes-web.desktop",
      "usr/share/doc/notes/changelog.gz", "usr/share/doc/notes/README.md",
      "usr/share/man/man1/notes-sync.1.gz", "usr/share/man/man7/notes-protocol.7.gz",
      "usr/share/bash-completion/completions/notes", "usr/share/zsh/vendor-completions/_notes",
      "usr/share/fish/vendor_completions.d/notes.fish",
    ] { #expect(listed.contains("./\(path)\n"), "\(path)") }
    #expect(!listed.contains("/root/") && !listed.contains("/home/"))

    try run(["cmp", package, self.package(in: folder["b"])]).expectSuccess()
  }

  @Test func aTarballRunsFromAnyFolder() throws {
    let folder = try TemporaryFolder()
    let tarball = try package("--tarball", in: folder["a"])
    try run(["cmp", tarball, self.package("--tarball", in: folder["b"])]).expectSuccess()

    let place = folder["some where"]
    try makeFolder(place)
    try run(["tar", "--extract", "--strip-components=1", "--file", tarball, "-C", place])
      .expectSuccess()
    let environment = try TestEnvironment.isolated(home: folder["home"])
    let told = try run(["\(place)/bin/notes", "--version"], environment: environment)
    #expect(told.text == (try run([BuiltBinary.notes(), "--version"]).text))
    // systemd finds the program from where the unit is.
    let unit = "\(place)/share/systemd/user/notes-watch.service"
    #expect(try folder.text("some where/share/systemd/user/notes-watch.service").contains("%Y/"))
    try makeFolder(folder["run"])
    let check = try run(
      ["systemd-analyze", "verify", "--user", "--man=no", unit],
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder["run"]])
    #expect(check.isSuccess && check.errorText.isEmpty, "\(check)")
  }

  /// SPDX 2.3: the SBOM names what the build's record names, and where each part is.
  @Test func theProgramsSayWhatIsInside() throws {
    let program = try BuiltBinary.notes()
    let web = program + "-web"
    let script = "\(BuiltBinary.sourceFolder)/scripts/sbom"
    let made = try run([script, program, web])
    try #require(made.isSuccess, "\(made)")
    let check = """
      import json, sys
      sbom = json.load(sys.stdin)
      names = {package["SPDXID"]: package["name"] for package in sbom["packages"]}
      assert sbom["spdxVersion"] == "SPDX-2.3" and len(names) == len(sbom["packages"])
      for relation in sbom["relationships"]:
          one, other = relation["spdxElementId"], relation["relatedSpdxElement"]
          if relation["relationshipType"] == "DESCRIBES": assert one == "SPDXRef-DOCUMENT"
          else: print(names[one], names[other])
      """
    let parts = try run(["python3", "-c", check], input: made.output)
    try #require(parts.isSuccess, "\(parts)")
    for part in [
      "notes swift", "notes swift-argument-parser", "notes-web swift-nio", "notes-web llhttp",
      "notes libqrencode", "notes-web libqrencode", "notes libgit2",
    ] { #expect(parts.lines.contains(part), "\(part)") }
    #expect(!parts.lines.contains("notes swift-nio"))

    let told = try run([program, "--version", "--verbose"]).text
    #expect(told.contains(/built with swift \d/) && told.contains(/swift-nio \d/), "\(told)")
    #expect(told.contains(/^notes \d+\.\d+\.\d+(-dev \([0-9a-f]{10}.*\))?\n/), "\(told)")
  }

  @Test func theProgramSaysWhichLibrariesItLoads() throws {
    let names = try run([
      "\(BuiltBinary.sourceFolder)/scripts/elf-dlopen", try BuiltBinary.notes(),
    ]).text.split(separator: "\n")
    for library in names {
      let one = library.split(separator: " ").contains { dlopen(String($0), RTLD_NOW) != nil }
      #expect(one, "\(library)")
    }
    #expect(names.count == 7)
    // The one that it was built with comes first.
    let libgit2 = (5...9).map { "libgit2.so.1.\($0)" }
    #expect(names.contains { $0.split(separator: " ").map(String.init).sorted() == libgit2 })
  }

  /// What checksec and hardening-check(1) look for.
  @Test func theProgramIsHardened() throws {
    let program = try BuiltBinary.notes()
    let headers = try run([
      "readelf", "--wide", "--file-header", "--segments", "--dynamic", program,
    ])
    .text.split(separator: "\n")
    #expect(headers.contains { $0.contains("Type:") && $0.contains("DYN") })
    #expect(headers.contains { $0.contains("GNU_RELRO") })
    #expect(headers.contains { $0.contains("GNU_STACK") && $0.contains(" RW ") })
    #expect(headers.contains { $0.contains("(FLAGS") && $0.contains("NOW") })
    #expect(headers.contains { $0.contains("(RELR)") })
    #expect(!headers.contains { $0.contains("LOAD") && $0.contains("RWE") })
    #expect(!headers.contains { $0.contains("RPATH") || $0.contains("RUNPATH") })
    // No path of the machine it was built on.
    let paths = try run(["grep", "-c", "--text", BuiltBinary.sourceFolder, program])
    #expect(paths.text == "0\n")
  }
}
