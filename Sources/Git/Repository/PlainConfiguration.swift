/// `.git/config` and the files that it includes, read without libgit2. Includes with a condition need libgit2.
struct PlainConfiguration {
  private var values: [String: String?] = [:]

  /// Reads the file; nil if libgit2 must be asked, or if the file cannot be read.
  init?(of gitFolder: String) {
    guard let file = ConfigurationFile.ifReadable(gitFolder + "/config"), file.conditional.isEmpty
    else {
      return nil
    }
    values = Dictionary(file.entries) { $1 }
  }

  /// The last value of `SECTION.NAME` or `SECTION.SUBSECTION.NAME`; the inner value is nil for a
  /// name without a value.
  subscript(name: String) -> String?? {
    guard let first = name.firstIndex(of: "."), let last = name.lastIndex(of: ".") else {
      return nil
    }
    return values[
      name[..<first].lowercased() + name[first...last]
        + name[name.index(after: last)...].lowercased()]
  }
}
