import FoundationEssentials
import TestSupport

/// The tests that there are.
enum TestNames {
  /// `Suite.function` for each function of each type in the tests' files, by the files that declare or extend it.
  static func functions() throws -> Set<String> {
    var functions: Set<String> = []
    let tests = BuiltBinary.sourceFolder + "/Tests"
    for file in try FileManager.default.subpathsOfDirectory(atPath: tests)
    where file.hasSuffix(".swift") {
      let text = String(decoding: try readFile("\(tests)/\(file)"), as: UTF8.self)
      let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
      let names = zip(words, words.dropFirst()).filter { $0.0 == "func" }.map(\.1)
      for (kind, name) in zip(words, words.dropFirst())
      where ["struct", "class", "extension", "enum"].contains(kind) {
        functions.formUnion(names.map { "\(name).\($0)" })
      }
    }
    return functions
  }
}
