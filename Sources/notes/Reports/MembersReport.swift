internal import Membership

/// The devices of a notebook.
struct MembersReport {
  private let members: [Member]
  private let thisDevice: String

  init(members: [Member], thisDevice: String) {
    // This device first, then by name; removed ones last.
    self.members = members.sorted { left, right in
      (left.isRemoved ? 1 : 0, left.deviceID == thisDevice ? 0 : 1, left.name, left.deviceID)
        < (
          right.isRemoved ? 1 : 0, right.deviceID == thisDevice ? 0 : 1, right.name, right.deviceID
        )
    }
    self.thisDevice = thisDevice
  }

  var json: [JSON] {
    members.map { member in
      [
        "name": .string(member.name), "device": .string(member.deviceID),
        "role": .string(member.role.rawValue),
        "state": .string(member.isRemoved ? "removed" : "member"),
        "founder": .bool(member.isFounder), "this_device": .bool(member.deviceID == thisDevice),
        "issued_by": .string(member.issuedBy),
        "since": .string(TimeText.rfc3339(member.issuedAt)),
      ]
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    var table = Table(flexible: 0)
    for member in members {
      var remarks: [String] = []
      if member.deviceID == thisDevice { remarks.append("this device") }
      if member.isFounder { remarks.append("founder") }
      table.add([
        Table.Cell(Visible.name(member.name), member.isRemoved ? .dim : .bold),
        Table.Cell(member.isRemoved ? "removed" : member.role.rawValue),
        Table.Cell(String(member.deviceID.prefix(8)), .dim),
        Table.Cell(TimeText.relative(member.issuedAt, now: now), .dim),
        Table.Cell(remarks.joined(separator: ", ")),
      ])
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }
}
