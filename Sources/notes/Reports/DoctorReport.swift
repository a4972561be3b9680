/// What `notes doctor` tells.
struct DoctorReport {
  private(set) var problems = 0
  private(set) var advice = 0

  /// The findings of one examination.
  struct Section {
    let examination: Examination
    let findings: [Finding]

    var json: [JSON] {
      findings.map { finding in
        [
          "type": .string("finding"), "check": .string(examination.name),
          "state": .string(finding.level.rawValue), "message": .string(finding.message),
          "remedy": .optional(finding.remedy),
        ]
      }
    }

    func text(on terminal: Terminal) -> String {
      let width = Examination.all.map { Width.of($0.title) }.max() ?? 0
      let room = String(repeating: " ", count: max(0, width - Width.of(examination.title)))
      return findings.map { finding in
        let mark =
          switch finding.level {
          case .good: terminal.paint("ok     ", .green)
          case .advice: terminal.paint("advice ", .boldYellow)
          case .problem: terminal.paint("problem", .boldRed)
          }
        let remedy = finding.remedy.map { "\n         \(terminal.paint("→", .cyan)) \($0)" } ?? ""
        return "\(mark)  \(examination.title)\(room)  \(finding.message)\(remedy)\n"
      }.joined()
    }
  }

  /// Counts what an examination found.
  mutating func add(_ findings: [Finding], of examination: Examination) -> Section {
    problems += findings.count { $0.level == .problem }
    advice += findings.count { $0.level == .advice }
    return Section(examination: examination, findings: findings)
  }

  /// The last line for programs.
  var json: JSON {
    ["type": .string("result"), "problems": .int(problems), "advice": .int(advice)]
  }

  /// The last line for people.
  var text: String {
    switch (problems, advice) {
    case (0, 0): "Nothing is wrong."
    case (0, _): "Nothing is wrong; \(Counted.things(advice, "thing")) could be safer."
    default: "\(Counted.things(problems, "problem")) to see to."
    }
  }
}
