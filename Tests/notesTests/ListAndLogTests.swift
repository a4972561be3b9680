import Glibc
import TestSupport
import Testing

/// Lists of notes and of versions: notes-list(1), notes-log(1).
@Suite struct ListAndLogTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws { daily = try DailyNotebook() }

  @Test func `Lists are sorted and filtered`() throws {
    try shell.folder.write(String(repeating: "long\n", count: 100), to: "notes/trips/Athens.txt")
    func titles(_ arguments: String...) throws -> [String] {
      let result = try run(
        [BuiltBinary.notes(), "list", "--json"] + arguments, in: shell.folder["notes"],
        environment: shell.environment)
      try #require(result.isSuccess, "\(result)")
      return result.lines.map { line in
        String(
          line.firstRange(of: #""title":""#).map { line[$0.upperBound...].prefix { $0 != "\"" } }
            ?? "")
      }
    }
    #expect(try titles("--sort", "title") == ["Athens", "Rome", "Shopping"])
    #expect(try titles("--sort", "title", "-r") == ["Shopping", "Rome", "Athens"])
    #expect(try titles("--sort", "size").first == "Athens")
    #expect(try titles().first == "Athens")
    #expect(try titles("--folder", "trips", "--sort", "title") == ["Athens", "Rome"])
    #expect(try titles("--folder", "trips/", "ROM") == ["Rome"])
    #expect(try titles("--attachments") == ["photo.png"])
    #expect(try titles("--since", "yesterday").count == 3)
    #expect(try titles("--since", "2099-01-01") == ["Athens"])
    // notes-log(1): a day is counted to its end.
    #expect(try shell.notes("log", "--until", "yesterday").text == "No versions match.\n")
    #expect(
      try shell.notes("log", "--until", "today").text == shell.notes("log", "--no-pager").text)
    #expect(try shell.notes("list", "zzz").text == "No notes match.\n")
    let id = try shell.notes("list", "--long", "Rome").text.prefix(12)
    #expect(try shell.notes("show", String(id)).text == "forum\n")
  }

  // notes-list(1): "List deleted notes instead".
  @Test func `What was deleted is listed until it comes back`() throws {
    func deleted(_ arguments: String...) throws -> [String] {
      let result = try run(
        [BuiltBinary.notes(), "list", "--deleted"] + arguments, in: shell.folder["notes"],
        environment: shell.environment)
      return result.lines.map { $0.split(separator: "  ").first.map(String.init) ?? "" }
    }
    #expect(try deleted() == ["No note was deleted."])
    try shell.notes("mv", "Rome", "Roma")
    try shell.notes("rm", "Shopping")
    try shell.notes("rm", "Roma", "photo.png")
    #expect(try Set(deleted()) == ["trips/Roma", "Shopping"])
    #expect(try deleted("--folder", "trips") == ["trips/Roma"])
    #expect(try deleted("shop") == ["Shopping"])
    #expect(try deleted("--attachments") == ["photo.png"])
    #expect(try deleted("--since", "2099-01-01") == ["No notes match."])
    try shell.notes("restore", "Shopping")
    try shell.notes("mv", "Shopping", "Groceries")
    #expect(try deleted() == ["trips/Roma"])
    // Not saved yet.
    try #require(unlink(shell.folder["notes/Groceries.txt"]) == 0)
    #expect(try deleted("--sort", "title") == ["Groceries", "trips/Roma"])
    #expect(try deleted("--sort", "size").isEmpty)
  }

  @Test func `The log has a line an entry, a form that is asked for, and all for programs`() throws
  {
    let id = try shell.notes("log", "--format", "%H").text.dropLast()
    #expect(id.count == 40)
    #expect(
      try shell.notes("log", "--oneline").text == "\(id.prefix(10))  Start notebook Home\n")
    #expect(
      try shell.notes("log", "--format", "100%% %a:%n%s").text
        == "100% laptop:\nStart notebook Home\n")
    #expect(
      try shell.notes("log", "--format", "%x").errorText.contains("an unknown placeholder"))
    let whole = try shell.notes("log", "--json", "-p").text
    #expect(whole.contains(#""full_message":"Start notebook Home\n""#), "\(whole)")
    #expect(whole.contains(#""version":"\#(id)""#) && whole.contains(#""diff":""#))
    let set = try shell.notes("config", "listen", "*:1", "--json").text
    #expect(set.hasPrefix(#"{"type":"setting","name":"listen","value":"*:1""#), "\(set)")
  }
}
