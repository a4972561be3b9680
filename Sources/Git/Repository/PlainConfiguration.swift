/// `.git/config` as far as it can be read without libgit2: it and what it includes, but not under a condition.
struct PlainConfiguration {
  private var values: [String: String?] = [:]

  /// Reads it; nil if libgit2 has to be asked, or the file cannot be read.
  init?(of gitFolder: String) {
    guard let file = ConfigurationFile.ifReadable(gitFolder + "/config"), file.conditional.isEmpty
    else {
      return nil
    }
    values = Dictionary(file.entries) { $1 }
  }

  /// The value of `SECTION.NAME` or `SECTION.SUBSECTION.NAME`, the last one; nil inside if a name has none.
  subscript(name: String) -> String?? {
    guard let first = name.firstIndex(of: "."), let last = name.lastIndex(of: ".") else {
      return nil
    }
    return values[
      name[..<first].lowercased() + name[first...last]
        + name[name.index(after: last)...].lowercased()]
  }
}
