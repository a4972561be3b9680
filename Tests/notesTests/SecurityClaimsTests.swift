import TestSupport
import Testing

/// notes-security(7), WHAT IS PROMISED: a table of claims, each with the tests that attack it.
@Suite struct SecurityClaimsTests {
  private let claims: [(claim: String, tests: [String])]

  init() throws {
    let page = String(
      decoding: try readFile(BuiltBinary.sourceFolder + "/man/notes-security.7"), as: UTF8.self)
    let start = try #require(page.firstRange(of: "\n.Sh WHAT IS PROMISED\n")).upperBound
    let section = page[start...].prefix(
      upTo: page[start...].firstRange(of: "\n.Sh ")?.lowerBound ?? page.endIndex)
    var claims: [(claim: String, tests: [String])] = []
    for line in section.split(separator: "\n") {
      if line.hasPrefix(".It ") {
        claims.append((String(line.dropFirst(4)), []))
      } else if line.hasPrefix(".Li "), !claims.isEmpty {
        let names = line.dropFirst(4).split(separator: " ").filter { $0 != "," }
        claims[claims.count - 1].tests += names.map(String.init)
      }
    }
    self.claims = claims
  }

  @Test("Each claim names a test, and each test that is named exists")
  func tests() throws {
    #expect(claims.count > 50)
    let functions = try TestNames.functions()
    for (claim, tests) in claims {
      #expect(!tests.isEmpty, "no test: \(claim)")
      for test in tests {
        let isKnown = functions.contains(test)
        #expect(isKnown, "\(test) is no test: \(claim)")
      }
    }
  }
}
