import FoundationEssentials
import TestSupport
import Testing

/// A device of a story: a user of a host, with a notebook in the folder `notes`.
struct Device {
  let name: String
  let host: LabHost
  let binary: String

  init(_ name: String, on host: LabHost) throws {
    self.name = name
    self.host = host
    // scripts/compatibility has another release on all hosts but the first.
    let other = host.number == 1 ? nil : TestEnvironment.variable("NOTES_OTHER_BINARY")
    binary = try other ?? BuiltBinary.notes()
  }

  /// The founder of the notebook Home, with one note.
  static func founder(
    _ name: String, on host: LabHost, note: String = "Note.txt", notebook: String = "Home"
  ) throws -> Device {
    let device = try Device(name, on: host)
    try device.write(note, ["One", ""])
    try device.succeed(
      ["init", device.folder, "--name", notebook, "--device-name", name], in: host.home)
    return device
  }

  /// The notebook's folder.
  var folder: String { "\(host.home)/notes" }

  /// Runs `notes` in the notebook, or in `folder`.
  func notes(
    _ arguments: [String], in folder: String? = nil, input: String = "",
    within seconds: Double = 180
  ) throws -> ProcessResult {
    try host.run(
      [binary] + arguments, in: folder ?? self.folder, input: Array(input.utf8), within: seconds)
  }

  /// Runs `notes`, which has to succeed.
  @discardableResult
  func succeed(
    _ arguments: [String], in folder: String? = nil, within seconds: Double = 180,
    at location: SourceLocation = #_sourceLocation
  ) throws -> ProcessResult {
    let result = try notes(arguments, in: folder, within: seconds)
    try #require(result.isSuccess, "\(result)", sourceLocation: location)
    return result
  }

  /// Starts a `notes` that runs for long, in the notebook.
  func start(_ arguments: [String]) throws -> RunningProcess {
    try host.start([binary] + arguments, in: folder)
  }

  /// Runs git in the notebook.
  func git(
    _ arguments: [String], at location: SourceLocation = #_sourceLocation
  ) throws -> ProcessResult {
    let result = try host.run(["git"] + arguments, in: folder)
    try #require(result.isSuccess, "\(result)", sourceLocation: location)
    return result
  }

  /// The commit that the notebook shows, as git sees it.
  func tip() throws -> String { try git(["rev-parse", "HEAD"]).lines[0] }

  func status() throws -> Status { try decode(try notes(["status", "--json"]).text) }

  /// The lines of a note.
  func lines(_ note: String) throws -> [String] {
    String(decoding: try readFile("\(folder)/\(note)"), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  func write(_ note: String, _ lines: [String]) throws {
    try writeFile("\(folder)/\(note)", Array(lines.joined(separator: "\n").utf8))
  }

  /// Changes the lines of a note as an editor does.
  func edit(_ note: String, _ change: (inout [String]) -> Void) throws {
    var lines = try lines(note)
    change(&lines)
    try write(note, lines)
  }

  func exists(_ note: String) -> Bool { (try? readFile("\(folder)/\(note)")) != nil }

  /// Design: promise 5, `git fsck --strict` and `git log` are clean at every moment.
  func checkGit(at location: SourceLocation = #_sourceLocation) throws {
    let check = try git(["fsck", "--strict", "--no-dangling"], at: location)
    #expect(check.text == "", sourceLocation: location)
    let complaints = check.errorText.split(separator: "\n").filter {
      $0.hasPrefix("error") || $0.hasPrefix("warning")
    }
    #expect(complaints == [], sourceLocation: location)
    #expect(!(try git(["log", "--format=%H"], at: location)).lines.isEmpty)
    #expect(try git(["status", "--porcelain"], at: location).text == "", sourceLocation: location)
  }
}

/// `notes status --json`.
struct Status: Decodable {
  struct Change: Decodable {
    let path: String
    let kind: String
  }
  struct Conflict: Decodable {
    struct Side: Decodable {
      let name: String
    }
    let path: String
    let sides: [Side]
  }
  let notebook: String
  let name: String
  let device: String
  let tip: String?
  let heads: [String]
  let changes: [Change]
  let conflicts: [Conflict]
}

/// The first event of `notes invite --json`.
struct Invitation: Decodable {
  let type: String
  let code: String
  let port: Int
  let role: String
}

/// The last event of `notes join --json`.
struct Joined: Decodable {
  let type: String
  let notebook: String
  let path: String
  let role: String
  let tip: String
}

/// The first event of `notes serve --json`.
struct Listening: Decodable {
  let type: String
  let address: String
  let port: Int
}

/// The last event of `notes sync --json`.
struct SyncOutcome: Decodable {
  struct Peer: Decodable {
    let name: String
    let result: String
    let tip: String?
  }
  let type: String
  let tip: String
  let peers: [Peer]
}

func decode<T: Decodable>(_ text: String) throws -> T {
  try JSONDecoder().decode(T.self, from: Data(text.utf8))
}

/// Invites on one device and joins on the other, found by Avahi.
func pair(_ inviter: Device, _ joiner: Device, role: String = "writer") throws {
  let invite = try inviter.start(["invite", "--role", role, "--json"])
  let invitation: Invitation = try decode(try invite.line { $0.contains(#""invitation""#) })
  #expect(invitation.role == role)
  let join = try joiner.notes(
    ["join", invitation.code, joiner.folder, "--yes", "--name", joiner.name, "--json"],
    in: joiner.host.home)
  try #require(join.isSuccess, "\(join)")
  let joined: Joined = try decode(try #require(join.lines.last))
  #expect(joined.type == "joined")
  #expect(joined.path == joiner.folder)
  #expect(joined.role == role)
  #expect(joined.tip == (try inviter.tip()))
  let end = try invite.wait(within: 80)
  try #require(end.isSuccess, "\(end)")
  #expect(end.text.contains(#""joined""#))
}

/// Both devices show the same commit and the same bytes. A program with other merge rules makes other merges of
/// the same heads.
func expectEqual(
  _ a: Device, _ b: Device, at location: SourceLocation = #_sourceLocation
) throws {
  if TestEnvironment.variable("NOTES_OTHER_BINARY") == nil {
    #expect(try a.tip() == b.tip(), sourceLocation: location)
  } else {
    #expect(try a.status().heads == b.status().heads, sourceLocation: location)
  }
  let difference = try run(["diff", "-r", "-x", ".git", a.folder, b.folder])
  #expect(difference.isSuccess, "\(difference)", sourceLocation: location)
}
