import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

@Suite("Programs that have a note open for writing")
struct OpenWriterTests {
  private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC)
    try #require(descriptor >= 0, "open \(path): \(errno)")
    return descriptor
  }

  @Test("are known as long as they have it")
  func known() throws {
    let home = try Fixture()
    try home.write("n.txt", "text\n")
    let path = home.path + "/n.txt"
    #expect(!OpenWriter.exists(of: path))
    let writer = try Self.open(path, O_WRONLY)
    #expect(OpenWriter.exists(of: path))
    close(writer)
    #expect(!OpenWriter.exists(of: path))
  }

  /// fcntl(2): "The default signal used to notify the lease holder is SIGIO", which would end the
  /// process, and this test run.
  @Test("and open it while it is asked about do not end the process")
  func opensMeanwhile() throws {
    let home = try Fixture()
    try home.write("n.txt", "text\n")
    let path = home.path + "/n.txt"
    let reading = try Self.open(path, O_RDONLY)
    #expect(!OpenWriter.exists(of: reading))
    let opened = EventLog<Int32>()
    startThread { opened.append(Glibc.open(path, O_WRONLY | O_CLOEXEC)) }
    // The kernel has told of the writer when it says what the lease is to become.
    let end = Moment.now + 180
    while fcntl(reading, 1025 /* F_GETLEASE */) != F_UNLCK, Moment.now < end { sched_yield() }
    #expect(fcntl(reading, 1025) == F_UNLCK)
    close(reading)
    close(try #require(opened.next()))
  }

  /// Saves in place as programs do: the file is empty first. It stays just written however busy this
  /// machine is.
  private static func begin(_ home: Fixture, _ text: String) throws -> Int32 {
    let writer = try open(home.path + "/n.txt", O_WRONLY | O_TRUNC)
    try #require(write(writer, text, text.utf8.count) == text.utf8.count)
    try setModified(writer, in: 3_600)
    return writer
  }

  private static func setModified(_ file: Int32, in seconds: Int) throws {
    let time = timespec(tv_sec: Glibc.time(nil) + seconds, tv_nsec: 0)
    try #require(futimens(file, [time, time]) == 0)
  }

  private static func read(_ home: Fixture, wait: (Int) -> Bool) throws -> String? {
    let root = try open(home.path, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let outcome = try FileContent.read("n.txt", at: root, sizeLimit: .max, wait: wait)
    guard case .read(let content) = outcome else { return nil }
    return String(decoding: content.bytes, as: UTF8.self)
  }

  /// notes-save(1): "If the file system shows that a program is still writing a note, the command waits for it".
  @Test("and are just writing it are waited for", arguments: ["", "half "])
  func waitsForTheEnd(beginning: String) throws {
    let home = try Fixture()
    try home.write("n.txt", "the text before\n")
    let writer = try Self.begin(home, beginning)
    let text = try Self.read(home) { waited in
      if waited == 20 {
        let rest = "and whole\n"
        #expect(write(writer, rest, rest.utf8.count) == rest.utf8.count)
        close(writer)
      }
      return waited <= 20
    }
    #expect(text == beginning + "and whole\n")
  }

  @Test("and write for long are not waited for longer than asked")
  func patience() throws {
    let home = try Fixture()
    try home.write("n.txt", "the text before\n")
    let writer = try Self.begin(home, "half")
    defer { close(writer) }
    var waits = 0
    let text = try Self.read(home) {
      waits = $0
      return $0 < 20
    }
    #expect(text == "half")
    #expect(waits == 20)
  }

  @Test("and merely keep it open are not waited for")
  func keptOpen() throws {
    let home = try Fixture()
    try home.write("n.txt", "text\n")
    let writer = try Self.open(home.path + "/n.txt", O_WRONLY | O_APPEND)
    defer { close(writer) }
    try Self.setModified(writer, in: -3_600)
    let text = try Self.read(home) { _ in
      Issue.record("waited for")
      return false
    }
    #expect(text == "text\n")
  }
}
