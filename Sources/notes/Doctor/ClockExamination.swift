internal import Git
internal import History
internal import Membership
internal import Notebook

extension Examination {
  /// The clock is near what the history and the certificates say. Nothing depends on it but the
  /// dates that people see and the order of conflicting sides.
  static let clock = Examination(
    name: "clock", title: "clock", remedy: "set the clock: timedatectl set-ntp true"
  ) { patient in
    let remedy = "set the clock: timedatectl set-ntp true"
    let today = TimeText.local(patient.now)
    // 2025-01-01 and 2100-01-01: no version of notes ran before, and none will after.
    guard (1_735_689_600..<4_102_444_800).contains(patient.now) else {
      return .problem("the clock says \(today)", remedy: remedy)
    }
    let day: Int64 = 86_400
    var newest: (time: Int64, what: String)?
    if let tip = try patient.notebook.state().tip {
      let commit = try patient.notebook.repository.commit(tip)
      newest = (max(commit.author.time, commit.committer.time), "the newest version")
    }
    if let member = (try? patient.membership())?.members().max(by: { $0.issuedAt < $1.issuedAt }),
      member.issuedAt > newest?.time ?? 0
    {
      newest = (member.issuedAt, "the newest certificate")
    }
    if let newest, newest.time > patient.now + day {
      return .problem(
        "\(newest.what) is of \(TimeText.local(newest.time)), but the clock says \(today)",
        remedy: "\(remedy); or the clock of the device that made it was ahead")
    }
    return .good(today)
  }
}
