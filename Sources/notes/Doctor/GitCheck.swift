internal import Git
internal import Notebook

extension Check {
  /// Checks that no git operation keeps notes from being saved, and that HEAD is on the notebook's
  /// versions.
  static let git = Check(name: "git", title: "git", remedy: "run 'git status'") { context in
    let status = try context.notebook.status()
    var findings: [Finding] = []
    let names = Phrase.list(
      status.unmerged.prefix(3).map { Visible.name($0) }
        + (status.unmerged.count > 3
          ? [Phrase.count(status.unmerged.count - 3, "other file")] : []))
    if let operation = status.gitOperation {
      let conflict = names.isEmpty ? "" : ", in conflict about \(names)"
      findings += .problem(
        "a git \(operation.rawValue) is in progress\(conflict); nothing is saved until it ends",
        remedy: names.isEmpty
          ? operation.remedy : "\(status.unmerged.mergeRemedy); then \(operation.remedy)")
    } else if !names.isEmpty {
      findings += .problem(
        "git could not merge \(names); until somebody merges them, nothing is saved",
        remedy: status.unmerged.mergeRemedy)
    }
    for overlay in context.notebook.repository.overlays {
      switch overlay {
      case .grafts:
        findings += .problem(
          "git shows some versions with wrong parents (.git/info/grafts)",
          remedy: "other devices do not see these parents: rm .git/info/grafts")
      default:
        findings += .problem(
          "git replaces some objects by others (refs/replace)",
          remedy: "'git replace -l' lists them, 'git replace -d ID' removes one")
      }
    }
    return findings.isEmpty ? .good("no operation is in progress") : findings
  }
}
