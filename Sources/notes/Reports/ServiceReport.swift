internal import Membership
internal import Notebook
internal import Sync
internal import Watch

/// Tells what happens while this device listens: to programs, and for an invitation to people.
struct ServiceReport: Sendable {
  let json: Bool
  /// Whether people are told here; a service's log tells them otherwise.
  let tellsPeople: Bool
  /// The device that an invitation is told to, where it needs no code.
  var guest: String?
  /// What strangers do must neither push the code off the screen nor fill a file.
  private let strangers: RefusalQuota

  init(json: Bool, tellsPeople: Bool, guest: String? = nil) {
    self.json = json
    self.tellsPeople = tellsPeople
    self.guest = guest
    strangers = tellsPeople ? RefusalQuota(burst: 3, perSecond: 0.1) : RefusalQuota()
  }

  func tell(_ event: ServiceEvent) {
    if case .failed(nil, _, _) = event, strangers.take() == nil { return }
    if json {
      for line in lines(for: event) { Output.standard.event(line) }
    } else if tellsPeople {
      tellPeople(event)
      Output.standard.flush()
    }
  }

  private func tellPeople(_ event: ServiceEvent) {
    switch event {
    case .invitation(let invitation, _) where guest != nil:
      let minutes = TimeText.duration(Int(max(0, invitation.expires - TimeText.now)))
      Output.standard.write(
        """
        \(Console.output.paint(Visible.name(guest ?? ""), .bold)) is invited as \
        \(invitation.role.rawValue), as soon as it is reached. There run:

          notes invitations accept

        It ends in \(minutes). Waiting; Ctrl-C takes the invitation back.

        """)
    case .invitation(let invitation, let port):
      let code = Console.output.paint(invitation.code.description, .bold)
      let minutes = TimeText.duration(Int(max(0, invitation.expires - TimeText.now)))
      Output.standard.write(
        """
        On the other device run:

          notes join \(code)

        The code lets one device join as \(invitation.role.rawValue). It ends in \(minutes), or \
        after three wrong attempts.
        If nothing is found there: add --at HOST:\(port), with this device's address.
        Waiting; Ctrl-C takes the invitation back.

        """)
    case .joined(_, let device):
      Output.standard.line(
        Console.output.paint(Visible.name(device.name), .bold)
          + " joined as \(device.role.rawValue)")
    case .finished(let result):
      Output.standard.write(SessionText(result: result).text(on: Console.output))
    case .declined(_, let address):
      Output.standard.line("Declined by \(Visible.name(address)); the invitation stays open.")
    case .wrongCode(_, let address, let left):
      Output.standard.line(
        Console.output.paint("Wrong code", .boldYellow)
          + " from \(Visible.name(address)); \(Counted.things(left, "attempt")) left.")
    case .failed(let peer, let address, let error):
      let name = Visible.name(peer?.name ?? address)
      Output.errors.line("notes: warning: \(name): \(Failure(describing: error).message)")
      Output.errors.flush()
    case .discoveryFailed(let error):
      Output.errors.line("notes: warning: \(Failure(describing: error).message)")
      Output.errors.line(
        "notes: hint: on the other device name this one's address: --at HOST:PORT")
      Output.errors.flush()
    case .listening, .peer, .received, .differs, .ended, .offered, .watch: break
    }
  }

  /// The lines of the tables in notes-serve(1) and notes-invite(1).
  private func lines(for event: ServiceEvent) -> [JSON] {
    switch event {
    case .listening(let address, let port):
      [SyncEventJSON.listening(address: address, port: port)]
    case .invitation(let invitation, let port):
      [
        [
          // The code is for whoever invites, and not for a service's log.
          "type": .string("invitation"),
          tellsPeople ? "code" : "locator":
            .string(tellsPeople ? invitation.code.description : invitation.code.locator),
          "address": .string("*"), "port": .int(Int(port)),
          "role": .string(invitation.role.rawValue),
          "expires": .string(TimeText.rfc3339(invitation.expires)),
        ]
      ]
    case .peer(let peer): SyncEventJSON.lines(for: .peer(peer))
    case .received(let peer, let joined): SyncEventJSON.lines(for: .received(from: peer, joined))
    case .finished(let result): SyncEventJSON.lines(for: .finished(result))
    case .differs(let peer, let difference):
      SyncEventJSON.lines(for: .differs(peer, difference))
    case .failed(let peer, let address, let error):
      SyncEventJSON.lines(for: .failed(peer: peer, device: nil, address: address, error))
    case .joined(_, let device):
      [
        [
          "type": .string("joined"), "name": .string(device.name),
          "device": .string(device.deviceID), "role": .string(device.role.rawValue),
          "address": .string(device.address),
        ]
      ]
    case .offered(_, let address): [["type": .string("offered"), "address": .string(address)]]
    case .declined(_, let address): [["type": .string("declined"), "address": .string(address)]]
    case .wrongCode(_, let address, let left):
      [
        [
          "type": .string("wrong_code"), "address": .string(address), "attempts_left": .int(left),
        ]
      ]
    case .ended(_, let end): [["type": .string("expired"), "reason": .string("\(end)")]]
    case .discoveryFailed(let error): SyncEventJSON.lines(for: .discoveryFailed(error))
    case .watch(let event): WatchEventJSON.lines(for: event)
    }
  }
}
