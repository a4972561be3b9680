internal import Git
internal import History
internal import Notebook

extension Examination {
  /// The versions are there and whole, as far as a quick look can tell.
  static let history = Examination(
    name: "history", title: "history",
    remedy: "'git fsck' tells more; another device has the notes: join again in a new folder"
  ) { patient in
    let repository = patient.notebook.repository
    let head = try repository.head()
    if head.commit == nil, let other = try repository.references(under: "refs/heads/").first {
      let branch = Visible.name(String(other.name.dropFirst("refs/heads/".count)))
      return .problem(
        "the branch \(Visible.name(head.branch ?? "")) that .git/HEAD names has no versions, "
          + "and \(branch) has",
        remedy: "'git symbolic-ref HEAD refs/heads/\(branch)' goes back to that one; the next "
          + "save begins the other where the notes stood")
    }
    let report = try patient.notebook.history.checkIntegrity()
    let versions = Phrase.count(report.versions, "version")
    if report.damages.isEmpty {
      return .good(
        report.isComplete ? "\(versions), all whole" : "the newest \(versions) are whole")
    }
    return report.damages.prefix(5).map { damage in
      .problem(
        "\(damage.id.short): \(Visible.name(damage.what))",
        remedy: "'git fsck' tells more; another device has the notes: join again in a new folder")
    }
  }

  /// No checkout waits to be finished.
  static let interruption = Examination(
    name: "checkout", title: "checkout", remedy: "run 'notes status'"
  ) { patient in
    guard try patient.notebook.status().isInterrupted else { return .good("none is under way") }
    return .problem(
      "bringing the folder to the newest version was interrupted",
      remedy: "nothing is lost: 'notes save' finishes it")
  }
}
