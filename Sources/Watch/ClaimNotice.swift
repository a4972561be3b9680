package import Exchange

/// The words of a claim of the founder's place, for people: on the terminal, in the log and on the page.
package struct ClaimNotice {
  package let news: ClaimNews
  /// The message for people: lower case, no full stop.
  package let message: String
  package let remedy: String
  /// Whether devices have different founders for good.
  package var isContested: Bool { news.state == .contested }
  /// Whether the claim is still open, so that a device can stop it.
  package var isOpen: Bool { news.state == .open }

  /// The message as a sentence.
  package var sentence: String { "\(message.prefix(1).uppercased())\(message.dropFirst())." }

  /// The notice of a claim; nil for an accepted claim on which all devices agree. `shown` makes names fit for the place
  /// where they are shown.
  package init?(_ news: ClaimNews, shown: (String) -> String) {
    self.news = news
    let claimer = shown(news.name)
    let founder = news.founderName.map(shown) ?? "a device"
    switch news.state {
    case .open:
      let days = news.days ?? 0
      let more = "after \(days) more \(days == 1 ? "day" : "days")"
      message =
        news.isOwn
        ? "this device claims to be the founder in place of \(founder), and becomes it here "
          + (days == 0 ? "now" : "\(more) of use")
        : "\(claimer) claims to be the founder in place of \(founder): this device accepts the claim "
          + "\(days == 0 ? "on the next day" : more) on which it reaches another device or a hub"
      remedy =
        news.isOwn
        ? "to withdraw the claim: 'notes members handover --stop'"
        : "if \(founder) is not lost, stop the claim there or on another admin's device: "
          + "'notes members handover --stop'"
    case .stopped:
      let by = news.stoppers.map(shown).joined(separator: ", ")
      message =
        "the claim of \(claimer) on the founder's place was stopped"
        + (by.isEmpty ? "" : " by \(by)")
      remedy = "if \(claimer) should not be an admin: 'notes members role NAME writer'"
    case .contested:
      message =
        "\(claimer) is the founder here by a claim on the place of \(founder); a stop, a removal of "
        + "\(claimer), or a handover by \(founder), came too late, so other devices have another founder"
      remedy =
        "let each device whose 'notes members' shows the wrong founder join again: 'notes invite' on a device with the "
        + "right one, 'notes join CODE' there"
    case .accepted: return nil
    }
  }
}
