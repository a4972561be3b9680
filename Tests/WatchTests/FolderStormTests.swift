import Discovery
import Glibc
import TestSupport
import Testing

@testable import Watch

/// notes-watch(1), "When a version is made", while files and folders are made, moved and removed faster
/// than versions follow: in the end the version is the folder, and git finds no fault with any.
@Suite("A watched folder in a storm", .timeLimit(.minutes(20)))
struct FolderStormTests {
  @Test("whatever is made, moved and removed, the last version is the folder")
  func storm() throws {
    var random = SplitMix64.reported()
    let ada = try Watcher(founding: "Ada", on: InMemoryNetwork())
    let folder = ada.folder["notes"]
    for number in 0..<40 { try ada.write("\(number)\n", to: "\(number).txt") }
    try ada.start()
    #expect(ada.wait { (try? ada.tip()) != nil })
    let folders = ["", "a/", "b/", "a/c/", "new/", "new/d/"]
    func place() -> String {
      folders.randomElement(using: &random).map { folder + "/" + $0 } ?? folder
    }
    for step in 0..<600 {
      let name = "\(Int.random(in: 0..<60, using: &random)).txt"
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: _ = try? writeFile(place() + name, Array("\(step)\n".utf8))
      case 4...6: rename(place() + name, place() + name)
      case 7: unlink(place() + name)
      case 8: rename(place(), place() + "moved")
      // A folder is made and filled at once.
      default:
        mkdir(folder + "/\(step)", 0o755)
        for number in 0..<10 {
          rename(place() + "\(number).txt", folder + "/\(step)/\(number).txt")
        }
      }
    }
    func git(_ words: String...) throws -> ProcessResult { try run(["git"] + words, in: folder) }
    // What deletes most notes would be held back: enough stay.
    for number in 0..<80 { try ada.write("last\n", to: "last \(number).txt") }
    let settled = try ada.wait {
      try git("status", "--porcelain", "--untracked-files=all").text.isEmpty
    }
    let left = try git("status", "--porcelain")
    #expect(settled, "\(left)")
    let files = try git("ls-tree", "-r", "--name-only", "HEAD").lines
    #expect(files.count == Set(files).count)
    let check = try git("fsck", "--strict")
    #expect(check.isSuccess, "\(check)")
  }
}
