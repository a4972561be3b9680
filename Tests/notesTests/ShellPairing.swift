import TestSupport
import Testing

@testable import notes

/// Two shells that pair, as their users do.
extension Shell {
  /// Starts `notes` in the notebook's folder, or another.
  func start(in place: String = "notes", _ words: String...) throws -> RunningProcess {
    try start(in: place, words: words)
  }

  func start(in place: String = "notes", words: [String]) throws -> RunningProcess {
    try RunningProcess(
      [BuiltBinary.notes()] + words, in: folder[place], environment: environment)
  }

  /// A service that listens on loopback alone, `watch` or `serve`, once it listens; and its port.
  func listening(_ verb: String, in place: String = "notes", _ words: String...) throws -> (
    process: RunningProcess, port: String
  ) {
    let process = try RunningProcess(
      [BuiltBinary.notes(), verb, "--json", "--no-discovery", "--listen", "127.0.0.1:0"] + words,
      in: folder[place], environment: environment)
    let line = try process.line { $0.contains(#""type":"listening""#) }
    return (process, try Shell.field("port", of: line))
  }

  /// An invitation that a process of its own, or the watcher of the notebook, holds open.
  func invite(
    in place: String = "notes", byWatcher: Bool = false, _ words: String...
  ) throws -> (process: RunningProcess, code: String, port: String) {
    let alone = byWatcher ? [] : ["--listen", "127.0.0.1:0", "--no-discovery"]
    let process = try RunningProcess(
      [BuiltBinary.notes(), "invite", "--json"] + alone + words, in: folder[place],
      environment: environment)
    let line = try process.line { $0.contains(#""type":"invitation""#) }
    return (process, try Shell.field("code", of: line), try Shell.field("port", of: line))
  }

  /// Joins by a code that comes by standard input.
  func join(_ code: String, _ port: String, as name: String, in place: String = "notes") throws
    -> ProcessResult
  {
    try notes(
      "join", "--code-file", "-", folder[place], "--yes", "--name", name, "--at",
      "127.0.0.1:\(port)", in: ".", input: code + "\n")
  }

  /// Joins the notebook of `other`, which invites and waits.
  func join(_ other: Shell, as name: String, role: String = "writer", in place: String = "notes")
    throws
  {
    let invitation = try other.invite("--role", role)
    let joined = try join(invitation.code, invitation.port, as: name, in: place)
    try #require(joined.isSuccess, "\(joined)")
    try invitation.process.wait()
  }

  /// Invites `other`, which has the notebook in `notes` too, to the one in `second`, without a code:
  /// it declines the first time and accepts the second. Returns what it was told at both.
  @discardableResult
  func offerSecondNotebook(to other: Shell, byWatcher: Bool) throws -> [String: String] {
    var told: [String: String] = [:]
    for answer in ["decline", "accept"] {
      let invite = try invite(
        in: "second", byWatcher: byWatcher, "--device", "bob", "--via", folder["notes"]
      ).process
      var received = ""
      let deadline = Moment.now + 120
      while received.isEmpty, Moment.now < deadline {
        received = try other.notes("invitations", "--json").text
      }
      #expect(received.contains(#""type":"received","inviter":"laptop""#), "\(received)")
      let made = try notes("invitations", "--json", in: "second").lines.first
      #expect(made?.contains(#""name":"bob","device":""#) == true, "\(made ?? "")")
      if answer == "decline" {
        let declined = try other.notes("invitations", "decline")
        #expect(declined.text == "Declined the invitation of laptop.\n", "\(declined)")
        told[answer] = declined.text
        _ = try invite.line { $0.contains(#""type":"declined""#) }
        invite.send(2)
      } else {
        let accepted = try other.notes(
          "invitations", "accept", "laptop", other.folder["second"], "--yes")
        #expect(accepted.isSuccess, "\(accepted)")
        told[answer] = accepted.text.replacing(other.folder.path, with: "FOLDER")
        #expect(try other.folder.text("second/two.txt") == "two\n")
        _ = try invite.line { $0.contains(#""type":"joined""#) }
      }
      try invite.wait()
      #expect(try other.notes("invitations", "--json").output.isEmpty)
    }
    return told
  }

  /// The value of a field in a line of JSON.
  static func field(_ name: String, of line: String) throws -> String {
    let start = try #require(line.firstRange(of: "\"\(name)\":")?.upperBound)
    return String(line[start...].drop { $0 == "\"" }.prefix { !"\",}".contains($0) })
  }
}
