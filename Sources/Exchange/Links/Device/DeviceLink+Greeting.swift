internal import Channel
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import System

// hello and membership: notes-protocol(7).
extension DeviceLink {
  /// Learns who the peer is, exchanges what is known of the members, and settles the directions.
  func greet(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms {
    let digest = membershipDigest()
    let takesFromPeer = peer.role >= .writer
    let invitation = options.invitation.flatMap { $0.guest == peer.deviceID ? $0.message : nil }
    let sightings = PeerSightings(stateFolder: notebook.stateFolder)
    let machine = context.machine()
    try stream.send(
      HelloMessage(
        versions: [ProtocolLimits.version], notebook: context.membership.notebookID,
        device: context.key.deviceID, name: notebook.identity.device.name, mode: options.mode,
        takes: takesFromPeer, tip: own.tip, heads: own.heads,
        notes: own.tip == nil ? 0 : try notebook.history.noteCount(), membership: digest,
        port: options.port,
        once: options.endsWhenDone ? true : nil, merge: MergeTrailers.currentVersion,
        invitation: invitation, machine: machine, keyShared: sightings.sharing(of: peer.deviceID),
        request: peer.role == .admin ? context.request.map { Base64($0.der) } : nil))
    let hello = try stream.receive(HelloMessage.self)
    guard hello.versions.contains(ProtocolLimits.version) else {
      throw SyncError.noCommonVersion(hello.versions)
    }
    guard hello.notebook == context.membership.notebookID else { throw SyncError.wrongNotebook }
    guard hello.device == peer.deviceID else {
      throw SyncError.protocolBroken("a device ID that is not its certificate's")
    }
    try checkKey(hello, from: machine)
    sightings.note(peer.deviceID, on: hello.machine)
    if let port = hello.port, port != 0 {
      try PeerAddresses(stateFolder: notebook.stateFolder).remember(
        address(port: port), of: peer.deviceID)
    }
    if hello.membership != digest { try exchangeMembership() }
    if let invitation = hello.invitation { try keep(invitation) }
    if let request = hello.request { try keep(request.bytes) }
    // "Each side states in hello whether it takes anything from this peer, so that both compute the
    // same directions." The role may have changed by what was just learned: the stricter counts.
    let peerGives = options.mode.receives && hello.mode.gives && takesFromPeer
    let terms = SessionRules.Terms(
      gives: options.mode.gives && hello.mode.receives && hello.takes,
      takes: peerGives && peer.role >= .writer, owesAnswers: peerGives,
      ends: options.endsWhenDone || hello.once == true)
    return LinkTerms(
      theirs: Shown(tip: hello.tip, heads: hello.heads), rules: hello.merge, exchange: terms)
  }

  /// Learns of another machine with this device's key, which is the peer itself or was met by it.
  private func checkKey(_ hello: HelloMessage, from machine: ObjectID?) throws {
    let now = WallClock.now()
    if hello.device == context.key.deviceID {
      guard let machine, let theirs = hello.machine, machine != theirs else {
        throw SyncError.ownAddress
      }
      try note(KeySharing.Notice(time: now, witness: nil))
      throw SyncError.keyShared
    }
    if let ago = hello.keyShared, ago < KeySharing.memory {
      try note(KeySharing.Notice(time: now - ago, witness: peer.name))
    }
  }

  /// Keeps what the peer asks an admin to certify, for its user.
  private func keep(_ request: [UInt8]) throws {
    let membership = context.membership
    guard membership.role(ofDevice: context.key.deviceID) == .admin,
      let member = membership.member(ofDevice: peer.deviceID)
    else { return }
    let requests = KeyRequests(stateFolder: notebook.stateFolder)
    if try requests.keep(request, of: member, in: membership) {
      report(.keyRequested(notebook: membership.notebookID, by: peer))
    }
  }

  private func note(_ notice: KeySharing.Notice) throws {
    let sharing = KeySharing(stateFolder: notebook.stateFolder)
    if try sharing.note(notice, of: context.key.deviceID) {
      report(.keyShared(notebook: context.membership.notebookID, witness: notice.witness))
    }
  }

  private func address(port: UInt16) -> Address {
    Address(host: stream.connection.peer.host, port: port)
  }

  /// Sends all certificates and revocation lists, takes over the peer's that are valid, and learns who
  /// the peer is by them.
  private func exchangeMembership() throws {
    let membership = context.membership
    let messages = MembershipMessage.messages(
      certificates: membership.certificates, revocations: membership.revocations)
    for message in messages { try stream.send(message) }

    var received = MembershipMessage(more: true)
    while received.more == true {
      try received.append(stream.receive(MembershipMessage.self))
    }
    let (certificates, revocations) = (received.certificates, received.revocations)
    _ = try stream.working {
      try membership.merge(
        certificates: certificates.map(\.bytes), revocations: revocations.map(\.bytes))
    }
    guard let member = membership.member(ofDevice: peer.deviceID) else {
      throw SyncError.notAMember(device: peer.deviceID)
    }
    // An admin may have given this device another name: its versions carry it from now on.
    let own = membership.member(ofDevice: context.key.deviceID)?.name
    if let own, own != notebook.identity.device.name { try notebook.rename(device: own) }
    // So may the notebook have another.
    if membership.notebookName != notebook.identity.name {
      try notebook.rename(notebook: membership.notebookName)
    }
    peer = PeerIdentity(
      name: member.name, deviceID: peer.deviceID, role: member.role, address: peer.address)
  }

  /// Tells whether two devices know the same of the membership: the blob ID of the sorted blob IDs
  /// of all certificates and revocation lists. Only an admin could make two of one ID, and it keeps
  /// nothing from anybody by that which it could not keep by not making it.
  private func membershipDigest() -> String {
    let parts = context.membership.certificates + context.membership.revocations
    let names = parts.map(ObjectID.digest(ofBlob:)).sorted()
    return ObjectID.digest(ofBlob: names.flatMap(\.bytes)).hex
  }

  /// Keeps an invitation to another notebook for the user to answer. It is listed for as long as
  /// an invitation may live, whatever the peer says of its end.
  func keep(_ invitation: CarriedInvitation) throws {
    var invitation = invitation
    invitation.expires = min(
      invitation.expires, WallClock.now() + Int64(context.timeouts.invitation))
    try ReceivedInvitations(stateFolder: notebook.stateFolder).keep(
      ReceivedInvitation(
        invitation: invitation, inviter: peer.name, inviterID: peer.deviceID,
        address: address(port: invitation.port)))
  }
}
