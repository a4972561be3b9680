import Testing

@testable import Git

/// What git, and a server behind it, writes while it works.
@Suite struct GitProgressTests {
  @Test func `Objects and bytes are read as git tells them`() {
    var progress = GitProgress()
    progress.read(Array("Receiving objects:  45% (9/20), 1.20 MiB | 3.00 MiB/s\r".utf8))
    #expect((progress.done, progress.total, progress.bytes) == (9, 20, 1_258_291))
  }

  // A server's own lines come without any mark of where they are from.
  @Test(arguments: ["nan", "inf", "-1", "1e300", "-1e300", "9223372036854775807"])
  func `A server that names wild numbers is no harm`(number: String) {
    var progress = GitProgress()
    progress.read(
      Array("Receiving objects:   1% (9223372036854775807/2), \(number) GiB | x\n".utf8))
    #expect(progress.bytes >= 0)
  }
}
