import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook

/// How a notebook is called here, and where it is.
@Suite("A notebook's identity on this device")
struct IdentityTests {
  @Test(
    "two processes that change it at once take back nothing of each other", .timeLimit(.minutes(2)))
  func atOnce() async throws {
    let home = try Fixture()
    let path = home.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for turn in 0..<2 {
        group.addTask {
          let notebook = try Notebook.open(at: path)
          for number in 1...40 {
            if turn == 0 {
              try notebook.rename(notebook: "Book \(number)")
            } else {
              try notebook.rename(device: "Device \(number)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let identity = try Notebook.open(at: path).identity
    #expect(identity.name == "Book 40")
    #expect(identity.device.name == "Device 40")
  }

  @Test("a folder is listed once, by the ID that it has had last")
  func listedOnce() throws {
    let data = try TemporaryFolder()
    let (home, other) = (try Fixture(), try Fixture())
    try data.write(
      "first \(home.path)\nother \(other.path)\nsecond \(home.path)\nfirst \(home.path)-moved\n",
      to: KnownNotebooks.name)
    let folders = KnownNotebooks(dataFolder: data.path).folders()
    #expect(folders.count { $0 == home.path } == 1)
    #expect(folders.count { $0 == other.path } == 1)
  }
}
