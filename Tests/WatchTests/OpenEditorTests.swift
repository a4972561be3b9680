import TestSupport
import Testing

/// notes-merge(7), "The stale editor": editors that have a note open beside a watcher.
@Suite("Editors beside a watcher", .serialized, .timeLimit(.minutes(20)))
struct OpenEditorTests {
  @Test(arguments: RealEditor.played)
  func `Saves without a look at what came lose nothing`(editor: RealEditor) throws {
    try EditorStory.attempts { try play(editor) }
  }

  private func play(_ editor: RealEditor) throws {
    let network = InMemoryNetwork()
    let ada = try Watcher(founding: "Ada", on: network)
    let bob = try Watcher("Bob", certifiedBy: ada)
    try ada.write(EditorStory.start, to: "n.txt")
    for device in [ada, bob] { try device.start() }
    var story: EditorStory?
    // It holds what holds it: the watchers would outlive the test, and the libraries that they use.
    defer { story = nil }
    let note = { try story?.text() ?? "" }
    func demand(_ holds: Bool, _ what: String) throws {
      guard holds else { throw EditorStory.Broken(description: what) }
    }
    story = EditorStory(in: ada.folder["notes"], home: ada.folder["home"]) { _ in
      true
    } receive: { text in
      try bob.write(text, to: "n.txt")
      let hasCome = try ada.wait { try note() == text && ada.tip() == bob.tip() }
      try demand(hasCome, "what the other device wrote has not come")
    } settle: { isSettled in
      // A text that has all lines at once is no version yet: both have the same then as well.
      let hasSettled = try ada.wait(20) {
        try isSettled(note()) && ada.tip() == bob.tip() && note() == bob.text("n.txt")
      }
      try demand(hasSettled, "the devices do not come to one text")
    }
    let isThere = bob.wait { (try? bob.text("n.txt")) == EditorStory.start }
    try demand(isThere, "the note has not come")
    try story?.play(editor)
  }
}
