internal import Channel
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook

/// The beginning of a session, `hello` and `membership` of notes-protocol(7): each side learns the
/// other's identity, new facts about the members, and in which directions versions go.
struct Greeting {
  let stream: MessageStream
  let context: SessionContext
  let replica: Replica
  let options: SessionOptions

  private var membership: MembershipStore { context.membership }

  /// Exchanges both messages. Afterwards the replica knows the peer's name and the versions that it
  /// shows.
  ///
  /// - Returns: the terms of the session, and the handlers of other facts in it.
  func exchange(
    showing shown: Shown
  ) throws -> (terms: SessionTerms, notices: [any Notice]) {
    var scene = scene
    let (digest, takesFromPeer) = (try membershipDigest(), replica.peer.role >= .writer)
    let awaits = replica.notebook.awaitsVersions
    var own = try hello(showing: shown, digest, takes: takesFromPeer)
    if awaits { own.awaits = true }
    for notice in scene.notices { try notice.add(to: &own) }
    try stream.send(own)
    let hello = try stream.receive(HelloMessage.self)
    try check(hello, own.versions)
    for notice in scene.first { try notice.received(hello) }
    if hello.membership != digest {
      replica.peer = try exchangeMembership()
      scene = self.scene
    }
    try membership.heardMembership()
    for notice in scene.later { try notice.received(hello) }
    // "X learns from takes in Y's hello whether it holds." The membership just received may have changed the role: the
    // stricter value counts.
    let peerGives = options.mode.receives && hello.mode.gives && takesFromPeer
    let exchange = SessionRules.Terms(
      gives: options.mode.gives && hello.mode.receives && hello.takes,
      takes: peerGives && replica.peer.role >= .writer, owesAnswers: peerGives,
      ends: options.endsWhenDone || hello.once == true)
    let theirs = Shown(tip: hello.tip, heads: hello.heads, forgot: hello.forgot)
    // A peer that also waits does not know whether the notebook has versions.
    if awaits, hello.awaits != true {
      try replica.notebook.stopAwaitingVersions(unlessNew: theirs.heads)
    }
    if !Set(theirs.forgot).isSubset(of: own.forgot ?? []) { try replica.notebook.lookForObeyed() }
    let terms = SessionTerms(
      theirs: theirs, rules: hello.merge, exchange: exchange,
      knowsForgettings: hello.versions.contains(ProtocolLimits.version))
    return (terms, scene.notices)
  }

  private var scene: NoticeScene {
    NoticeScene(
      context: context, notebook: replica.notebook, peer: replica.peer,
      host: stream.connection.peer.host, options: options, report: replica.report)
  }

  private func hello(
    showing shown: Shown, _ digest: String, takes: Bool
  ) throws -> HelloMessage {
    let notebook = replica.notebook
    return HelloMessage(
      versions: ProtocolLimits.versions(obeying: shown.forgot), notebook: membership.notebookID,
      device: context.key.deviceID, name: notebook.identity.device.name, mode: options.mode,
      takes: takes, tip: shown.tip, heads: shown.heads,
      notes: shown.tip == nil ? 0 : try notebook.history.noteCount(), membership: digest,
      once: options.endsWhenDone ? true : nil, merge: MergeTrailers.currentVersion,
      forgot: shown.forgot.isEmpty ? nil : shown.forgot)
  }

  private func check(_ hello: HelloMessage, _ versions: [Int]) throws {
    guard hello.versions.contains(where: versions.contains) else {
      throw SyncError.noCommonVersion(hello.versions)
    }
    guard hello.notebook == membership.notebookID else { throw SyncError.wrongNotebook }
    guard hello.device == replica.peer.deviceID else {
      throw SyncError.protocolBroken("a device ID that is not its certificate's")
    }
  }

  // MARK: Members

  /// Sends all certificates and revocation lists, merges the peer's valid ones, and finds the peer's
  /// identity in them.
  private func exchangeMembership() throws -> PeerIdentity {
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
    let peer = replica.peer
    guard let member = membership.member(ofDevice: peer.deviceID) else {
      throw SyncError.notAMember(device: peer.deviceID)
    }
    try replica.notebook.takeNames(from: membership, device: context.key.deviceID)
    return PeerIdentity(
      name: member.name, deviceID: peer.deviceID, role: member.role, address: peer.address)
  }

  /// A digest that is equal if two devices know the same membership: the blob ID of the sorted blob IDs of all
  /// certificates and revocation lists. Only an admin could make two with equal IDs. A collision could only
  /// hide a certificate, which an admin can also do by not making it.
  private func membershipDigest() throws -> String {
    let parts = membership.certificates + membership.revocations
    let names = try parts.map(ObjectID.digest(ofBlob:)).sorted()
    return try ObjectID.digest(ofBlob: names.flatMap(\.bytes)).hex
  }
}

extension Notebook {
  /// Adopts the names that admins have given the device and the notebook: versions contain the
  /// device's name.
  func takeNames(from membership: MembershipStore, device: String) throws {
    let own = membership.member(ofDevice: device)?.deviceName
    if let own, own != identity.device.name { try rename(device: own) }
    if membership.notebookName != identity.name {
      try rename(notebook: membership.notebookName)
    }
  }
}
