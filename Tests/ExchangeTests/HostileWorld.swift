import Channel
import FoundationEssentials
import Membership
import Notebook
import Synchronization
import TestSupport
import Testing

@testable import Exchange

/// Ada's notebook, served by the program itself; Bob is certified and hostile, Carol is certified and
/// honest.
///
/// Sendable although its parts are not: a test uses Bob's, and while it plays an attack one other
/// thread uses Carol's.
final class HostileWorld: @unchecked Sendable {
  let ada: Device
  let bob: Device
  let carol: Device
  /// Ada's, as the service has it.
  let environment: [String: String]
  private let carols: [String: String]
  private let service: RunningProcess
  private let port: UInt16
  private var edits = 0

  /// - Parameter role: what Bob may do.
  init(role: Role = .writer) throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada, as: role)
    carol = try Device("Carol", certifiedBy: ada)
    HostileTable.keep([ada, bob, carol])
    try ada.write("a\n", to: "n.txt")
    environment = try Self.environment(of: ada)
    carols = try Self.environment(of: carol)
    service = try RunningProcess(
      [
        BuiltBinary.notes(), "-C", ada.notes, "serve", "--no-discovery", "--json", "--listen",
        "127.0.0.1:0",
      ], environment: environment)
    let listening = try service.line { $0.contains("\"listening\"") }
    let digits = listening.firstRange(of: "\"port\":").map {
      listening[$0.upperBound...].prefix { $0.isNumber }
    }
    port = try #require(digits.flatMap { UInt16($0) })
    try synchronise(bob)
  }

  /// What a program has in its environment that acts as this device.
  private static func environment(of device: Device) throws -> [String: String] {
    var environment = try TestEnvironment.isolated(home: device.folder["home"])
    // Where the program looks for the key that the test has made.
    environment["XDG_DATA_HOME"] = device.folder["xdg"]
    try makeFolder(device.folder["xdg"])
    try FileManager.default.createSymbolicLink(
      atPath: device.folder["xdg/notes"], withDestinationPath: device.folder["data"])
    return environment
  }

  var isServing: Bool { service.isRunning }

  func connect(as device: Device? = nil) throws -> Connection {
    try Connection.connect(
      to: [Address(host: "127.0.0.1", port: port)], as: (device ?? bob).context.credentials(),
      deadline: .after(seconds: 40), cancellation: nil)
  }

  func stream(_ connection: Connection) -> MessageStream {
    MessageStream(connection: connection, timeouts: .forTests)
  }

  /// Runs `moves` as Bob's device in a session of its own, and reads on to the good-bye or the end.
  func play(_ moves: (HostileScript) throws -> Void) throws {
    let connection = try connect()
    try? moves(HostileScript(stream: stream(connection), device: bob))
    while (try? connection.receive(deadline: .after(seconds: 40))) != nil {}
    connection.close()
  }

  /// The line that the service logs of a session that it refused.
  func refusal() throws -> String {
    let line = try service.errorLine { $0.contains(" warning ") }
    return String(line[(line.firstRange(of: "session with")?.lowerBound ?? line.startIndex)...])
  }

  /// The last such line that there is, for whoever wonders.
  func latestRefusal() -> String {
    var latest = "nothing was logged"
    while let line = try? service.errorLine(within: 1, where: { $0.contains(" warning ") }) {
      latest = line
    }
    return latest
  }

  /// Everything of the notebook that a peer could change: references, objects, files.
  func state() throws -> String {
    let script = """
      git for-each-ref; git status --porcelain; git cat-file --batch-all-objects --batch-check
      find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
      """
    let result = try TestSupport.run(["sh", "-ec", script], in: ada.notes)
    try #require(result.isSuccess, "\(result)")
    return result.text
  }

  /// What was left of what came in.
  func quarantined() throws -> String {
    let incoming = ada.notes + "/.git/notes/incoming"
    return try TestSupport.run(["find", incoming, "-mindepth", "1"]).text
  }

  func synchronise(_ device: Device) throws {
    var options = SessionOptions()
    (options.allowsMassDeletion, options.allowsLarge) = (true, true)
    let result = try Session.run(on: connect(as: device), as: device.context, options: options)
    #expect(result.isInSync)
  }

  /// What an honest member writes comes to Ada; returns the seconds until it was there, whatever that member has to
  /// take after it.
  func serveCarol() throws -> Double {
    edits += 1
    let text = "edit \(edits)\n"
    let start = TestSupport.Moment.now
    // A name that nobody else can know, so that no edit of another's meets it.
    let note = "carol \(edits).txt"
    try carol.write(text, to: note)
    let sync = try startCarol()
    // The line names what Carol gave and what merged with it; one about an attack may have megabytes.
    _ = try service.line(within: 300) {
      $0.utf8.count < 200_000 && $0.contains("\"received\"") && $0.contains(note)
    }
    let end = TestSupport.Moment.now
    #expect(try ada.text(note) == text)
    try finish(sync)
    return end - start
  }

  func synchroniseCarol() throws { try finish(startCarol()) }

  private func finish(_ sync: RunningProcess) throws {
    let result = try sync.wait(within: 300)
    #expect([.exited(0), .exited(3)].contains(result.status), "\(result)")
  }

  /// By the program: a build for tests takes much longer to take what an attack has made.
  private func startCarol() throws -> RunningProcess {
    try RunningProcess(
      [
        BuiltBinary.notes(), "sync", "--no-discovery", "--at", "127.0.0.1:\(port)",
        "--allow-large", "--allow-deletes",
      ], in: carol.notes, environment: carols)
  }

  func diskBytes() throws -> Int {
    let lines = try TestSupport.run(["du", "-sb", ada.notes]).lines
    return lines.first?.split(separator: "\t").first.flatMap { Int($0) } ?? 0
  }

  /// Plays an attack, and what it cost the service goes into the table. Carol is served after it, and
  /// while it goes on where that `takesLong`.
  @discardableResult
  func measure<Result>(
    _ name: String, takesLong: Bool = false, _ attack: () throws -> Result
  ) throws -> Result {
    let (before, disk) = (try ProcessCost(of: service.pid), try diskBytes())
    try ProcessCost.forgetPeak(of: service.pid)
    let meanwhile = BlockingQueue<Swift.Result<Double, any Error>>()
    if takesLong {
      try Exchange.startThread { [self] in meanwhile.put(Swift.Result { try serveCarol() }) }
    }
    let result = try attack()
    let during = takesLong ? try meanwhile.take(until: .now + 120)?.get() : nil
    if takesLong { #expect(during != nil, "\(name): nobody else was served meanwhile") }
    let honest = try serveCarol()
    try #require(isServing, "\(name)")
    let after = try ProcessCost(of: service.pid)
    HostileTable.add(
      HostileTable.Row(
        name: name, processorSeconds: after.processorSeconds - before.processorSeconds,
        peakBytes: after.peakBytes, descriptors: after.descriptors,
        diskBytes: try diskBytes() - disk, honestSeconds: honest, secondsMeanwhile: during))
    return result
  }
}

