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
    let secrets = pow(32.0, 10)
    #expect(secrets == pow(2, 50))
    let lifetime = 600.0
    let memory = Double(128 * (1 << 15) * 8)
    // Every fourth block is written; as many are read as there are blocks.
    let moved = memory / 4 + memory
    let guesses = 4.8e12 / moved
    let figures: [(text: String, value: Double, computed: Double)] = [
      ("2^50 secrets, about 1.1e15", 1.1e15, secrets),
      ("three tries: 2.7e-15", 2.7e-15, 3 / secrets),
      ("one in 3.8e14", 3.8e14, secrets / 3),
      ("128 * N * r = 32 MiB are written", 32, memory / pow(2, 20)),
      ("moves 40 MiB a guess", 40, moved / pow(2, 20)),
      ("saves at most another fifth", 5, moved / (moved - memory)),
      ("114,000 guesses a second", 114_000, guesses),
      ("8.2 million such accelerators", 8.2e6, secrets / 2 / lifetime / guesses),
      ("one in 16,000", 16_000, secrets / (1000 * guesses * lifetime)),
      ("57 days", 57, secrets / 2 / (1000 * guesses) / 86_400),
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
    var counts = [[Character: Int]](repeating: [:], count: 10)
    let codes = 3_200
    for _ in 0..<codes {
      let secret = try InvitationCode.random().description.dropFirst(3).filter { $0 != "-" }
      #expect(secret.count == 10)
      for (place, symbol) in secret.enumerated() { counts[place][symbol, default: 0] += 1 }
    }
    for place in counts {
      // 100 of each are expected; 7 standard deviations away is one run in 1e9.
      #expect(place.count == 32)
      #expect(place.values.allSatisfy { (30...170).contains($0) }, "\(place)")
    }
  }
}
