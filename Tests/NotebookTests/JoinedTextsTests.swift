import TestSupport
import Testing

@testable import Rewriting

/// notes-forget(1), "Other devices": "learns what was removed there, and removes it from its own history".
@Suite("Two copies of a text of which each lacks something else")
struct JoinedTextsTests {
  private static func rest(_ own: String, _ other: String) -> String? {
    Placeholder.rest(of: Array(own.utf8), and: Array(other.utf8)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  @Test("what either lacks is lacking in what is left, and nothing else")
  func both() throws {
    let gone = Placeholder.text
    #expect(Self.rest("one\n", "one\n") == "one\n")
    #expect(Self.rest("a \(gone)\n", "a b c\n") == "a \(gone)\n")
    #expect(Self.rest("a b c\n", "a \(gone)\n") == "a \(gone)\n")
    #expect(Self.rest("\(gone) and two\n", "one and \(gone)\n") == "\(gone) and \(gone)\n")
    #expect(Self.rest("\(gone)two", "one\(gone)") == "\(gone)\(gone)")
    #expect(Self.rest("one\n", "two\n") == nil)
    #expect(Self.rest("", "two \(gone)") == nil)
  }

  @Test("the same is left whichever went first, wherever they stand")
  func law() throws {
    var random = SplitMix64.reported()
    func word(_ count: ClosedRange<Int>) -> String {
      String(
        (0..<Int.random(in: count, using: &random)).map { _ in
          Character(Unicode.Scalar(UInt8.random(in: 0x61...0x7a, using: &random)))
        })
    }
    for _ in 0..<TestEnvironment.amount(300, inFull: 10_000) {
      let (one, two) = (word(4...9) + "1", word(4...9) + "2")
      let words = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        [one, two, "\n", word(1...6)].randomElement(using: &random) ?? ""
      }
      let text = words.joined(separator: Bool.random(using: &random) ? " " : "")
      let (first, second) = (
        text.replacing(one, with: Placeholder.text), text.replacing(two, with: Placeholder.text)
      )
      let both = first.replacing(two, with: Placeholder.text)
      #expect(Self.rest(first, second) == both, "\(text)")
      #expect(Self.rest(second, first) == both, "\(text)")
    }
  }
}
