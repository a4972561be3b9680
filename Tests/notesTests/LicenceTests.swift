import TestSupport
import Testing

/// What is inside the programs is named, with its licence: contrib/debian/copyright, contrib/NOTICE and
/// the SBOM of scripts/sbom.
@Suite struct LicenceTests {
  private func text(_ path: String) throws -> String {
    String(decoding: try readFile("\(BuiltBinary.sourceFolder)/\(path)"), as: UTF8.self)
  }

  @Test func `Each Swift package that is built in is named, and its notice passed on`() throws {
    let packages = try run(["ls", "\(BuiltBinary.sourceFolder)/.build/checkouts"]).lines
    try #require(packages.count > 5, "\(packages)")
    let copyright = try text("contrib/debian/copyright")
    let notice = try text("contrib/NOTICE")
    let script = try text("scripts/sbom")
    for package in packages {
      #expect(copyright.contains("\nFiles: \(package)/*\n"), "\(package)")
      #expect(script.contains("\n    \"\(package)\": ("), "\(package)")
      if let own = try? text(".build/checkouts/\(package)/NOTICE.txt") {
        #expect(notice.contains(own), "\(package)")
      }
    }
  }

  @Test func `Each licence that is named has its text`() throws {
    let lines = try text("contrib/debian/copyright").split(separator: "\n")
    let licences = lines.filter { $0.hasPrefix("License: ") }
    for licence in Set(licences) {
      // Once with the text, that is, indented lines behind it.
      let places = lines.indices.filter {
        lines[$0] == licence && $0 + 1 < lines.count && lines[$0 + 1].hasPrefix(" ")
      }
      #expect(places.count == 1, "\(licence)")
    }
  }
}
