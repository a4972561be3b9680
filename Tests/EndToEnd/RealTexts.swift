import TestSupport
import Testing

/// Texts as people write them: the licences and documents of the machine's packages.
enum RealTexts {
  /// Copies up to `limit` of them into `folder` as notes, and returns their paths in it.
  static func copy(into folder: String, limit: Int = 300) throws -> [String] {
    let found = try run([
      "find", "/usr/share/common-licenses", "/usr/share/doc", "-type", "f", "-size", "-64k",
      "-not", "-name", ".*",  // hidden files are not versioned
      "-not", "-name", "*.gz", "-not", "-name", "*.png", "-not", "-name", "*.js",
    ])
    let sources = found.lines.sorted().prefix(limit)
    try #require(sources.count >= 100, "this machine has too few texts in /usr/share/doc")
    return try sources.map { source in
      let note = "\(source.dropFirst("/usr/share/".count)).txt"
      try writeFile("\(folder)/\(note)", try readFile(source))
      return note
    }
  }
}
