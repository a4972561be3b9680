import TestSupport
import Testing

/// notes-security(7), WHAT IS PROMISED: a list of claims. Tests/SecurityClaims.txt names the tests that attack each.
@Suite struct SecurityClaimsTests {
  private let promises: [String]
  private let claims: [(claim: String, tests: [String])]

  init() throws {
    let source = BuiltBinary.sourceFolder
    let page = String(decoding: try readFile(source + "/man/notes-security.7"), as: UTF8.self)
    let start = try #require(page.firstRange(of: "\n.Sh WHAT IS PROMISED\n")).upperBound
    let section = page[start...].prefix(
      upTo: try #require(page[start...].firstRange(of: "\n.El\n")).lowerBound)
    promises = section.split(separator: "\n.It\n").dropFirst().map {
      $0.split(separator: "\n").joined(separator: " ")
    }
    let list = String(decoding: try readFile(source + "/Tests/SecurityClaims.txt"), as: UTF8.self)
    var claims: [(claim: String, tests: [String])] = []
    for line in list.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix(" "), !claims.isEmpty {
        claims[claims.count - 1].tests += line.split(separator: " ").map(String.init)
      } else {
        claims.append((String(line), []))
      }
    }
    self.claims = claims
  }

  @Test("The list has the promises of the page, in its words and order")
  func promisesOfThePage() {
    #expect(promises.count > 50)
    #expect(promises == claims.map(\.claim))
  }

  @Test("Each claim names a test, and each test that is named exists")
  func tests() throws {
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
