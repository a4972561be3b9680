import Glibc
import TestSupport
import Testing

/// Every command that README shows is run, in its order, on the machine that its prompt names.
@Suite struct ReadmeTests {
  /// A command with its prompt: `alice$ notes sync`.
  struct Shown: CustomStringConvertible {
    let prompt: String
    let command: String
    var description: String { "\(prompt)$ \(command)" }
  }

  @Test func everyCommandRuns() throws {
    let commands = try shown()
    try #require(commands.count > 20)
    let lab = try Lab(hosts: 2)
    let shells = [
      "alice": try Shell(on: lab.hosts[0]), "bob": try Shell(on: lab.hosts[1]),
    ]
    // Both hosts are this machine, whose name would be that of both.
    for (name, shell) in shells { #expect(try shell.run("notes config device-name \(name)") == 0) }
    for shown in commands {
      if shown.prompt.isEmpty {
        try runHere(shown.command)
      } else {
        let shell = try #require(shells[shown.prompt], "\(shown)")
        try run(shown, in: shell, code: shells.values.lazy.compactMap(\.code).first)
      }
    }
    // What came last on the one is fetched by the other.
    #expect(try shells["bob"]?.run("notes sync") == 0)
    let tips = try lab.hosts.map { try $0.run(["git", "-C", "notes", "rev-parse", "HEAD"]).text }
    #expect(tips[0] == tips[1])
  }

  /// The lines of README's console blocks that begin with a prompt.
  private func shown() throws -> [Shown] {
    let readme = String(
      decoding: try readFile("\(BuiltBinary.sourceFolder)/README.md"), as: UTF8.self)
    var isConsole = false
    var commands: [Shown] = []
    for line in readme.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isConsole = line == "```console"
      } else if isConsole, let match = line.wholeMatch(of: /(alice|bob|)\$ (.*)/) {
        commands.append(Shown(prompt: String(match.1), command: String(match.2)))
      }
    }
    return commands
  }

  /// A command of the source folder.
  private func runHere(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    let script = "\(BuiltBinary.sourceFolder)/\(words[0])"
    #expect(access(script, X_OK) == 0, "\(command)")
    switch words[0] {
    case "scripts/try", "scripts/test":
      break  // TryTests plays the one; the other runs what you read here.
    case "scripts/install":
      let folder = try TemporaryFolder()
      var environment = try TestEnvironment.isolated(home: folder.path)
      environment["NOTES_BINARY"] = try BuiltBinary.notes()
      let result = try TestSupport.run(
        ["sh", "-c", "cd \(BuiltBinary.sourceFolder) && \(command)"], environment: environment)
      #expect(result.isSuccess, "\(result)")
      #expect(access(folder[".local/bin/notes"], X_OK) == 0)
    default: Issue.record("README shows a command that no test runs: \(command)")
    }
  }

  private func run(_ shown: Shown, in shell: Shell, code: String?) throws {
    var command = shown.command
    if let code { command.replace(/[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/, with: code) }
    let verb = command.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    switch (command.hasPrefix("notes "), verb) {
    case (true, "invite"):
      try shell.leave(command)
      try shell.awaitCode()
    case (true, "serve"), (true, "watch"):
      try shell.leave(command)
      try shell.awaitLine()
    case (true, "join"):
      // On a terminal, where it asks.
      let status = try shell.run("script -qec '\(command)' /dev/null <<<y")
      #expect(status == 0, "\(shown)\n\(shell.transcript)")
    default:
      // 3 says that there are conflicts, which README is about to resolve.
      let status = try shell.run(command)
      #expect([0, 3].contains(status), "\(shown)\n\(shell.transcript)")
    }
  }
}

/// A user's shell on a host.
private final class Shell {
  private let process: RunningProcess
  private var lines: [String] = []
  /// The code that an invitation printed here.
  private(set) var code: String?

  init(on host: LabHost) throws {
    try makeFolder("\(host.home)/bin")
    symlink(try BuiltBinary.notes(), "\(host.home)/bin/notes")
    let path = host.environment["PATH"] ?? ""
    process = try host.start(["bash"], adding: ["PATH": "\(host.home)/bin:\(path)"])
    process.writeLine("exec 2>&1")
  }

  /// What the shell has printed.
  var transcript: String { lines.joined(separator: "\n") }

  /// Runs a command and returns its exit code.
  func run(_ command: String) throws -> Int32 {
    process.writeLine("\(command)\nprintf '\\n@@%d\\n' $?")
    let end = try next(within: 180) { $0.hasPrefix("@@") }
    return Int32(end.dropFirst(2)) ?? -1
  }

  /// Leaves a command running.
  func leave(_ command: String) throws {
    process.writeLine("\(command) &")
  }

  func awaitLine() throws {
    _ = try next { !$0.isEmpty }
  }

  func awaitCode() throws {
    let line = try next { $0.firstMatch(of: /[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/) != nil }
    code = line.firstMatch(of: /[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/).map { String($0.0) }
  }

  private func next(
    within seconds: Double = 80, where matches: (String) -> Bool
  ) throws -> String {
    try process.line(within: seconds) { line in
      lines.append(line)
      return matches(line)
    }
  }
}
