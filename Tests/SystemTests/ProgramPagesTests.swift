import Glibc
import System
import TestSupport
import Testing

@Suite("Pages of code")
struct ProgramPagesTests {
  /// Kilobytes of code that this process has mapped: proc(5), smaps.
  private func mapped() throws -> Int {
    var (isCode, sum) = (false, 0)
    for line in String(decoding: try readFile("/proc/self/smaps"), as: UTF8.self)
      .split(separator: "\n")
    {
      let words = line.split(separator: " ")
      if words[0].contains("-") { isCode = words[1] == "r-xp" }
      if isCode, words[0] == "Rss:" { sum += Int(words[1]) ?? 0 }
    }
    return sum
  }

  @Test("are let go of, and come back when they are called")
  func releasePages() throws {
    let before = try mapped()
    ProgramPages.releasePages()
    let after = try mapped()
    #expect(after < before / 2, "\(before) kB, then \(after)")
    #expect([3, 1, 2].sorted() == [1, 2, 3])
  }
}
