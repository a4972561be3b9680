import Glibc
import TestSupport
import Testing

/// Every command that README shows is run, in its order, on the machine that its prompt names, and prints
/// what README shows below it.
@Suite struct ReadmeTests {
  /// A command with its prompt, `alice$ notes sync`, and the lines shown below it.
  struct Shown: CustomStringConvertible {
    let prompt: String
    let command: String
    var output: [String] = []
    var description: String { "\(prompt)$ \(command)" }
  }

  @Test func everyCommandRunsAndPrintsWhatIsShown() throws {
    let commands = try shown()
    try #require(commands.count > 20 && commands.count { !$0.output.isEmpty } > 10)
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
        let from = shell.mark()
        try run(shown, in: shell, code: shells.values.lazy.compactMap(\.code).first)
        if !shown.output.isEmpty {
          expect(shell.printed(since: from), home: shell.home, is: shown)
        }
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
      } else if isConsole, !commands.isEmpty {
        commands[commands.count - 1].output.append(String(line))
      }
    }
    return commands
  }

  /// Compares without what differs from one run to the next. A line of three dots stands for any lines.
  private func expect(_ printed: String, home: String, is shown: Shown) {
    func plain(_ text: String) -> [Substring] {
      String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" }))
        .replacing(home, with: "/home/\(shown.prompt)")
        .replacing(/[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/, with: "CODE")
        .replacing(/\b[0-9a-f]{10}\b/, with: "VERSION")
        .replacing(/\b[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/, with: "TIME")
        .replacing(/--at \S+:[0-9]+/, with: "--at ADDRESS")
        .replacing(/\b[A-Z2-7]{8}\b/, with: "DEVICE")
        .replacing(/[0-9]+ (s|min) ago/, with: "just now")
        // Who answers a question types on the terminal's line; a script does not.
        .replacing("[Y/n] y\n", with: "[Y/n] ")
        // What a terminal shows only for a while.
        .replacing(/Looking for the device[^\n]*?\.\.\.|\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
        .replacing(#/ +/#, with: " ")
        .split(separator: "\n").filter { $0 != "y" }
    }
    var rest = plain(printed)[...]
    let wanted = plain(shown.output.joined(separator: "\n"))
    for (place, line) in wanted.enumerated() {
      if line == "..." {
        guard place + 1 < wanted.count else { return }
        rest = rest.drop { $0 != wanted[place + 1] }
      } else if rest.popFirst() != line {
        Issue.record("\(shown): README shows '\(line)'; printed was\n\(printed)")
        return
      }
    }
    if !rest.isEmpty {
      Issue.record("\(shown): README does not show\n\(rest.joined(separator: "\n"))")
    }
  }

  /// A command of the source folder.
  private func runHere(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    let script = "\(BuiltBinary.sourceFolder)/\(words[0])"
    #expect(access(script, X_OK) == 0, "\(command)")
    switch words[0] {
    case "scripts/try":
      break  // TryTests plays it.
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
      try shell.awaitCode(and: shown.output.last ?? "")
    case (true, "serve"), (true, "watch"):
      try shell.leave(command)
      try shell.awaitLine()
    case (true, "join"):
      // On a terminal, where it asks.
      let status = try shell.run("script -qec '\(command)' /dev/null <<<y")
      #expect(status == 0, "\(shown)\n\(shell.transcript)")
    default:
      // Two texts of one second would be dated alike, and stand in either order.
      if command.contains(" >") { try shell.nextSecond() }
      // 3 says that there are conflicts, which README is about to resolve.
      let status = try shell.run(command)
      #expect([0, 3].contains(status), "\(shown)\n\(shell.transcript)")
    }
  }
}

/// A user's shell on a host.
private final class Shell {
  private let process: RunningProcess
  let home: String
  private var lines: [String] = []
  /// The code that an invitation printed here.
  private(set) var code: String?

  init(on host: LabHost) throws {
    try makeFolder("\(host.home)/bin")
    symlink(try BuiltBinary.notes(), "\(host.home)/bin/notes")
    let path = host.environment["PATH"] ?? ""
    home = host.home
    process = try host.start(["bash"], adding: ["PATH": "\(host.home)/bin:\(path)"])
    process.writeLine("exec 2>&1")
  }

  var transcript: String { lines.joined(separator: "\n") }

  /// Runs a command and returns its exit code.
  func run(_ command: String) throws -> Int32 {
    process.writeLine("\(command)\nprintf '\\n@@%d\\n' $?")
    let end = try next(within: 180) { $0.hasPrefix("@@") }
    return Int32(end.dropFirst(2)) ?? -1
  }

  /// Leaves a command running. What it prints is told from what others do.
  func leave(_ command: String) throws {
    leavesCommand = true
    process.writeLine("\(command) 2>&1 | sed -u 's/^/\(Self.left)/' &")
  }

  private static let left = "@left "
  /// Whether the last command was left running.
  private var leavesCommand = false

  /// The place where the next command's lines begin.
  func mark() -> Int {
    leavesCommand = false
    return lines.count
  }

  /// What the command printed that was run, or left running, since `mark`.
  func printed(since place: Int) -> String {
    lines[place...].filter { !$0.hasPrefix("@@") && $0.hasPrefix(Self.left) == leavesCommand }
      .map { leavesCommand ? String($0.dropFirst(Self.left.count)) : $0 }
      .joined(separator: "\n")
  }

  func awaitLine() throws {
    _ = try next { !$0.isEmpty }
  }

  /// Reads a code, and the rest of what is printed with it.
  func awaitCode(and end: String) throws {
    let line = try next { $0.firstMatch(of: /[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/) != nil }
    code = line.firstMatch(of: /[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}/).map { String($0.0) }
    _ = try next { $0 == Self.left + end }
  }

  /// Waits until what is written bears another second than what was written before. A file is dated by a
  /// clock that is up to a tick, 10 ms, behind that of `date`.
  func nextSecond() throws {
    let next = "\(time(nil) + 1)020"
    _ = try run("while (( $(date +%s%3N) < \(next) )); do :; done")
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
