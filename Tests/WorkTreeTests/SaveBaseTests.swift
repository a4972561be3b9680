import Git
import Glibc
import NotebookSupport
import System
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "The stale editor": a save is made on the newest text that its writer can have had.
@Suite("What a save is made on")
struct SaveBaseTests {
  let home: Fixture
  let other: Fixture
  let loaded = "bread\neggs\nmilk\nsalt\ntea\nwine\n"

  init() throws {
    home = try Fixture()
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  private func receive(_ text: String) throws {
    try other.write("n.txt", text)
    _ = try other.notebook.save()
    try home.receive(from: other)
  }

  /// Saves as editors do that put another file in the note's place.
  private func replace(_ text: String) throws {
    try home.write("new.tmp", text)
    #expect(rename(home.path + "/new.tmp", home.path + "/n.txt") == 0)
  }

  @Test func `Who changes the very line that came, and has not read it, takes nothing back`() throws
  {
    try receive("bread\n12 eggs\nmilk\nsalt\ntea\nwine\npills\n")
    home.seconds.now += 60
    try home.write("n.txt", "bread\nbrown eggs\nmilk\nsalt\ntea\nwine\n")
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.unread])
    #expect(
      saved.news
        == [SaveNews(path: "n.txt", kind: .merged, lines: 0, devices: ["Bob"])])
    let text = try #require(try home.read("n.txt"))
    for word in ["12", "brown", "pills"] { #expect(text.contains(word), "\(text)") }
    let edit = try home.notebook.history.version(named: "~0", of: "n.txt", isByPerson: true)
    #expect(edit.message.contains("\nNotes-Edited-On: "))
  }

  @Test func `An editor that saves twice takes nothing back`() throws {
    try receive(loaded + "pills\n")
    let mine = loaded.replacing("salt", with: "sea salt")
    for _ in 0..<3 {
      try home.write("n.txt", mine)
      _ = try home.notebook.save()
      #expect(
        try String(decoding: home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
          == mine + "pills\n")
    }
    // Its next edit of its own line is none of two.
    try home.write("n.txt", mine.replacing("sea salt", with: "rock salt"))
    _ = try home.notebook.save()
    #expect(try home.notebook.history.conflicts().isEmpty)
    try home.write("n.txt", mine)
    _ = try home.notebook.save()
    // And what comes between two of its saves.
    try receive("bread\neggs\nmilk\nsalt\ntea\nred wine\npills\n")
    try replace(mine.replacing("bread", with: "rye bread"))
    let saved = try home.notebook.save()
    let text = try home.read("n.txt")
    #expect(
      text == "rye bread\neggs\nmilk\nsea salt\ntea\nred wine\npills\n",
      "\(text ?? "") \(saved.remarks)")
  }

  // "notes itself does not change the access time when it reads, unless it shows a note to a person."
  @Test func `Who was shown a note by notes has read it`() throws {
    try receive(loaded + "pills\n")
    home.notebook.workTree.markRead("n.txt")
    try home.write("n.txt", loaded.replacing("milk", with: "oat milk"))
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == loaded.replacing("milk", with: "oat milk"))
  }

  @Test func `Who has read what came and takes it away is obeyed at once`() throws {
    for number in 1...4 {
      try receive(loaded + "pills \(number)\n")
      #expect(try home.read("n.txt") == loaded + "pills \(number)\n")
      let mine = loaded.replacing("milk", with: "milk \(number)")
      try home.write("n.txt", mine)
      let saved = try home.notebook.save()
      #expect(saved.remarks.map(\.evidence) == [.read])
      #expect(
        saved.news
          == [SaveNews(path: "n.txt", kind: .tookAway, lines: 1, devices: ["Bob"])])
      #expect(try home.read("n.txt") == mine)
      try home.write("n.txt", loaded)
      _ = try home.notebook.save()
      try other.receive(from: home)
    }
  }

  @Test func `What an editor was given counts, whatever read the file since`() throws {
    let run = try #require(home.notebook.beginEdit(of: ["n.txt"]))
    try receive(loaded + "pills\n")
    #expect(try home.read("n.txt") == loaded + "pills\n")
    try home.write("n.txt", loaded.replacing("milk", with: "oat milk"))
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.edit])
    let merged = loaded.replacing("milk", with: "oat milk") + "pills\n"
    #expect(try home.read("n.txt") == merged)
    // Somebody else's save, with all that came, is a save of the present text.
    try replace(merged + "honey\n")
    #expect(try home.notebook.save().remarks.map(\.evidence) == [.kept])
    withExtendedLifetime(run) {}
  }

  @Test func `A lock file older than what came tells an older text`() throws {
    let process = UInt32(getpid())
    let number = (0..<4).map { UInt8(truncatingIfNeeded: process >> ($0 * 8)) }
    try writeFile(
      home.path + "/.n.txt.swp", Array("b0".utf8) + [UInt8](repeating: 0, count: 22) + number)
    try receive(loaded + "pills\n")
    try replace("bread\neggs\nmilk\nsalt\ntea\nwine\nvinegar\n")
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.lock])
    let text = try #require(try home.read("n.txt"))
    #expect(text.contains("pills") && text.contains("vinegar"))
  }

  /// The table in notes-merge(7): nothing is known of a file that another was put in the place of.
  @Test func `Without any sign the lines tell`() throws {
    try receive("bread\n12 eggs\nmilk\nsalt\ntea\nwine\npills\n")
    try replace(loaded.replacing("tea", with: "green tea"))
    #expect(try home.notebook.save().remarks.map(\.evidence) == [.lines])
    #expect(try home.read("n.txt") == "bread\n12 eggs\nmilk\nsalt\ngreen tea\nwine\npills\n")
    // A word that came is in it: its writer had the new text.
    try receive("bread\n12 eggs\nmilk\nsalt\ntea\nwine\npills\nhoney\n")
    try replace("bread\n12 brown eggs\nmilk\nsalt\ngreen tea\nwine\npills\nhoney\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt")?.contains("12 brown eggs\n") == true)
    #expect(try home.notebook.history.conflicts().isEmpty)
  }

  // notes-merge(7): "A file that was made later and only has the same number does not count."
  @Test func `A file that got the number of one that left tells nothing`() throws {
    let path = home.path + "-open"
    try writeFile(path, [])
    let reader = try RunningProcess(["sh", "-c", "exec 3<\"$1\"; echo open; read line", "sh", path])
    #expect(try reader.line() == "open")
    var status = stat()
    #expect(stat(path, &status) == 0)
    let (number, now) = (UInt64(status.st_ino), WallClock.precise.nanoseconds)
    func isOpen(left: Int64) -> Bool {
      !OpenFiles.open(among: [number: left], on: status.st_dev).isEmpty
    }
    #expect(!isOpen(left: now - 10_000_000_000) && isOpen(left: now + 10_000_000_000))
    #expect(!isOpen(left: now))
    // Without a name it is the file itself that left.
    #expect(unlink(path) == 0)
    #expect(isOpen(left: now) && !isOpen(left: now - 10_000_000_000))
    reader.closeInput()
  }

  @Test func `A program that has the older file open tells an older text`() throws {
    let reader = try RunningProcess(
      ["sh", "-c", "exec 3<n.txt; echo open; read line"], in: home.path)
    #expect(try reader.line() == "open")
    try receive(loaded + "pills\n")
    try replace("bread\neggs\nmilk\nsalt\ntea\nwine\nvinegar\n")
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.descriptor])
    let text = try #require(try home.read("n.txt"))
    #expect(text.contains("pills") && text.contains("vinegar"))
    #expect(reader.isRunning)
    reader.closeInput()
  }

  /// "Compared as it is, so a clock that jumps tells nothing wrong."
  @Test(arguments: [-7_200, 7_200]) func `A read counts whatever the clock says`(jump: Int) throws {
    try receive(loaded + "pills\n")
    var status = stat()
    #expect(lstat(home.path + "/n.txt", &status) == 0)
    // A program reads the file after the clock was set.
    let read = timespec(tv_sec: status.st_mtim.tv_sec + jump, tv_nsec: 5)
    #expect(utimensat(AT_FDCWD, home.path + "/n.txt", [read, status.st_mtim], 0) == 0)
    try home.write("n.txt", loaded.replacing("milk", with: "oat milk"))
    _ = try home.notebook.save()
    // "One that is dated after the save may have come after it, and tells nothing."
    let taken = jump < 0 ? "" : "pills\n"
    #expect(try home.read("n.txt") == loaded.replacing("milk", with: "oat milk") + taken)
  }

  /// "A program such as cp -p or touch may have set both times."
  @Test(arguments: [
    "cp -p old n.txt", "cp old n.txt; touch -d '1 hour ago' n.txt", "touch -m old; cp -p old n.txt",
  ])
  func `Times that a program set are no read`(writing: String) throws {
    let mine = loaded.replacing("milk", with: "oat milk")
    try home.write("old", mine)
    _ = try run(["touch", "-d", "2 hours ago", home.path + "/old"])
    try receive(loaded + "pills\n")
    _ = try run(["sh", "-c", writing], in: home.path)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == mine + "pills\n")
  }

  /// "Of what came outside of them": a settled conflict has it.
  @Test func `An older text is none that settles a conflict`() throws {
    for (device, word) in [(home, "by Ada"), (other, "by Bob")] {
      try device.write("n.txt", loaded.replacing("eggs", with: word))
      _ = try device.notebook.save()
    }
    let mine = loaded.replacing("eggs", with: "by Ada")
    try receive(loaded.replacing("eggs", with: "by Bob") + "pills\n")
    #expect(try home.read("n.txt")?.contains("<<<<") == true)
    try replace(mine)
    let saved = try home.notebook.save()
    #expect(saved.news.map(\.kind) == [.merged])
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    for line in ["by Ada", "by Bob", "pills"] { #expect(text.contains(line), "\(text)") }
    // Who settles it has what came outside of the block.
    try replace(mine + "pills\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == mine + "pills\n")
    #expect(try home.notebook.history.conflicts().isEmpty)
  }

  /// "If an editor saves its own text once more, both texts stay."
  @Test(arguments: [true, false]) func `An editor's own text once more keeps a new conflict`(
    wasRead: Bool
  ) throws {
    for (device, word) in [(home, "by Ada"), (other, "by Bob")] {
      try device.write("n.txt", loaded.replacing("eggs", with: word))
      _ = try device.notebook.save()
    }
    let mine = loaded.replacing("eggs", with: "by Ada")
    try home.receive(from: other)
    #expect(try home.read("n.txt")?.contains("<<<<") == true)
    if wasRead {
      home.notebook.workTree.markRead("n.txt")
      try home.write("n.txt", mine)
    } else {
      try replace(mine)
    }
    _ = try home.notebook.save()
    #expect(try home.notebook.history.conflicts().isEmpty == wasRead)
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    #expect(wasRead ? text == mine : text.contains("by Ada") && text.contains("by Bob"))
  }

  /// Of two texts that tell as much: "of equals, the newest written here, or else the oldest".
  @Test func `Who takes away all that was held takes away nothing that came`() throws {
    try home.write("n.txt", "w\n")
    _ = try home.notebook.save()
    try other.receive(from: home)
    for text in ["a\nw\nb\n", "a\nw\nb\nc\n"] {
      try other.write("n.txt", text)
      _ = try other.notebook.save()
      try home.receive(from: other)
    }
    try replace("")
    _ = try home.notebook.save()
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    for line in ["a\n", "b\n", "c\n"] { #expect(text.contains(line), "\(text)") }
  }

  /// An editor of each way to write loses nothing of three edits at once, with one of its own in a fourth place
  /// or in one of these.
  @Test(arguments: [true, false], ["bread", "eggs", "tea"])
  func `Three edits that came stay, whatever line is changed`(inPlace: Bool, word: String) throws {
    try receive("rye bread\n12 eggs\nmilk\nsalt\ntea\nwine\npills\n")
    let mine = loaded.replacing(word, with: "my \(word)")
    if inPlace { try home.write("n.txt", mine) } else { try replace(mine) }
    _ = try home.notebook.save()
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    for word in ["rye", "12", "pills", "my \(word)"] { #expect(text.contains(word), "\(text)") }
    // One's own line alone is in nobody's way.
    #expect(word != "tea" || !text.contains("<<<<"), "\(text)")
    try other.receive(from: home)
    #expect(try other.read("n.txt") == text)
  }

  /// Windows' line ends, which are no edits.
  @Test func `An editor that writes other line ends takes nothing back`() throws {
    try receive(loaded + "pills\n")
    let mine = loaded.replacing("salt", with: "sea salt").replacing("\n", with: "\r\n")
    try home.write("n.txt", mine)
    _ = try home.notebook.save()
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    #expect(
      text.contains("pills") && text.contains("sea salt") && !text.contains("<<<<"), "\(text)")
  }

  /// What the other device deletes while an editor has it open comes back with the editor's text.
  @Test func `A note that the other device deletes meanwhile keeps what the editor writes`() throws
  {
    try other.remove("n.txt")
    _ = try other.notebook.save()
    try home.copyObjects(from: other)
    _ = try home.notebook.merge(
      other.notebook.state().heads, options: MergeOptions(allowsMassDeletion: true))
    #expect(try home.read("n.txt") == nil)
    try home.write("n.txt", loaded + "vinegar\n")
    _ = try home.notebook.save()
    try other.receive(from: home)
    for device in [home, other] { #expect(try device.read("n.txt") == loaded + "vinegar\n") }
  }

  /// "What a checkout brought": also one of `notes undo` on this device.
  @Test func `Undo under an open editor is a change that came`() throws {
    try home.write("n.txt", loaded + "pills\n")
    _ = try home.notebook.save()
    // The editor has loaded that; another program undoes it.
    _ = try home.notebook.undo()
    try home.write("n.txt", loaded.replacing("salt", with: "sea salt") + "pills\n")
    _ = try home.notebook.save()
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    #expect(text == loaded.replacing("salt", with: "sea salt"), "\(text)")
  }

  /// The same text twice, with another between: the editor holds the first.
  @Test func `A text that comes twice is one text`() throws {
    for text in [loaded + "pills\n", loaded, loaded + "pills\n"] {
      try receive(text)
      #expect(try home.read("n.txt") == text)
      // Only that device has written.
      try other.receive(from: home)
    }
    try replace(loaded.replacing("salt", with: "sea salt"))
    _ = try home.notebook.save()
    let text = String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self)
    #expect(text == loaded.replacing("salt", with: "sea salt") + "pills\n")
  }
}
