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
      let remedy = finding.remedy.map { "\n         \(terminal.paint("→", .cyan)) \($0)" } ?? ""
      return "\(mark)  \(Width.pad(title, to: width))  \(finding.message)\(remedy)\n"
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
    case (0, _): "Nothing is wrong; \(Phrase.count(advice, "thing")) could be safer."
    default: "\(Phrase.count(problems, "problem")) found."
    }
  }
}
