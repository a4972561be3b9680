internal import Exchange
internal import Membership

/// The first digits of an invitation's ID, as `notes invitations` shows them.
struct InvitationDigits: CustomStringConvertible {
  let description: String

  /// Nil if the text is something else. The list shows the digits with an ellipsis.
  init?(_ text: String) {
    let digits = text.lowercased().filter { $0 != "…" }
    guard digits.count >= 4, digits.allSatisfy(\.isHexDigit) else { return nil }
    description = digits
  }

  /// The one link or file with these digits that fulfils the condition; nil if none does.
  ///
  /// - Throws: a `Failure` if several do.
  func link(
    among links: [KnownOffers.Known], that fulfils: (KnownOffers.Known) -> Bool
  ) throws(Failure) -> KnownOffers.Known? {
    let found = links.filter { $0.offer.id.description.hasPrefix(description) && fulfils($0) }
    guard found.count < 2 else {
      throw Failure(
        .failed, "ambiguous_invitation",
        "several invitations have digits that begin with '\(self)'",
        hint: "give more digits: "
          + Phrase.list(found.prefix(5).map { String($0.offer.id.description.prefix(16)) }, "or"))
    }
    return found.first
  }
}
