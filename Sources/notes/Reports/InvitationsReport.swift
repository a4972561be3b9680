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
        "type": .string("made"), "locator": .string(record.locator),
        "state": .string(record.state.rawValue), "role": .string(record.role.rawValue),
        "created": .string(TimeText.rfc3339(record.created)),
        "expires": .string(TimeText.rfc3339(record.expires)), "name": .optional(record.name),
        "device": .optional(record.deviceID),
      ]
    }
      + received.map { received in
        let invitation = received.invitation
        return [
          "type": .string("received"), "inviter": .string(received.inviter),
          "device": .string(received.inviterID), "notebook": .string(invitation.notebookID),
          "name": .string(invitation.notebookName), "role": .string(invitation.role.rawValue),
          "expires": .string(TimeText.rfc3339(invitation.expires)),
          "address": .string(received.address.description),
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
        Table.Cell(record.locator + "-…", record.state.isOpen ? .bold : .dim),
        Table.Cell(record.state.rawValue),
        Table.Cell(record.role.rawValue),
        Table.Cell(record.name.map { Visible.name($0) } ?? ""),
        Table.Cell(ends, .dim),
      ])
    }
    var text = table.lines(for: terminal).map { $0 + "\n" }.joined()
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
