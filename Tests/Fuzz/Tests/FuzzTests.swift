import TestSupport
import Testing

/// The inputs of Tests/Fuzz/Corpus and all that fuzzing ever found, and some thousand changes of
/// them; `scripts/fuzz` looks for more.
@Suite("Inputs that others chose")
struct FuzzTests {
  private static let folder = BuiltBinary.sourceFolder + "/Tests/Fuzz"

  private static func inputs(_ kind: String, of target: FuzzTarget) throws -> [[UInt8]] {
    let list = try run(["find", "\(folder)/\(kind)/\(target.rawValue)", "-type", "f"])
    return try list.lines.sorted().map { try readFile($0) }
  }

  @Test("The corpus, and changes of it", arguments: FuzzTarget.allCases)
  func corpus(target: FuzzTarget) throws {
    let inputs = try Self.inputs("Corpus", of: target)
    try #require(!inputs.isEmpty, "Tests/Fuzz/Corpus/\(target.rawValue) is empty")
    var random = SplitMix64.reported()
    for input in inputs { target.run(input) }
    for _ in 0..<1_000 {
      var input = try #require(inputs.randomElement(using: &random))
      for _ in 0..<Int.random(in: 1...8, using: &random) where !input.isEmpty {
        let position = Int.random(in: 0..<input.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: input[position] = UInt8.random(in: 0...255, using: &random)
        case 1: input[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: input.removeSubrange(position..<min(position + 4, input.count))
        default: input.insert(contentsOf: input[position...].prefix(16), at: position)
        }
      }
      target.run(input)
    }
  }

  @Test("What fuzzing found stays mended", arguments: FuzzTarget.allCases)
  func found(target: FuzzTarget) throws {
    for input in try Self.inputs("Found", of: target) { target.run(input) }
  }
}
