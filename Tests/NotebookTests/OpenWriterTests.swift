import Glibc
import TestSupport
import Testing

@testable import Notebook

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
    let end = Moment.now + 60
    while fcntl(reading, 1025 /* F_GETLEASE */) != F_UNLCK, Moment.now < end { sched_yield() }
    #expect(fcntl(reading, 1025) == F_UNLCK)
    close(reading)
    close(try #require(opened.next()))
  }
}
