import TestSupport
import Testing

@testable import notes

/// notes-invitations(1) and notes-invite(1), as shells on two devices see them.
@Suite(.timeLimit(.minutes(20))) struct InvitationsTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.initialise()
  }

  @Test("Several are open at once, and each is taken back by its digits")
  func several() throws {
    let (first, one, _) = try ada.invite("--for", "10m")
    let (second, two, _) = try ada.invite("--role", "reader", "--for", "90s")
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
    let ended = try first.errorLine(where: { $0.contains("was cancelled") })
    #expect(ended.contains("the invitation was cancelled"))
    second.send(2)
    try second.wait()
    let after = try ada.notes("invitations", "--json").lines
    #expect(after.allSatisfy { $0.contains(#""state":"cancelled""#) }, "\(after)")
    let again = try ada.notes("invitations", "cancel", String(one.prefix(2)))
    #expect(again.status == .exited(1))
  }

  @Test func `A killed command leaves no open invitation`() throws {
    let invite = try ada.invite().process
    invite.send(9)
    try invite.wait()
    #expect(try ada.notes("invitations", "--json").text.contains(#""state":"cancelled""#))
  }

  @Test func `A time is a number of minutes or seconds, up to ten minutes`() throws {
    for bad in ["11", "5s", "601s", "x", "-1", "nan"] {
      #expect(try ada.notes("invite", "--for=\(bad)").status == .exited(64), "\(bad)")
    }
  }

  @Test func `Which of several invitations is meant must be clear`() throws {
    let folder = ada.folder["notes/.git/notes/invited"]
    try makeFolder(folder)
    for (inviter, notebook) in [("bob", "Work"), ("bob", "Choir"), ("carol", "Choir")] {
      let text = """
        format 1
        code 42-X7K2-9QMDT4
        notebook \(inviter.uppercased())\(notebook.uppercased())
        notebook-name \(notebook)
        role writer
        expires 4000000000
        inviter \(inviter)
        device \(inviter.uppercased())
        address 127.0.0.1:4711

        """
      try writeFile("\(folder)/\(inviter)-\(notebook)", Array(text.utf8))
    }
    var told = ""
    for words in [["accept"], ["accept", "bob"], ["decline", "Choir"], ["decline", "corol"]] {
      for option in [[], ["--json"]] {
        let result = try run(
          [BuiltBinary.notes(), "invitations"] + words + option, in: ada.folder["notes"],
          environment: ada.environment)
        #expect(result.status == .exited(1) && result.output.isEmpty)
        told +=
          "$ notes invitations \((words + option).joined(separator: " "))\n"
          + result.errorText + "\n"
      }
    }
    try Golden.expect(told, matches: "invitations-several.txt")
  }

  @Test func `Who joined is remembered`() throws {
    try bob.join(ada, as: "bob")
    let line = try ada.notes("invitations", "--json").text
    #expect(line.contains(#""state":"joined""#) && line.contains(#""name":"bob""#))
  }

  @Test(arguments: ["", "-colour"])
  func `A second notebook is offered without a code, and accepted there`(suffix: String) throws {
    try bob.join(ada, as: "bob")
    try makeFolder(ada.folder["second"])
    try ada.folder.write("two\n", to: "second/two.txt")
    #expect(try ada.notes("init", "--device-name", "ada", in: "second").isSuccess)
    // Bob listens; Ada has met him there, so she knows his address.
    let (serve, port) = try bob.listening("serve")
    defer { serve.send(9) }
    #expect(
      try ada.notes("sync", "--at", "127.0.0.1:\(port)", "--no-discovery").isSuccess)

    if !suffix.isEmpty { bob.environment["CLICOLOR_FORCE"] = "1" }
    let told = try ada.offerSecondNotebook(to: bob, byWatcher: false)
    for (answer, text) in told {
      try Golden.expect(text, matches: "invitations-\(answer)\(suffix).txt")
    }
  }
}
