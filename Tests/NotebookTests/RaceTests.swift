import Git
import Glibc
import History
import NotebookSupport
import Synchronization
import TestSupport
import Testing

@testable import Merge
@testable import Notebook

/// Design, promise 1: "Remote changes never overwrite bytes that are not in history yet." Somebody
/// saves a note again and again, at any instant of the exchange, while changes of the same note come
/// from elsewhere.
@Suite("A note saved continuously while remote changes of it arrive", .serialized)
struct RaceTests {
  /// How a program saves.
  enum Style: CaseIterable, CustomTestStringConvertible {
    /// A new file, then a rename over the old one.
    case rename
    /// Truncated and written in three pieces.
    case inPlace
    /// A line added at the end with one write(2).
    case append

    var testDescription: String { "\(self)" }
  }

  /// "All generations that were fully written are in history": those that stood there whole until a
  /// save looked, whatever was under way when they were written. "A reader never sees a partial one":
  /// but for what a program that writes in place shows of its own accord, a beginning of its text.
  @Test("no generation is lost, and nobody reads half a note", arguments: Style.allCases)
  func race(_ style: Style) throws {
    var random = SplitMix64.reported(for: "race \(style)")
    let home = try Fixture()
    let other = try Fixture(device: "Bob")
    try home.write("n.txt", Self.text(generation: 0))
    _ = try home.notebook.save()
    try Self.send(from: home, to: other)
    let writer = Writer(style: style, path: home.path + "/n.txt")
    let reader = Reader(path: home.path + "/n.txt")
    let looks = EventLog<Bool>()
    let over = EventLog<Bool>()
    let writing = EventLog<Bool>()
    let reading = EventLog<Bool>()
    let seed = random.next()
    startThread {
      var pauses = SplitMix64(seed: seed)
      while over.all.isEmpty {
        // Any instant of the exchange.
        _ = over.wait(within: .random(in: 0..<0.02, using: &pauses)) { !$0.isEmpty }
        writer.write()
        // What stands there until a save has looked must not be lost; the next one comes at once.
        let seen = looks.all.count
        _ = looks.wait(within: 360) { $0.count >= seen + 2 }
      }
      writing.append(true)
    }
    startThread {
      while over.all.isEmpty {
        reader.read()
        // Others have to run, too, on few processors.
        sched_yield()
      }
      reading.append(true)
    }
    // As many as a machine with nothing else to do makes in about two seconds.
    let end = Moment.now + 360
    var rounds = 0
    while writer.count.load(ordering: .relaxed) < 15, Moment.now < end {
      rounds += 1
      try Self.editMiddle(of: other, "remote \(rounds)")
      _ = try other.notebook.save()
      try Self.send(from: other, to: home)
      looks.append(true)
      try Self.send(from: home, to: other)
    }
    over.append(true)
    looks.close()
    #expect(writing.wait { !$0.isEmpty })
    #expect(reading.wait { !$0.isEmpty })
    _ = try home.notebook.save()
    let history = try Self.texts(of: "n.txt", in: home.notebook)
    let lost = writer.written.filter { generation in
      style == .append
        ? !history.contains { $0.contains(generation) } : !history.contains(generation)
    }
    print(
      "race \(style): \(rounds) rounds, \(writer.written.count) generations,"
        + " \(history.count) texts in history, \(reader.reads) reads")
    #expect(lost.isEmpty, "\(lost.count) lost, the first: \(lost.first ?? "")")
    // A machine that is busy with something else gets less far before the deadline.
    #expect(writer.written.count >= 3)
    // "In place" means that: what the writer has not written yet is not there, for whoever reads the
    // note and for a save that looked then, whose text may stand on one side of a conflict.
    let isBeginning = { (text: String) in writer.written.contains { $0.hasPrefix(text) } }
    let partial = reader.partial.filter { text in
      guard style == .inPlace, !isBeginning(text) else { return style != .inPlace }
      let sides = MarkedText(Array(text.utf8), markerSize: MarkedText.smallestMarkerSize)
        .blocks.joined().map { String(decoding: $0.text, as: UTF8.self) }
      return sides.isEmpty || !sides.allSatisfy { Self.isWhole($0) || isBeginning($0) }
    }
    #expect(partial.isEmpty, "\(partial.count) partial texts, one: \(partial.first ?? "")")
  }

