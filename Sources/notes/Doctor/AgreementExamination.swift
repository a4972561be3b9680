internal import History
internal import Membership
internal import Notebook

extension Examination {
  /// No device that has the same heads shows another tip.
  static let agreement = Examination(
    name: "agreement", title: "agreement", remedy: "update notes on all devices"
  ) { patient in
    let members = (try? patient.membership())?.members() ?? []
    let findings: [Finding] = patient.notebook.tipDifferences().compactMap { difference in
      let member = members.first { $0.deviceID == difference.device }
      // A device that was removed is not met again.
      if member?.isRemoved == true { return nil }
      let name = Visible.name(member?.name ?? difference.device)
      return .problem(message(difference, name), remedy: remedy(difference, name))
    }
    return findings.isEmpty ? .good("no device merges the same versions differently") : findings
  }

  private static func message(_ difference: TipDifference, _ name: String) -> String {
    let theirs = difference.peerRules.map { "by rules \($0)" } ?? "by unknown rules"
    return "\(name) merges the same versions differently: it shows \(difference.peerTip.short) "
      + "\(theirs), this device \(difference.tip.short) by rules \(difference.rules)"
  }

  /// Whoever follows the older rules has the older program.
  private static func remedy(_ difference: TipDifference, _ name: String) -> String {
    let settled = "the next edit of a note brings both to one version"
    guard let theirs = difference.peerRules, theirs >= difference.rules else {
      return "update notes on \(name); \(settled)"
    }
    if theirs > difference.rules { return "update notes on this device; \(settled)" }
    return "update notes on both devices; \(settled)"
  }
}
