import Glibc
import TestSupport
import Testing

@testable import Membership

/// The completions as somebody at a shell's prompt meets them: Tab is pressed on a terminal.
@Suite(.serialized) struct ShellCompletionTests {
  enum ShellKind: String, CaseIterable, CustomTestStringConvertible {
    case bash, fish, zsh
    var testDescription: String { rawValue }

    /// How to start it with nothing of the user's, and with the completions loaded.
    var command: [String] {
      switch self {
      case .bash: ["bash", "--norc", "--noprofile", "-i"]
      case .fish: ["fish", "--no-config", "-i"]
      case .zsh: ["zsh", "-f", "-i"]
      }
    }

    func setUp(_ completions: String) -> String {
      switch self {
      case .bash: "PS1='ready> '; bind 'set bell-style none'; . \(completions)/notes.bash"
      case .fish:
        "function fish_prompt; echo 'ready> '; end; function fish_right_prompt; end; "
          + "set -g fish_autosuggestion_enabled 0; source \(completions)/notes.fish"
      case .zsh:
        "PROMPT='ready> '; unsetopt beep; fpath=(\(completions) $fpath); "
          + "autoload -U compinit; compinit -u -D"
      }
    }
  }

  private let shell: Shell
  private let completions: String

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping list.txt")
    try shell.folder.write("x\n", to: "notes/Journal.txt")
    try shell.initialise()
    let store = try MembershipStore.open(in: shell.folder["notes/.git/notes/membership"])
    let founder = try #require(try DeviceKey.load(in: shell.folder["home/.local/share/notes"]))
    let key = try DeviceKey.loadOrCreate(in: shell.folder["devices/phone/notes"])
    _ = try store.issue(
      for: CertificateRequest(name: "Ben's phone", key: key), role: .writer, by: founder)
    try makeFolder(shell.folder["bin"])
    try #require(symlink(BuiltBinary.notes(), shell.folder["bin/notes"]) == 0)
    shell.environment["PATH"] = shell.folder["bin"] + ":" + (shell.environment["PATH"] ?? "")
    completions = try shell.writeCompletions()
  }

  @Test(arguments: ShellKind.allCases) func `Tab completes commands, titles, versions and members`(
    kind: ShellKind
  ) throws {
    let screen = try shell.screen(kind.command, columns: 120)
    try screen.type(kind.setUp(completions) + "; clear\n")
    try screen.wait(for: "the prompt alone") { $0.hasPrefix("ready>") && !$0.contains("clear") }

    func completed(_ typed: String, _ wanted: String...) throws {
      try screen.type(typed + "\t")
      try screen.wait(for: wanted.joined(separator: " or ")) { screen in
        wanted.contains { screen.contains($0) }
      }
    }
    try completed("notes sho", "notes show")
    // Each shell quotes the space in its own way; bash leaves room for the version.
    try completed("Shop", #"notes show Shopping\ list"#, "notes show 'Shopping list'")
    let version = try shell.notes("log", "--format", "%H").text.prefix(10)
    try completed("@", "list@\(version)", "list'@\(version)", "list@\(version)'")
    try screen.press("Enter")
    // The completed line is a command that works.
    try screen.wait(for: "\nmilk\n")

    // A quote that is open stays as it is.
    try completed(#"notes show "Shop"#, #"notes show "Shopping list"#)
    try screen.press("C-u")
    try completed("notes push Be", #"notes push Ben\'s\ phone"#, "notes push \"Ben's phone\"")
    try screen.press("C-u")
    try completed("notes log Jou", "notes log Journal")
    try completed("--no-p", "notes log Journal --no-pager")
    try screen.press("C-u")
    // An option and its value.
    try completed("notes invite --ro", "notes invite --role")
    try completed("wri", "notes invite --role writer")
  }
}
