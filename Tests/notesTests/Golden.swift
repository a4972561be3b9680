import TestSupport
import Testing

@testable import notes

/// Text that is kept in a file beside the tests, so that a change of any output is seen in review.
///
/// With NOTES_RECORD=1 the files are written instead of compared, but not where CI is set: there,
/// nobody sees the change. A missing file is a failure.
enum Golden {
  /// Compares a text with the file of that name in Tests/Golden.
  static func expect(
    _ text: String, matches name: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let path = BuiltBinary.sourceFolder + "/Tests/Golden/" + name
    if TestEnvironment.variable("NOTES_RECORD") == "1" {
      try #require(TestEnvironment.variable("CI") == nil, sourceLocation: location)
      try writeFile(path, Array(text.utf8))
      return
    }
    let expected = try? String(decoding: readFile(path), as: UTF8.self)
    if expected != text {
      Issue.record(
        """
        \(name) differs. If the new output is right: NOTES_RECORD=1 scripts/test --filter notesTests
        --- expected
        \(expected ?? "(no such file)")
        --- found
        \(text)
        """, sourceLocation: location)
    }
  }
}

extension Golden {
  /// Compares what three screens show: 80 columns, the same in colour, and 40 columns.
  static func screens(_ name: String, _ text: (Terminal) throws -> String) throws {
    try expect(text(.screen()), matches: "\(name).txt")
    try expect(text(.screen(colour: true)), matches: "\(name)-colour.txt")
    try expect(text(.screen(40)), matches: "\(name)-40.txt")
  }

  /// JSON Lines.
  static func lines(_ values: some Sequence<JSON>) -> String {
    values.map { $0.text + "\n" }.joined()
  }
}

extension Terminal {
  /// A file or a pipe: full lines, no colour.
  static let plain = Terminal(isInteractive: false, width: nil, usesColour: false)

  /// Somebody's terminal, with and without colour.
  static func screen(_ width: Int = 80, colour: Bool = false) -> Terminal {
    Terminal(isInteractive: true, width: width, usesColour: colour)
  }
}
