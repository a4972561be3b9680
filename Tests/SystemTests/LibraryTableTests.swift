import TestSupport
import Testing

/// Each shim lists the functions of a C library that are loaded; the compiler sees to it that nothing
/// else is called.
@Suite struct LibraryTableTests {
  @Test(
    "A table lists only what is called",
    arguments: [
      ("CLibgit2", "Git"), ("CZlib", "Git"), ("CAvahi", "Discovery"),
      ("COpenSSL", "OpenSSLLoader Git Membership Channel"), ("CLinux", "."),
    ])
  func onlyWhatIsCalled(_ library: String, _ users: String) throws {
    let sources = BuiltBinary.sourceFolder + "/Sources"
    func lines(_ script: String) throws -> Set<String> {
      Set(try run(["bash", "-c", script], in: sources).lines)
    }
    let listed = try lines(
      """
      grep -ohE '\\bF\\([A-Za-z0-9_]+\\)' \(library)/*.h | sed 's/^F.//; s/.$//' | grep -vE '^(name|LIBGIT2_SOVERSION)$'
      grep -ohE 'static inline [^(]*\\(' \(library)/*.h | grep -oE '[a-z0-9_]+\\(' | tr -d '('
      """)
    let called = try lines(
      """
      grep -rohE '[A-Za-z0-9_]+' --include=*.swift \(users) | sort -u
      grep -ohE 'api->[A-Za-z0-9_]+\\(' \(library)/*.h | sed 's/api->//' | tr -d '('
      """)
    #expect(listed.count > 5)
    #expect(listed.subtracting(called).sorted() == [])
  }
}
