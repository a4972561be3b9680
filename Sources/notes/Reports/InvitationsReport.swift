internal import Channel
internal import Exchange
internal import Membership

struct InvitationsReport {
  let made: [InvitationRecord]
  let links: [KnownOffers.Known]
  let members: [Member]
  let received: [ReceivedInvitation]
  /// Whether this device may answer requests.
  var isAdmin = false

  var json: [JSON] {
    let ours: [JSON] = made.map { record in
      [
        "type": "made", "locator": record.locator, "state": record.state.rawValue,
        "role": record.role.rawValue, "created": TimeText.rfc3339(record.created),
        "expires": TimeText.rfc3339(record.expires), "name": record.name, "device": record.deviceID,
      ]
    }
    return ours + links.map(json)
      + received.map { received -> JSON in
        let invitation = received.invitation
        return [
          "type": "received", "inviter": received.inviter, "device": received.inviterID,
          "notebook": invitation.notebookID, "name": invitation.notebookName,
          "role": invitation.role.rawValue, "expires": TimeText.rfc3339(invitation.expires),
          "address": received.address.description,
        ]
      }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    if made.isEmpty, links.isEmpty, received.isEmpty {
      return "No invitations. 'notes invite' opens one.\n"
    }
    func row(
      _ name: String, isOpen: Bool, _ state: String, _ role: Role, _ people: String,
      _ created: Int64, _ expires: Int64
    ) -> [Styled] {
      let time =
        isOpen
        ? TimeText.left(until: expires, now: now) + " left"
        : TimeText.relative(created, now: now)
      return [
        Styled(name + "…", isOpen ? .bold : .dim), Styled(state), Styled(role.rawValue),
        Styled(people), Styled(time, .dim),
      ]
    }
    let rows =
      made.map {
        row(
          $0.locator + "-", isOpen: $0.state.isOpen, $0.state.rawValue, $0.role,
          Visible.name($0.name ?? ""), $0.created, $0.expires)
      }
      + links.map {
        let offer = $0.offer
        return row(
          offer.id.short, isOpen: $0.status == .open, $0.word, offer.role, people(of: $0),
          offer.created, offer.expires)
      }
    var text = Table(flexible: 3, dispensable: [2, 4], rows: rows).text(on: terminal)
    for link in links where isAdmin {
      guard let line = RequestLine(link, members) else { continue }
      text += terminal.wrapped("\(line.message): \(line.remedy)\n")
    }
    for received in received {
      let invitation = received.invitation
      text +=
        terminal.paint(Visible.name(received.inviter), .bold) + " invites this device to "
        + terminal.paint(Visible.name(invitation.notebookName), .bold)
        + " as \(invitation.role.rawValue); expires in "
        + TimeText.left(until: invitation.expires, now: now) + "\n"
    }
    if !received.isEmpty {
      text += "'notes invitations accept' joins, 'notes invitations decline' says no.\n"
    }
    return text
  }

  /// The devices that joined by a link, or whom it is for, and who made it.
  private func people(of link: KnownOffers.Known) -> String {
    let person = link.offer.person
    let joined = Phrase.list(names(of: link).map { Visible.name($0) })
    let invited = person == .own ? "own device" : person.name.map { "for \(Visible.name($0))" }
    return (joined.isEmpty ? invited.map { "\($0), " } ?? "" : "\(joined), ")
      + "by \(Visible.name(name(of: link.offer.inviterID)))"
  }

  /// The names of the devices that joined by a link.
  private func names(of link: KnownOffers.Known) -> [String] {
    if case .used(let devices) = link.status { devices.map(name(of:)) } else { [] }
  }

  /// The name of a device, or its ID if no member has it.
  private func name(of device: String) -> String {
    members.first { $0.deviceID == device }?.name ?? device
  }

  private func json(_ link: KnownOffers.Known) -> JSON {
    let offer = link.offer
    return [
      "type": "link", "invitation": offer.id.description, "state": link.word,
      "role": offer.role.rawValue, "created": TimeText.rfc3339(offer.created),
      "expires": TimeText.rfc3339(offer.expires), "inviter": name(of: offer.inviterID),
      "device": offer.inviterID, "person": offer.person.name, "mine": offer.person == .own,
      "names": names(of: link), "asker": link.request?.request.deviceID,
      "asker_name": link.request?.request.request.name,
    ]
  }
}

/// The line about another device that a member asks for, which an admin may let in.
struct RequestLine {
  let message, remedy: String

  /// Nil if no device asks by the invitation.
  init?(_ link: KnownOffers.Known, _ members: [Member]) {
    guard let asker = link.request?.request else { return nil }
    let inviter =
      members.first { $0.deviceID == link.offer.inviterID }?.name ?? link.offer.inviterID
    message =
      "\(Visible.name(inviter)) asks to let in another device, \(Visible.name(asker.request.name)) "
      + "(\(asker.deviceID.prefix(8))), as \(link.offer.role.rawValue)"
    remedy = "'notes invitations answer \(link.offer.id.description.prefix(8))' lets it in"
  }
}

extension KnownOffers.Known {
  /// The word for programs and for people.
  fileprivate var word: String {
    switch status {
    case .open where isShared: "shared"
    case .open where request != nil: "asked"
    case .open: "open"
    case .expired: "expired"
    case .cancelled: "cancelled"
    case .used: "used"
    case .void: "void"
    }
  }
}
