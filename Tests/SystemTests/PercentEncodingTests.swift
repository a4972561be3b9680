import System
import Testing

/// RFC 3986, section 2.
@Suite struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("Rome-2026_a.b~c", "Rome-2026_a.b~c"), ("a b/é", "a%20b%2F%C3%A9"), ("%+", "%25%2B"),
  ])
  func `A text comes back from its escapes`(text: String, encoded: String) {
    #expect(text.percentEncoded == encoded)
    #expect(String(percentEncoded: Array(encoded.utf8)) == text)
    #expect(String(percentEncoded: Array(encoded.lowercased().utf8)) == text.lowercased())
  }

  @Test(arguments: ["%", "a%2", "%2", "%g0", "%%20", "%C3", "%FF"])
  func `Broken escapes and broken text are refused`(text: String) {
    #expect(String(percentEncoded: Array(text.utf8)) == nil)
  }
}
