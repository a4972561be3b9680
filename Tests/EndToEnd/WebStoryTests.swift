import TestSupport
import Testing

/// The page in a real browser, at the sizes of a phone and of a desktop.
@Suite struct WebStoryTests {
  @Test func `A browser and a terminal write the same notes`() throws {
    let folder = try TemporaryFolder()
    let result = try run(
      [
        BuiltBinary.sourceFolder + "/scripts/web-story", "--binary", BuiltBinary.notes(),
        "--pictures", folder["pictures"],
      ], within: 900)
    #expect(result.isSuccess, "\(result)")
    let pictures = try run(["find", folder["pictures"], "-name", "*.png", "-size", "+4k"]).lines
    #expect(pictures.count >= 31, "\(pictures)")
  }
}