  // MARK: The note

  /// A text of 500 lines, of which the first and the last stay as they are.
  static func text(generation: Int) -> String {
    let lines = (1...250).map { "a line that stays, number \($0)\n" }.joined()
    let mark = "generation \(generation)\n"
    return "begin\n\(mark)\(lines)middle\n\(lines)\(mark)end\n"
  }

  /// Whether nothing of a note is missing that everybody leaves in it.
  static func isWhole(_ text: String) -> Bool {
    text.hasPrefix("begin\n") && text.contains("end\n") && text.hasSuffix("\n")
  }

  private static func editMiddle(of fixture: Fixture, _ line: String) throws {
    let text = try fixture.read("n.txt") ?? ""
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0 == "middle" || $0.hasPrefix("remote ") ? line[...] : $0
    }
    try fixture.write("n.txt", lines.joined(separator: "\n"))
  }

  /// Sends a pack and joins, as a sync does.
  private static func send(from giver: Fixture, to taker: Fixture) throws {
    let heads = try giver.notebook.state().heads
    let known = try taker.notebook.state().heads.filter {
      try giver.notebook.repository.contains($0)
    }
    let lacking = try heads.filter { try !taker.notebook.repository.contains($0) }
    if !lacking.isEmpty {
      let pack = try giver.notebook.repository.pack(wants: lacking, haves: known)
      let quarantine = try taker.notebook.repository.quarantine()
      while let piece = try pack.next() { try quarantine.append(piece) }
      try quarantine.join(promised: lacking)
    }
    _ = try taker.notebook.merge(heads)
  }

  /// Every text that the note has had.
  private static func texts(of path: TreePath, in notebook: Notebook) throws -> Set<String> {
    let repository = notebook.repository
    guard let tip = try repository.head().commit else { return [] }
    var found: Set<ObjectID> = []
    for id in try repository.commits(from: [tip]) {
      if let entry = try repository.entry(at: path, in: repository.commit(id).tree) {
        found.insert(entry.id)
      }
    }
    return Set(try found.map { String(decoding: try repository.blob($0), as: UTF8.self) })
  }
}

/// Somebody's program that saves a note. One thread writes; others look when it has ended.
private final class Writer: @unchecked Sendable {
  private let style: RaceTests.Style
  private let path: String
  private(set) var written: [String] = []
  /// How many there are, for other threads.
  let count = Atomic(0)

  init(style: RaceTests.Style, path: String) {
    self.style = style
    self.path = path
  }

  func write() {
    let generation = written.count + 1
    let text =
      style == .append ? "appended \(generation)\n" : RaceTests.text(generation: generation)
    let bytes = Array(text.utf8)
    switch style {
    case .rename:
      // A name that notes passes over, as editors choose them.
      put(bytes, into: path + ".tmp", O_WRONLY | O_CREAT | O_TRUNC, pieces: 1)
      rename(path + ".tmp", path)
    case .inPlace: put(bytes, into: path, O_WRONLY | O_CREAT | O_TRUNC, pieces: 3)
    case .append: put(bytes, into: path, O_WRONLY | O_APPEND, pieces: 1)
    }
    written.append(text)
    count.add(1, ordering: .relaxed)
  }

  private func put(_ bytes: [UInt8], into path: String, _ flags: Int32, pieces: Int) {
    let file = open(path, flags | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      Issue.record("open \(path): \(errno)")
      return
    }
    defer { close(file) }
    let size = (bytes.count + pieces - 1) / pieces
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      if Glibc.write(file, piece, piece.count) != piece.count { Issue.record("write \(path)") }
    }
  }
}

/// Somebody who looks at a note all the time. One thread reads; others look when it has ended.
private final class Reader: @unchecked Sendable {
  private let path: String
  private(set) var reads = 0
  private(set) var partial: Set<String> = []

  init(path: String) { self.path = path }

  func read() {
    guard let bytes = try? readFile(path) else {
      partial.insert("no file")
      return
    }
    reads += 1
    let text = String(decoding: bytes, as: UTF8.self)
    if !RaceTests.isWhole(text) { partial.insert(text) }
  }
}
