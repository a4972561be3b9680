internal import Channel
internal import Membership
internal import Sync

/// The invitations that were made here, and those that came.
struct InvitationsReport {
  let made: [InvitationRecord]
  let received: [ReceivedInvitation]

  /// A line each; none holds a secret.
  var json: [JSON] {
    made.map { record in
      [
        "type": "made", "locator": record.locator, "state": record.state.rawValue,
        "role": record.role.rawValue, "created": TimeText.rfc3339(record.created),
        "expires": TimeText.rfc3339(record.expires), "name": record.name, "device": record.deviceID,
      ] as JSON
    }
      + received.map { received in
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
    var table = Table(flexible: 3)
    for record in made {
      let ends =
        record.state.isOpen
        ? "ends in " + TimeText.duration(Int(max(0, record.expires - now)))
        : TimeText.relative(record.created, now: now)
      table.add([
        Styled(record.locator + "-…", record.state.isOpen ? .bold : .dim),
        Styled(record.state.rawValue),
        Styled(record.role.rawValue),
        Styled(record.name.map { Visible.name($0) } ?? ""),
        Styled(ends, .dim),
      ])
    }
    var text = table.text(on: terminal)
    for received in received {
      let invitation = received.invitation
      text +=
        terminal.paint(Visible.name(received.inviter), .bold) + " invites this device to "
        + terminal.paint(Visible.name(invitation.notebookName), .bold)
        + " as \(invitation.role.rawValue); ends in "
        + TimeText.duration(Int(max(0, invitation.expires - now))) + "\n"
    }
    if !received.isEmpty {
      text += "'notes invitations accept' joins, 'notes invitations decline' says no.\n"
    }
    return text
  }
}
