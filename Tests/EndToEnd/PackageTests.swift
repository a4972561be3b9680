import Glibc
import TestSupport
import Testing

/// scripts/package makes what Debian's tools take, of the program that scripts/install built.
@Suite(
  .enabled("only of a program that scripts/install built") {
    TestEnvironment.variable("NOTES_BINARY") != nil
  })
struct PackageTests {
  private func package(in folder: String) throws -> String {
    let result = try run(
      ["\(BuiltBinary.sourceFolder)/scripts/package", folder],
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
    #expect(found.isSuccess && found.text.isEmpty, "\(found)")

    let fields = try run(["dpkg-deb", "--field", package, "Depends", "Recommends"]).text
    for library in [
      "libc6 (>= ", "libgit2-1.", "libssl3", "zlib1g", "avahi-daemon, libavahi-client3",
    ] {
      #expect(fields.contains(library), "\(fields)")
    }

    let listed = try run(["dpkg-deb", "--contents", package]).text
    for path in [
      "usr/bin/notes", "usr/bin/notes-web", "usr/lib/systemd/user/notes-watch.service",
      "usr/share/doc/notes/copyright",
      "usr/share/doc/notes/changelog.gz", "usr/share/doc/notes/README.md",
      "usr/share/man/man1/notes-sync.1.gz", "usr/share/man/man7/notes-protocol.7.gz",
      "usr/share/bash-completion/completions/notes", "usr/share/zsh/vendor-completions/_notes",
      "usr/share/fish/vendor_completions.d/notes.fish",
    ] { #expect(listed.contains("./\(path)\n"), "\(path)") }
    #expect(!listed.contains("/root/") && !listed.contains("/home/"))

    try run(["cmp", package, self.package(in: folder["b"])]).expectSuccess()
  }

  @Test func theProgramSaysWhichLibrariesItLoads() throws {
    let names = try run([
      "\(BuiltBinary.sourceFolder)/scripts/elf-dlopen", try BuiltBinary.notes(),
    ]).text.split(separator: "\n")
    for name in names { #expect(dlopen(String(name), RTLD_NOW) != nil, "\(name)") }
    #expect(names.count == 6)
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
