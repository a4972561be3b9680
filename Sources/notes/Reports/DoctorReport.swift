struct DoctorReport {
  private(set) var problems = 0
  private(set) var advice = 0

  struct Section {
    let examination: Examination
    let findings: [Finding]

    var json: [JSON] {
      findings.map { finding in
        [
          "type": "finding", "check": examination.name, "state": finding.level.rawValue,
          "message": finding.message, "remedy": finding.remedy,
        ] as JSON
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

  mutating func add(_ findings: [Finding], of examination: Examination) -> Section {
    problems += findings.count { $0.level == .problem }
    advice += findings.count { $0.level == .advice }
    return Section(examination: examination, findings: findings)
  }

  var json: JSON {
    ["type": "result", "problems": problems, "advice": advice]
  }

  var text: String {
    switch (problems, advice) {
    case (0, 0): "Nothing is wrong."
    case (0, _): "Nothing is wrong; \(Phrase.count(advice, "thing")) could be safer."
    default: "\(Phrase.count(problems, "problem")) found."
    }
  }
}
