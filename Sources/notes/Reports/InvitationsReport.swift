internal import Channel
internal import Exchange
internal import Membership

struct InvitationsReport {
  let made: [InvitationRecord]
  let received: [ReceivedInvitation]

  var json: [JSON] {
    let ours: [JSON] = made.map { record in
      [
        "type": "made", "locator": record.locator, "state": record.state.rawValue,
        "role": record.role.rawValue, "created": TimeText.rfc3339(record.created),
        "expires": TimeText.rfc3339(record.expires), "name": record.name, "device": record.deviceID,
      ]
    }
    return ours
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
    if made.isEmpty, received.isEmpty { return "No invitations. 'notes invite' opens one.\n" }
    let rows = made.map { record in
      let isOpen = record.state.isOpen
      let time =
        isOpen
        ? "ends in " + TimeText.left(until: record.expires, now: now)
        : TimeText.relative(record.created, now: now)
      return [
        Styled(record.locator + "-…", isOpen ? .bold : .dim), Styled(record.state.rawValue),
        Styled(record.role.rawValue), Styled(Visible.name(record.name ?? "")), Styled(time, .dim),
      ]
    }
    var text = Table(flexible: 3, rows: rows).text(on: terminal)
    for received in received {
      let invitation = received.invitation
      text +=
        terminal.paint(Visible.name(received.inviter), .bold) + " invites this device to "
        + terminal.paint(Visible.name(invitation.notebookName), .bold)
        + " as \(invitation.role.rawValue); ends in "
        + TimeText.left(until: invitation.expires, now: now) + "\n"
    }
    if !received.isEmpty {
      text += "'notes invitations accept' joins, 'notes invitations decline' says no.\n"
    }
    return text
  }
}
