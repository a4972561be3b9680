internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Git
internal import History
internal import Notebook

struct CheckContext {
  let notebook: Notebook
  /// The folder of the device key; nil if HOME is not set.
  var knownDataFolder: String?
  var discovery: (any Discovery)?
  var listen: Address = Address(host: "*", port: 0)
  var now: Int64 = TimeText.now

  /// - Throws: `no_home`.
  var dataFolder: String {
    get throws(Failure) {
      if let knownDataFolder { return knownDataFolder }
      return try UserFolders().data
    }
  }

  var ownDevice: String { notebook.identity.device.deviceID }
}

struct Check: Sendable {
  let name: String
  let title: String
  /// The remedy for problems that have no remedy of their own.
  let remedy: String
  let run: @Sendable (CheckContext) throws -> [Finding]

  /// All checks, in the order of the report.
  static let all: [Check] = [
    deviceKey, history, git, interruption, locks, merges, agreement, held, membership, meetings,
    clock, discovery, multicast, port, page, fileSystem, watches, names, size, state,
  ]

  func findings(in context: CheckContext) -> [Finding] {
    do {
      return try run(context)
    } catch {
      let failure = Failure(describing: error)
      return .problem(failure.message, remedy: failure.hint ?? remedy)
    }
  }
}

struct Finding: Equatable {
  enum Level: String {
    case good = "ok"
    /// The part works, but could be better.
    case advice
    case problem
  }

  var level: Level
  /// The finding, in lower case without a full stop.
  var message: String
  var remedy: String?
}

extension [Finding] {
  static func good(_ message: String) -> [Finding] { [Finding(level: .good, message: message)] }

  static func advice(_ message: String, remedy: String) -> [Finding] {
    [Finding(level: .advice, message: message, remedy: remedy)]
  }

  static func problem(_ message: String, remedy: String) -> [Finding] {
    [Finding(level: .problem, message: message, remedy: remedy)]
  }
}

extension Check {
  func json(of findings: [Finding]) -> [JSON] {
    findings.map { finding in
      [
        "type": "finding", "check": name, "state": finding.level.rawValue,
        "message": finding.message, "remedy": finding.remedy,
      ]
    }
  }

  func text(of findings: [Finding], on terminal: Terminal) -> String {
    let width = Self.all.map { Width.of($0.title) }.max() ?? 0
    return findings.map { finding in
      let mark =
        switch finding.level {
        case .good: terminal.paint("ok     ", .green)
        case .advice: terminal.paint("advice ", .boldYellow)
        case .problem: terminal.paint("problem", .boldRed)
        }
      let start = "\(mark)  \(Width.pad(title, to: width))  "
      let remedy = finding.remedy.map {
        "\n" + terminal.wrapped("         \(terminal.paint("→", .cyan)) \($0)", from: 11)
      }
      return terminal.wrapped(start + finding.message, from: Width.of(painted: start))
        + (remedy ?? "") + "\n"
    }.joined()
  }
}

struct DoctorReport {
  let problems: Int
  let advice: Int

  init(_ findings: [Finding]) {
    problems = findings.count { $0.level == .problem }
    advice = findings.count { $0.level == .advice }
  }

  var json: JSON { ["type": "result", "problems": problems, "advice": advice] }

  var text: String {
    switch (problems, advice) {
    case (0, 0): "Nothing is wrong."
    case (0, _): "Nothing is wrong; \(Phrase.count(advice, "thing")) could be better."
    default: "\(Phrase.count(problems, "problem")) found."
    }
  }
}

struct DoctorCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check for problems and say how to fix them.",
    discussion: """
      Checks the device key, the history, the membership, the clock, the network, the page \
      of 'notes web' and the file system. Without --repair it changes nothing. The exit status is 1 if something is wrong, \
      and 0 otherwise, also if there is only advice.

      Examples:
        notes doctor
        notes doctor --repair
        notes doctor --listen '*:4410' --json
      """)

  @Flag(help: "Remove versions that are too large for any device, and repair git's commit-graph.")
  var repair = false
  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    var context = CheckContext(
      notebook: notebook,
      discovery: discovery.discovery(for: notebook.identity.device.deviceID))
    if let address = listen.address { context.listen = address }
    if repair {
      let graph = CommitGraph(of: notebook.repository)
      let unknown = try graph.unknownCommits()
      if unknown > 0 {
        try graph.remove()
        options.write([["type": "commit_graph", "unknown": unknown]]) { _ in
          "Removed git's commit-graph, which names missing versions; git makes a new one.\n"
        }
      }
      for (version, why) in try notebook.pruneOversized() {
        options.write([["type": "cut_off", "version": version.hex, "message": why]]) { _ in
          "Cut off version \(version.short): \(why).\n"
        }
      }
    }
    var all: [Finding] = []
    for check in Check.all {
      let findings = WaitingLine.show("Checking: \(check.title) ...") {
        check.findings(in: context)
      }
      options.write(check.json(of: findings)) { check.text(of: findings, on: $0) }
      Output.standard.flush()
      all += findings
    }
    let report = DoctorReport(all)
    options.write([report.json]) { _ in report.text + "\n" }
    if report.problems > 0 { throw Exit.failed }
  }
}