/// What each attack cost the service that it was played against: the figures of one run.
enum HostileTable {
  struct Row: Sendable {
    let name: String
    let processorSeconds: Double
    let peakBytes: Int
    let descriptors: Int
    let diskBytes: Int
    /// How long an honest member's sync took right after it, which takes what the attack has left.
    let honestSeconds: Double
    /// The same while it went on; nil for what is brief.
    let secondsMeanwhile: Double?
  }

  /// Whether everything is played at its full size, and the figures are held to what the manual says:
  /// scripts/hostile.
  static let isFull = TestEnvironment.variable("NOTES_HOSTILE") == "full"

  private static let rows = Mutex<[Row]>([])
  private static let folders = Mutex<[TemporaryFolder]>([])

  /// Keeps the folders of a full row to the end of all rows: ext4 looks at what was removed in the last minutes for
  /// each file that is made, and no row is to pay for the thousands of another.
  static func keep(_ devices: [Device]) {
    if isFull { folders.withLock { $0 += devices.map(\.folder) } }
  }

  /// notes-protocol(7), LIMITS: what one session may cost. It is looked at in the long form alone, where the
  /// program is built for release and nothing else runs beside it.
  static func add(_ row: Row) {
    rows.withLock { $0.append(row) }
    guard isFull else { return }
    #expect(row.processorSeconds <= 10, "\(row.name): too much processor")
    #expect(row.peakBytes <= 200 << 20, "\(row.name): too much memory")
    #expect(row.secondsMeanwhile ?? 0 <= 2, "\(row.name): an honest member waited")
    #expect(row.honestSeconds <= 10, "\(row.name): an honest member waited after it")
  }

  private static func line(_ row: Row) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(width - text.count, 0)) + text
    }
    let name = row.name + String(repeating: " ", count: max(56 - row.name.count, 0))
    let columns = [
      padded("\((row.processorSeconds * 100).rounded() / 100) s", 8),
      padded("\(row.peakBytes >> 20) MiB", 8), padded("\(row.descriptors) fds", 7),
      padded("\(row.diskBytes >> 10) KiB", 10),
      padded("\((row.honestSeconds * 100).rounded() / 100) s", 8),
      row.secondsMeanwhile.map { padded("\(($0 * 100).rounded() / 100) s", 8) + " meanwhile" }
        ?? "",
    ]
    return "hostile: \(name)" + columns.joined()
  }

  /// All rows that took long, and the dearest of the others.
  static func text() -> String {
    let rows = rows.withLock { $0 }
    let brief = rows.filter { $0.secondsMeanwhile == nil }
    func most(_ value: (Row) -> Double) -> String {
      brief.max { value($0) < value($1) }.map {
        "\((value($0) * 100).rounded() / 100) s (\($0.name))"
      } ?? "none"
    }
    return
      (rows.filter { isFull || $0.secondsMeanwhile != nil }.map(line) + [
        "hostile: an honest member was served after each of \(rows.count) rows, and meanwhile in "
          + "\(rows.count - brief.count)",
        "hostile: the \(brief.count) brief ones took at most \(most(\.processorSeconds)) of processor, "
          + "\((brief.map(\.peakBytes).max() ?? 0) >> 20) MiB, "
          + "\(brief.map(\.descriptors).max() ?? 0) descriptors; an honest sync after them at most "
          + most(\.honestSeconds),
      ]).joined(separator: "\n")
  }
}
