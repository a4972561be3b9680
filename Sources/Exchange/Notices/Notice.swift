internal import Git
internal import Membership
internal import Notebook

/// A fact that devices tell each other besides versions, in their greeting or later. The type adds this
/// device's fact to messages, and stores the peer's. The code that carries messages knows nothing of it.
protocol Notice {
  /// Adds the notice's fields to this device's first message.
  func add(to hello: inout HelloMessage) throws
  /// Reads the notice's fields from the peer's first message. An error ends the session.
  func received(_ hello: HelloMessage) throws
  /// Reads a message of the session, which may be for another notice.
  func received(_ message: any Message) throws
}

extension Notice {
  func add(to hello: inout HelloMessage) throws {}
  func received(_ hello: HelloMessage) throws {}
  func received(_ message: any Message) throws {}
}

/// The session in which a notice is sent.
struct NoticeScene {
  let context: SessionContext
  let notebook: Notebook
  let peer: PeerIdentity
  /// The peer's host.
  let host: String
  let options: SessionOptions
  let report: (Event) -> Void

  /// All notices: the messages besides versions and the membership.
  var notices: [any Notice] { first + later }

  /// The notices that do not depend on the exchanged membership.
  var first: [any Notice] {
    [
      SharedKeyNotice(scene: self), AddressNotice(scene: self), HubNotice(scene: self),
      MeetingNotice(scene: self),
    ]
  }

  /// The notices that depend on the membership after its exchange.
  var later: [any Notice] {
    [InvitationNotice(scene: self), NewKeyNotice(scene: self), OwnDeviceNotice(scene: self)]
  }
}

/// The port at which the peer listens, for later connections.
struct AddressNotice: Notice {
  let scene: NoticeScene

  func add(to hello: inout HelloMessage) { hello.port = scene.options.port }

  func received(_ hello: HelloMessage) throws {
    guard let port = hello.port, port != 0 else { return }
    try PeerAddresses(stateFolder: scene.notebook.stateFolder).remember(
      Address(host: scene.host, port: port), of: scene.peer.deviceID)
  }
}

/// Whether two machines use one key, and when each was connected: notes-protocol(7), "A key on two
/// machines".
struct SharedKeyNotice: Notice {
  let scene: NoticeScene

  private var sightings: PeerSightings {
    PeerSightings(stateFolder: scene.notebook.stateFolder)
  }
  private var sharing: KeySharing { KeySharing(stateFolder: scene.notebook.stateFolder) }

  func add(to hello: inout HelloMessage) throws {
    hello.machine = try scene.context.machine()
    hello.keyShared = sightings.sharing(of: scene.peer.deviceID)
    hello.left = sharing.left
  }

  func received(_ hello: HelloMessage) throws {
    let now = WallClock.now()
    if hello.device == scene.context.key.deviceID {
      guard let machine = try scene.context.machine(), let theirs = hello.machine, machine != theirs
      else { throw SyncError.ownAddress }
      try record(KeySharing.Notice(time: now, witness: nil))
      throw SyncError.keyShared
    }
    let own = scene.context.key.deviceID
    if let ago = hello.keyShared, ago < KeySharing.memory {
      try record(KeySharing.Notice(time: now - ago, witness: scene.peer.name))
    } else if sharing.notice(of: own)?.witness == scene.peer.name {
      try sharing.settle()
    }
    // `left` is in every greeting, but matters only in the first.
    if let left = hello.left, sightings.last(of: scene.peer.deviceID) == nil {
      sightings.forgetMachines(of: left)
      if left == own { try sharing.settle() }
    }
    sightings.record(scene.peer.deviceID, on: hello.machine)
  }

  private func record(_ notice: KeySharing.Notice) throws {
    if try sharing.record(notice, of: scene.context.key.deviceID) {
      scene.report(
        .keyShared(notebook: scene.context.membership.notebookID, witness: notice.witness))
    }
  }
}

/// A member's request to certify its new key, sent to admins, and stored for their user:
/// notes-security(7), "A key of its own".
struct NewKeyNotice: Notice {
  let scene: NoticeScene

  func add(to hello: inout HelloMessage) {
    guard scene.peer.role == .admin else { return }
    hello.request = scene.context.request.map { Base64($0.der) }
  }

  func received(_ hello: HelloMessage) throws {
    let membership = scene.context.membership
    guard let request = hello.request,
      membership.role(ofDevice: scene.context.key.deviceID) == .admin,
      let member = membership.member(ofDevice: scene.peer.deviceID)
    else { return }
    let requests = KeyRequests(stateFolder: scene.notebook.stateFolder)
    if try requests.keep(request.bytes, of: member, in: membership) {
      scene.report(.keyRequested(notebook: membership.notebookID, by: scene.peer))
    }
  }
}

/// An invitation to another notebook, stored until the user answers it.
struct InvitationNotice: Notice {
  let scene: NoticeScene

  func add(to hello: inout HelloMessage) {
    guard let invitation = scene.options.invitation, invitation.guest == scene.peer.deviceID
    else { return }
    hello.invitation = invitation.message
  }

  func received(_ hello: HelloMessage) throws { if let one = hello.invitation { try keep(one) } }

  func received(_ message: any Message) throws {
    if let message = message as? InvitationMessage { try keep(message.invitation) }
  }

  /// The invitation is listed at most for the longest lifetime of an invitation, even if the peer
  /// states a later end.
  private func keep(_ invitation: CarriedInvitation) throws {
    var invitation = invitation
    invitation.expires = min(
      invitation.expires, WallClock.now() + Int64(scene.context.timeouts.invitation))
    try ReceivedInvitations(stateFolder: scene.notebook.stateFolder).keep(
      ReceivedInvitation(
        invitation: invitation, inviter: scene.peer.name, inviterID: scene.peer.deviceID,
        address: Address(host: scene.host, port: invitation.port)))
  }
}
