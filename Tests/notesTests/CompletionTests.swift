import ArgumentParser
import TestSupport
import Testing

@testable import notes

/// The completions, asked in the shells they are for.
@Suite struct CompletionTests {
  enum ShellKind: String, CaseIterable, CustomTestStringConvertible {
    case bash, fish, zsh
    var testDescription: String { rawValue }
  }

  private let shell: Shell
  private let completions: String

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping list.txt")
    try shell.folder.write("one\n", to: "notes/Shop.txt")
    try shell.folder.write("a\n", to: "notes/a/Twin.txt")
    try shell.folder.write("b\n", to: "notes/b/Twin.txt")
    try shell.initialise()
    // The completions find `notes` by its name.
    try makeFolder(shell.folder["bin"])
    let linked = try run(["ln", "-s", BuiltBinary.notes(), shell.folder["bin/notes"]])
    try #require(linked.isSuccess)
    let path = shell.environment["PATH"] ?? ""
    shell.environment["PATH"] = shell.folder["bin"] + ":" + path
    completions = try shell.writeCompletions()
  }

  /// What the shell offers for the last of these words.
  private func offers(_ kind: ShellKind, _ words: [String]) throws -> [String] {
    switch kind {
    case .bash: try bash(words)
    case .fish: try fish(words.joined(separator: " "))
    case .zsh: try zsh(words.joined(separator: " "))
    }
  }

  private func bash(_ words: [String]) throws -> [String] {
    let script = """
      source \(completions)/notes.bash
      COMP_WORDS=("$@")
      COMP_CWORD=$(($# - 1))
      COMP_LINE="$*"
      COMP_POINT=${#COMP_LINE}
      cur=${COMP_WORDS[COMP_CWORD]}
      cur=${cur#\\"}
      cur=${cur#\\'}
      _notes notes "$cur" "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    return try asked(["bash", "--norc", "-c", script, "bash"] + words)
  }

  private func fish(_ line: String) throws -> [String] {
    let script = "source \(completions)/notes.fish; complete -C $argv[1]"
    return try asked(["fish", "--no-config", "-c", script, line]).map { offer in
      String(offer.prefix { $0 != "\t" })
    }
  }

  /// zsh completes only on a terminal: its own module gives it one.
  private func zsh(_ line: String) throws -> [String] {
    let script = """
      zmodload zsh/zpty
      zpty -b shell zsh -f -i
      say() { zpty -w shell "$1" }
      say 'PROMPT= RPROMPT= ; stty -echo; unsetopt zle_bracketed_paste 2>/dev/null'
      say 'fpath=(\(completions) $fpath)'
      say 'autoload -U compinit; compinit -u -D'
      say 'compadd() {
        local -a given parsed
        local flag
        if [[ ${@[(I)-(O|A|D)]} -gt 0 ]]; then builtin compadd "$@"; return; fi
        builtin compadd -A given "$@"
        for flag in $given; do print -r -- "offer:${IPREFIX}$flag" >>$OFFERS; done
        builtin compadd "$@"
      }'
      say 'ask() { BUFFER=$LINE; CURSOR=$#BUFFER; zle complete-word; print done >>$OFFERS; exit }'
      say 'zle -N ask; bindkey "^X" ask; print ready >>$OFFERS'
      while [[ $(cat $OFFERS) != ready ]]; do zselect -t 1 2>/dev/null; done
      zpty -w -n shell $'\\x18'
      while [[ $(tail -n 1 $OFFERS) != done ]]; do zselect -t 1 2>/dev/null; done
      zpty -d shell
      grep '^offer:' $OFFERS | sed 's/^offer://'
      """
    let log = shell.folder["offers"]
    try writeFile(log, [])
    var environment = shell.environment
    environment["OFFERS"] = log
    environment["LINE"] = line
    environment["TERM"] = "xterm"
    let result = try run(
      ["zsh", "-f", "-c", "zmodload zsh/zselect; " + script], in: shell.folder["notes"],
      environment: environment, within: 120)
    return Self.sorted(result)
  }

  private func asked(_ command: [String]) throws -> [String] {
    let result = try run(command, in: shell.folder["notes"], environment: shell.environment)
    #expect(result.errors.isEmpty, "\(result)")
    return Self.sorted(result)
  }

  private static func sorted(_ result: ProcessResult) -> [String] {
    Array(Set(result.lines.filter { !$0.isEmpty })).sorted()
  }

  @Test(arguments: ShellKind.allCases) func `Commands are offered`(kind: ShellKind) throws {
    let all = Commands.all.map { $0._commandName } + ["help"]
    #expect(try offers(kind, ["notes", ""]).filter { !$0.hasPrefix("-") } == all.sorted())
    #expect(try offers(kind, ["notes", "sho"]) == ["show"])
  }

  @Test(arguments: ShellKind.allCases) func `Titles are offered, paths where two share one`(
    kind: ShellKind
  ) throws {
    let titles = try offers(kind, ["notes", "log", "Sh"])
    #expect(titles.map { $0.filter { $0 != "\\" } } == ["Shop", "Shopping list"])
    #expect(try offers(kind, ["notes", "log", "a/"]) == ["a/", "a/Twin.txt"])
  }

  @Test(arguments: ShellKind.allCases) func `Where a path is typed, paths are offered`(
    kind: ShellKind
  ) throws {
    try shell.folder.write("c\n", to: "notes/c/Alone.txt")
    #expect(try offers(kind, ["notes", "log", "Al"]) == ["Alone"])
    #expect(try offers(kind, ["notes", "log", "c/"]) == ["c/", "c/Alone.txt"])
    let versioned = try offers(kind, ["notes", "show", "c/A"]).filter { !$0.hasSuffix("@") }
    #expect(versioned == ["c/Alone.txt"])
  }

  @Test(arguments: ShellKind.allCases) func `Authors are offered`(kind: ShellKind) throws {
    #expect(try offers(kind, ["notes", "log", "--by", ""]) == ["laptop"])
  }

  @Test func `Between quotes bash is given words without escapes`() throws {
    let id = try shell.notes("log", "--format", "%H").text.prefix(10)
    #expect(try bash(["notes", "show", #""Shopp"#]) == ["Shopping list", "Shopping list@"])
    #expect(try bash(["notes", "log", "'Shopp"]) == ["Shopping list"])
    #expect(try bash(["notes", "show", #""Shopping list@"#]) == ["Shopping list@\(id)"])
    try shell.folder.write("x\n", to: #"notes/A "$b" \`c`.txt"#)
    // What a title holds is not run, and the shell quotes it.
    #expect(try bash(["notes", "log", #""A"#]) == [#"A "$b" \`c`"#])
  }

  @Test(arguments: ShellKind.allCases) func `Deleted notes are offered to be restored`(
    kind: ShellKind
  ) throws {
    try shell.notes("rm", "Shop.txt", "a/Twin.txt")
    let titles = try offers(kind, ["notes", "restore", "Sh"]).map {
      $0.filter { !"\\@".contains($0) }
    }
    #expect(titles == ["Shop", "Shopping list"])
    #expect(try offers(kind, ["notes", "restore", "a/"]) == ["a/Twin.txt"])
    #expect(try offers(kind, ["notes", "show", "a/"]).isEmpty)
  }

  @Test(arguments: ShellKind.allCases) func `Versions follow the @`(kind: ShellKind) throws {
    let id = try shell.notes("log", "--format", "%H").text.prefix(10)
    #expect(try offers(kind, ["notes", "show", "Shop@"]) == ["Shop@\(id)"])
  }

  @Test(arguments: ShellKind.allCases) func `Verbs and roles of members are offered`(
    kind: ShellKind
  ) throws {
    let verbs = try offers(kind, ["notes", "members", ""]).filter { !$0.hasPrefix("-") }
    #expect(
      verbs == ["block", "certify", "handover", "remove", "rename", "reset", "role", "unblock"])
    let roles = try offers(kind, ["notes", "members", "role", "phone", ""])
    #expect(roles.filter { !$0.hasPrefix("-") } == ["admin", "reader", "writer"])
    #expect(try offers(kind, ["notes", "members", "remove", "--y"]) == ["--yes"])
  }

  @Test(arguments: [ShellKind.bash, .fish]) func `Each command's options are those of its help`(
    kind: ShellKind
  ) throws {
    for command in Commands.all {
      let name = command._commandName
      let help = NotesCommand.helpMessage(for: command, columns: 80)
      var options: Set<String> = []
      for line in help.split(separator: "\n") where line.hasPrefix("  -") {
        for part in line.prefix(26).split(separator: ",") {
          let word = part.split(separator: " ").first.map(String.init) ?? ""
          if word.hasPrefix("-") { options.insert(word) }
        }
      }
      let offered = try offers(kind, ["notes", name, "-"])
      #expect(
        Set(offered).subtracting(["-h", "--version"]) == options.subtracting(["-h", "--version"]),
        "\(name)")
    }
  }
}

/// completions/ is what installations and packages have.
@Suite struct CompletionFilesTests {
  @Test(arguments: [("bash", "notes.bash"), ("zsh", "_notes"), ("fish", "notes.fish")])
  func `completions/ has what the program prints`(shell: String, name: String) throws {
    let printed = try run([BuiltBinary.notes(), "--generate-completion-script", shell])
    try #require(printed.isSuccess, "\(printed)")
    let kept = try readFile("\(BuiltBinary.sourceFolder)/completions/\(name)")
    #expect(kept == printed.output, "scripts/completions writes completions/\(name) again")
  }
}

extension Shell {
  /// Writes what the program generates where the shells find it; returns the folder.
  func writeCompletions() throws -> String {
    let folder = folder["completions"]
    try makeFolder(folder)
    for (kind, name) in [("bash", "notes.bash"), ("zsh", "_notes"), ("fish", "notes.fish")] {
      let script = try notes("--generate-completion-script", kind)
      try #require(script.isSuccess)
      try writeFile(folder + "/" + name, script.output)
    }
    return folder
  }
}
