import Glibc
internal import TestSupport
import Testing

@testable import Membership

/// notes-security(7), "How strong a code is": the figures, computed.
@Suite("Membership: how strong a code is")
struct CodeStrengthTests {
  @Test("The page's figures follow from the alphabet, the length and scrypt's parameters")
  func figures() throws {
    let page = String(
      decoding: try readFile("\(BuiltBinary.sourceFolder)/man/notes-security.7"), as: UTF8.self)
    let secrets = pow(32.0, 8)
    #expect(secrets == pow(2, 40))
    let (cost, lifetime, year) = (0.1, 600.0, 365.25 * 86_400)
    let memory = 128 * (1 << 15) * 8
    let coreSeconds = secrets / 2 * cost
    let figures: [(text: String, value: Double, computed: Double)] = [
      ("2^40 secrets, about 1.1e12", 1.1e12, secrets),
      ("three tries: 2.7e-12", 2.7e-12, 3 / secrets),
      ("one in 3.7e11", 3.7e11, secrets / 3),
      ("32 MiB of memory", 32, Double(memory >> 20)),
      ("5.5e10 core-seconds", 5.5e10, coreSeconds),
      ("1,700 core-years", 1700, coreSeconds / year),
      ("takes 9e7 cores", 9e7, coreSeconds / lifetime),
      ("46,000 graphics processors", 46_000, secrets / 2 / lifetime / 20_000),
    ]
    let words = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for figure in figures {
      #expect(words.contains(figure.text), "\(figure.text)")
      // As exact as two digits are.
      #expect(abs(figure.value / figure.computed - 1) < 0.05, "\(figure.text)")
    }
  }

  @Test("Every symbol is as likely at every place")
  func evenness() throws {
    var counts = [[Character: Int]](repeating: [:], count: 8)
    let codes = 3_200
    for _ in 0..<codes {
      let secret = try InvitationCode.random().description.dropFirst(3).filter { $0 != "-" }
      #expect(secret.count == 8)
      for (place, symbol) in secret.enumerated() { counts[place][symbol, default: 0] += 1 }
    }
    for place in counts {
      // 100 of each are expected; 7 standard deviations away is one run in 1e9.
      #expect(place.count == 32)
      #expect(place.values.allSatisfy { (30...170).contains($0) }, "\(place)")
    }
  }
}
