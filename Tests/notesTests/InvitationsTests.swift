import TestSupport
import Testing

@testable import notes

/// notes-invitations(1) and notes-invite(1), as shells on two devices see them.
@Suite(.timeLimit(.minutes(2))) struct InvitationsTests {
  private let ada: Shell
  private let bob: Shell
  private let local = ["--listen", "127.0.0.1:0", "--no-discovery", "--json"]

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.initialise()
  }

  private func start(_ shell: Shell, in place: String = "notes", _ words: String...) throws
    -> RunningProcess
  {
    try RunningProcess(
      [BuiltBinary.notes()] + words + local, in: shell.folder[place],
      environment: shell.environment)
  }

  private func field(_ name: String, of line: String) throws -> String {
    let start = try #require(line.firstRange(of: "\"\(name)\":")?.upperBound)
    return String(line[start...].drop { $0 == "\"" }.prefix { !"\",}".contains($0) })
  }

  /// Bob joins a notebook of Ada's in a folder of his.
  private func join(_ place: String = "notes") throws {
    let invite = try start(ada, in: place, "invite")
    let line = try invite.line { $0.contains(#""type":"invitation""#) }
    let code = try field("code", of: line)
    let port = try field("port", of: line)
    let joined = try bob.notes(
      "join", "--code-file", "-", bob.folder[place], "--yes", "--name", "bob", "--at",
      "127.0.0.1:\(port)", in: ".", input: code + "\n")
    try #require(joined.isSuccess, "\(joined)")
    try invite.wait()
  }

  @Test("Several are open at once, and each is taken back by its digits")
  func several() throws {
    let first = try start(ada, "invite", "--for", "10m")
    let second = try start(ada, "invite", "--role", "reader", "--for", "90s")
    let isOpen: (String) -> Bool = { $0.contains(#""type":"invitation""#) }
    let one = try field("code", of: first.line(where: isOpen))
    let two = try field("code", of: second.line(where: isOpen))
    #expect(one.prefix(2) != two.prefix(2))
    let list = try ada.notes("invitations", "--json").lines
    #expect(list.count == 2 && list.allSatisfy { $0.contains(#""state":"available""#) })
    let text = try ada.notes("invitations").text
    #expect(text.contains("\(one.prefix(2))-…") && text.contains("reader"))
    // The secret of a code is nowhere.
    for code in [one, two] { #expect(!(list.joined() + text).contains(code.dropFirst(3))) }
    let files = try run(["grep", "-rlF", "\(one.dropFirst(3))", ada.folder["notes/.git"]])
    #expect(files.output.isEmpty)

    #expect(try ada.notes("invitations", "cancel", String(one.prefix(2))).isSuccess)
    let ended = try first.errorLine(where: { $0.contains("taken back") })
    #expect(ended.contains("the invitation was taken back"))
    second.send(2)
    try second.wait()
    let after = try ada.notes("invitations", "--json").lines
    #expect(after.allSatisfy { $0.contains(#""state":"cancelled""#) }, "\(after)")
    let again = try ada.notes("invitations", "cancel", String(one.prefix(2)))
    #expect(again.status == .exited(1))
  }

  @Test func `A killed command leaves no open invitation`() throws {
    let invite = try start(ada, "invite")
    _ = try invite.line { $0.contains(#""type":"invitation""#) }
    invite.send(9)
    try invite.wait()
    #expect(try ada.notes("invitations", "--json").text.contains(#""state":"cancelled""#))
  }

  @Test func `A time is a number of minutes or seconds, up to ten minutes`() throws {
    for bad in ["11", "5s", "601s", "x", "-1", "nan"] {
      #expect(try ada.notes("invite", "--for=\(bad)").status == .exited(64), "\(bad)")
    }
  }

  @Test func `Who joined is remembered`() throws {
    try join()
    let line = try ada.notes("invitations", "--json").text
    #expect(line.contains(#""state":"joined""#) && line.contains(#""name":"bob""#))
  }

  @Test func `A second notebook is offered without a code, and accepted there`() throws {
    try join()
    try makeFolder(ada.folder["second"])
    try ada.folder.write("two\n", to: "second/two.txt")
    #expect(try ada.notes("init", "--device-name", "ada", in: "second").isSuccess)
    // Bob listens; Ada has met him there, so she knows his address.
    let serve = try start(bob, "serve")
    let port = try field("port", of: serve.line { $0.contains("listening") })
    #expect(
      try ada.notes("sync", "--at", "127.0.0.1:\(port)", "--no-discovery").isSuccess)

    for answer in ["decline", "accept"] {
      let invite = try start(
        ada, in: "second", "invite", "--device", "bob", "--via", ada.folder["notes"])
      _ = try invite.line { $0.contains(#""type":"invitation""#) }
      var received = ""
      let deadline = Moment.now + 30
      while received.isEmpty, Moment.now < deadline {
        received = try bob.notes("invitations", "--json").text
      }
      #expect(received.contains(#""type":"received","inviter":"laptop""#), "\(received)")
      if answer == "decline" {
        let declined = try bob.notes("invitations", "decline")
        #expect(declined.text == "Declined the invitation of laptop.\n", "\(declined)")
        _ = try invite.line { $0.contains(#""type":"declined""#) }
        invite.send(2)
      } else {
        let accepted = try bob.notes(
          "invitations", "accept", "laptop", bob.folder["second"], "--yes")
        #expect(accepted.isSuccess, "\(accepted)")
        #expect(try bob.folder.text("second/two.txt") == "two\n")
        _ = try invite.line { $0.contains(#""type":"joined""#) }
      }
      try invite.wait()
      #expect(try bob.notes("invitations", "--json").output.isEmpty)
    }
  }
}
