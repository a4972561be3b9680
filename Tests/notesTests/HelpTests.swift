import ArgumentParser
import TestSupport
import Testing

@testable import notes

/// Help, manual and completions describe the same commands and options.
@Suite struct HelpTests {
  static var names: [String] { Commands.all.map { $0._commandName } }

  private func help(_ name: String) throws -> String {
    let type = try #require(Commands.type(named: name))
    return NotesCommand.helpMessage(for: type, columns: 80)
  }

  private func manual(_ page: String) throws -> String {
    String(
      decoding: try readFile(BuiltBinary.sourceFolder + "/man/" + page), as: UTF8.self)
  }

  /// The options that the help of a command and of its verbs lists, without dashes.
  private func options(of name: String) throws -> Set<String> {
    let type = try #require(Commands.type(named: name))
    let verbs = type.configuration.subcommands
    let all = verbs + verbs.flatMap { $0.configuration.subcommands }
    let texts = [try help(name)] + all.map { NotesCommand.helpMessage(for: $0, columns: 80) }
    let lines = texts.flatMap { $0.split(separator: "\n") }
    let listed = lines.filter { $0.hasPrefix("  -") }.flatMap { line in
      line.prefix(26).split(separator: ",").compactMap { part -> String? in
        part.split(separator: " ").first.map(String.init)
      }
    }
    let words = listed.filter { $0.hasPrefix("-") }
    return Set(words.map { String($0.drop { $0 == "-" }) }).subtracting(["version"])
  }

  @Test(arguments: names) func `Help stays as it was`(name: String) throws {
    try Golden.expect(help(name), matches: "help-\(name).txt")
  }

  @Test func `Help of a command's verbs stays as it was`() throws {
    func check(_ type: any ParsableCommand.Type, _ words: [String]) throws {
      for verb in type.configuration.subcommands {
        let all = words + [verb._commandName]
        let text = NotesCommand.helpMessage(for: verb, columns: 80)
        try Golden.expect(text, matches: "help-\(all.joined(separator: "-")).txt")
        #expect(text.contains("Examples:\n  notes \(all.joined(separator: " "))"))
        #expect(verb is any Command.Type)
        try check(verb, all)
      }
    }
    for type in Commands.all { try check(type, [type._commandName]) }
  }

  @Test func `The overview stays as it was`() throws {
    try Golden.expect(Commands.headed(NotesCommand.helpMessage(columns: 80)), matches: "help.txt")
  }

  // notes(1): "Without a command".
  @Test func `What one needs every day fits a screen`() throws {
    let lines = Commands.daily.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 23 && lines.allSatisfy { $0.count <= 80 })
    let named = lines.filter { $0.hasPrefix("  notes ") }.flatMap { line in
      line.dropFirst(8).split(separator: "  ")[0].split(separator: ",").compactMap {
        $0.split(separator: " ").first.map(String.init)
      }
    }
    #expect(named.count > 12 && named.allSatisfy { Commands.type(named: $0) != nil }, "\(named)")
    for words in [[], ["help"], ["-h"], ["--help"]] {
      let result = try run([BuiltBinary.notes()] + words)
      #expect(result.isSuccess && result.text == Commands.daily, "\(words): \(result)")
    }
    let all = try run([BuiltBinary.notes(), "help", "--all"])
    #expect(all.isSuccess && all.text.contains("\nUpkeep:\n"), "\(all)")
  }

  @Test(arguments: names) func `Help fits eighty columns and shows examples`(name: String) throws {
    let text = try help(name)
    // The parser never breaks the line of usage.
    #expect(
      text.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.hasPrefix("USAGE:") })
    #expect(text.contains("Examples:\n  notes \(name)"))
  }

  @Test(arguments: names) func `The dispatch table knows the command`(name: String) throws {
    let type = try #require(Commands.type(named: name))
    #expect(type._commandName == name)
    #expect(type is any Command.Type)
  }

  @Test(arguments: names) func `The manual page lists the options of the command`(name: String)
    throws
  {
    let page = try manual("notes-\(name).1")
    let overview = try manual("notes.1")
    // notes(1), OPTIONS: "Their own pages do not describe these options."
    let common: Set = ["C", "h", "help", "json"]
    #expect(documentedOptions(in: overview).isSuperset(of: common))
    let all = try options(of: name)
    #expect(documentedOptions(in: page).subtracting(common) == all.subtracting(common))
    #expect(page.contains("-json") || !all.contains("json"))
    #expect(page.contains(".Nm notes-\(name)\n"))
    #expect(overview.contains(".It Xr notes-\(name) 1\n"))
  }

  /// The options that a page lists, without dashes.
  private func documentedOptions(in page: String) -> Set<String> {
    var documented: Set<String> = []
    for line in page.split(separator: "\n") where line.hasPrefix(".It Fl ") {
      for part in line.dropFirst(4).split(separator: ",") {
        let words = part.split(separator: " ")
        guard words.first == "Fl", words.count > 1 else { continue }
        documented.insert(String(words[1].drop { $0 == "-" }))
      }
    }
    return documented
  }

  @Test(arguments: names) func `The README's table has the command`(name: String) throws {
    let readme = String(
      decoding: try readFile(BuiltBinary.sourceFolder + "/README.md"), as: UTF8.self)
    let cells = readme.split(separator: "\n").filter { $0.hasPrefix("| `notes ") }
    #expect(cells.contains { $0.contains("`notes \(name)`") || $0.contains(" `\(name)`") })
  }

  @Test func `There is no page without a command`() throws {
    let folder = try run(["ls", BuiltBinary.sourceFolder + "/man"])
    let pages = folder.lines.filter { $0.hasPrefix("notes-") && $0.hasSuffix(".1") }
    #expect(pages.sorted() == Self.names.map { "notes-\($0).1" }.sorted())
  }

  @Test func `The manual pages are well formed`() throws {
    let folder = BuiltBinary.sourceFolder + "/man/"
    let pages = ["notes.1"] + Self.names.map { "notes-\($0).1" }
    let result = try run(["mandoc", "-T", "lint", "-W", "warning"] + pages.map { folder + $0 })
    #expect(result.isSuccess, "\(result)")
  }
}
