public import State
internal import Synchronization
public import System

/// An admin's device claims the place of a lost founder, as far as this device knows: notes-security(7), "A
/// lost founder".
public struct FounderClaim: Hashable, Sendable {
  /// The claim's state on this device.
  public enum State: Hashable, Sendable {
    /// This device will accept the claim after this many more days on which it hears another device or a hub,
    /// unless somebody stops the claim. The claimer's device counts the days on which it is used.
    case open(daysLeft: Int)
    /// The devices with these IDs stopped it; none if this device does not know any more who did.
    case stopped(by: [String])
    /// The claimer is the founder on this device. `isContested` if other devices have another founder: the
    /// former founder handed over to another device, or a stop or the claimer's removal came too late.
    case accepted(isContested: Bool)
  }

  /// The device ID of the founder whose place is claimed.
  public let founderID: String
  /// The claimer.
  public let claimer: Member
  public let state: State
}

extension MembershipStore {
  /// On how many days a device must hear another device or a hub before it accepts a claim.
  public static let claimWait = ClaimRecord.wait

  /// Whether the notebook with this state folder has seen claims, without reading them.
  public static func hasClaims(at stateFolder: StateFolder) throws -> Bool {
    try ClaimRecord.bytes(in: folder(ofNotebookAt: stateFolder)) != nil
  }

  /// The claims that this device has seen: open ones first, and among these the one with precedence.
  public func claims() throws -> [FounderClaim] {
    let record = try ClaimRecord(in: folder)
    let set = state.withLock { $0.set }
    let open = set.openClaims().map { ClaimRecord.Pair(founder: $0.founder, claimer: $0.claimer) }
    let others = record.states.keys.filter { !open.contains($0) }.sorted {
      ($0.founder + $0.claimer).lexicographicallyPrecedes($1.founder + $1.claimer)
    }
    return (open + others).compactMap { pair in
      guard let claimer = set.member(ofKey: pair.claimer) else { return nil }
      let stoppers = set.stoppers(ofClaimer: pair.claimer, on: pair.founder)
      let state: FounderClaim.State
      switch record[pair] {
      case .accepted(let claim):
        state = .accepted(
          isContested: !stoppers.isEmpty || set.isListed(claim.anchor)
            || set.handedOver(pair.founder, besidesTo: pair.claimer))
      case .stopped: state = .stopped(by: stoppers.map { String(base32: $0) })
      case .waiting, nil:
        guard open.contains(pair) else { return nil }
        state = .open(daysLeft: record.daysLeft(pair) ?? ClaimRecord.wait)
      }
      return FounderClaim(
        founderID: String(base32: pair.founder), claimer: claimer, state: state)
    }
  }

  /// Claims the founder's place for this device. Every device accepts the claim after `claimWait` days, which
  /// it counts itself, unless it learns of a stop before.
  ///
  /// - Throws: `notAnAdmin` if `key` is not an admin's. `claimRefused` if it is or was the founder's, if the
  ///   founder did not certify it as an admin's, or if a claim of it was stopped. `limitExceeded` after too
  ///   many handovers.
  public func claim(by key: DeviceKey, now: Int64 = WallClock.now()) throws {
    let pair: ClaimRecord.Pair = try change(by: key) { set, authority in
      let (own, founder) = (authority.keyIdentifier, set.succession.key)
      if set.succession.former.count >= Succession.maximumHandovers {
        throw MembershipError.limitExceeded(
          what: "handovers", limit: Succession.maximumHandovers)
      }
      if set.succession.keys.contains(own) { throw MembershipError.claimRefused(.wasFounder) }
      guard let anchor = set.anchor(ofKey: own), let staying = set.stayingCertificate else {
        throw MembershipError.claimRefused(.notByFounder)
      }
      let pair = ClaimRecord.Pair(founder: founder, claimer: own)
      if try !set.stoppers(ofClaimer: own, on: founder).isEmpty
        || ClaimRecord(in: self.folder)[pair] == .stopped
      {
        throw MembershipError.claimRefused(.wasStopped)
      }
      if set.openClaims().contains(where: { $0.claimer == own }) { return pair }
      let claim = try Certificate.statement(
        .claim(founder: founder, anchor: anchor.serial, staying: staying.serial),
        name: anchor.deviceName, issuer: anchor, signedWith: key, now: now)
      _ = try set.insert(certificates: [claim.der], revocationLists: [])
      if !set.statements.contains(claim) {
        throw MembershipError.limitExceeded(
          what: "claims", limit: CertificateSet.maximumStatements)
      }
      return pair
    }
    try changing.withLock { _ in
      var record = try ClaimRecord(in: folder)
      record.begin(own: pair, now: Self.clock())
      try record.write(in: folder)
    }
  }

  /// Stops all open claims on the founder's place, including this device's own.
  ///
  /// - Returns: the claimers; none if no claim is open.
  /// - Throws: `claimRefused` if the device may stop none of them; `notAMember`.
  public func stopClaims(by key: DeviceKey, now: Int64 = WallClock.now()) throws -> [Member] {
    let identifier = try PublicKey.identifier(key.publicKey)
    let stopped: [Member] = try changing.withLock { _ in
      try readChanges()
      var set = state.withLock { $0.set }
      let record = try ClaimRecord(in: folder)
      let open = set.openClaims().filter {
        record[ClaimRecord.Pair(founder: $0.founder, claimer: $0.claimer)] != .stopped
      }
      let mine = open.filter {
        set.mayStop(identifier, claimer: $0.claimer, founder: $0.founder)
      }
      if mine.isEmpty, !open.isEmpty { throw MembershipError.claimRefused(.mayNotStop) }
      // A claimer may have removed this device; that does not keep it from stopping the claim.
      guard
        let issuer = set.authority(ofKey: identifier)
          ?? set.certificates(ofKey: identifier).first(where: \.isAuthority)
      else { throw MembershipError.notAMember(device: key.deviceID) }
      let stops = try mine.map {
        try Certificate.statement(
          .stop(founder: $0.founder, claimer: $0.claimer), name: issuer.deviceName,
          issuer: issuer, signedWith: key, now: now)
      }
      _ = try set.insert(certificates: stops.map(\.der), revocationLists: [])
      for claim in mine
      where !set.stoppers(ofClaimer: claim.claimer, on: claim.founder).contains(identifier) {
        throw MembershipError.limitExceeded(
          what: "stops", limit: CertificateSet.maximumStatements)
      }
      try save(set)
      return mine.compactMap { set.member(ofKey: $0.claimer) }
    }
    try refresh()
    return stopped
  }

  /// The claims that this device has accepted, for a device that it invites: 96 bytes each.
  public func acceptedClaims() throws -> [[UInt8]] {
    try ClaimRecord(in: folder).accepted.map { founder, claim in
      founder + claim.claimer + claim.anchor + claim.staying
    }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The certificates on which these claims rest: a device that joins needs all of them.
  public func grounds(ofAcceptedClaims claims: [[UInt8]]) -> [[UInt8]] {
    let set = state.withLock { $0.set }
    return claims.compactMap(Self.claim).flatMap { set.grounds(of: $0.claim, on: $0.founder) }
      .map(\.der)
  }

  /// Follows only the claims that the inviting device has accepted: this device has its founder from that
  /// device.
  ///
  /// - Returns: false if one of the claims has another form, or is not in the set. Then this device follows
  ///   none of them.
  public func follow(acceptedClaims claims: [[UInt8]]) throws -> Bool {
    try changing.withLock { _ in
      try readChanges()
      let before = try ClaimRecord(in: folder)
      var record = before
      let set = state.withLock { $0.set }
      let accepted = claims.compactMap(Self.claim).filter {
        !set.grounds(of: $0.claim, on: $0.founder).isEmpty
      }
      if accepted.count < claims.count { return false }
      record.follow(accepted)
      if record == before { return true }
      try record.write(in: folder)
      try lookAtClaims(hears: false)
      return true
    }
  }

  /// The claim in 96 bytes; nil for another form.
  private static func claim(_ bytes: [UInt8]) -> (founder: [UInt8], claim: AcceptedClaim)? {
    guard bytes.count == 96 else { return nil }
    return (
      founder: Array(bytes[..<32]),
      claim: AcceptedClaim(
        claimer: Array(bytes[32..<64]), anchor: Array(bytes[64..<80]), staying: Array(bytes[80...]))
    )
  }

  /// Counts a day for open claims: another member or a hub has told this device all that it knows of the members.
  public func heardMembership() throws {
    try changing.withLock { _ in
      try readChanges()
      try lookAtClaims(hears: true)
    }
  }

  /// Counts the day for open claims, ends stopped claims, and accepts one whose wait is over. Call it with
  /// `changing` held.
  ///
  /// - Parameter hears: whether another member or a hub was just heard. Otherwise the day counts only for this
  ///   device's own claim.
  func lookAtClaims(hears: Bool) throws {
    let now = Self.clock()
    var record = try ClaimRecord(in: folder)
    var set = state.withLock { $0.set }
    if set.statements.isEmpty, set.accepted.isEmpty, record == ClaimRecord() { return }
    let before = record
    set.accept(record.accepted)
    // An accepted claim changes the founder: no days are counted yet for claims on the new founder's place.
    while true {
      let open = set.openClaims()
      var waiting: [(claim: Claim, pair: ClaimRecord.Pair)] = []
      for claim in open {
        let pair = ClaimRecord.Pair(founder: claim.founder, claimer: claim.claimer)
        if !set.stoppers(ofClaimer: pair.claimer, on: pair.founder).isEmpty { record.stop(pair) }
        if record[pair] == .stopped { continue }
        record.look(at: pair, hears: hears, now: now)
        waiting.append((claim, pair))
      }
      record.forgetWaiting(except: Set(waiting.map { $0.pair }))
      // The claim that has precedence holds up the others.
      guard let first = waiting.first, record.daysLeft(first.pair) == 0,
        hears || record.isOwn(first.pair)
      else { break }
      record.accept(first.claim.accepted, on: first.claim.founder)
      set.accept(record.accepted)
    }
    if record != before { try record.write(in: folder) }
    state.withLock { $0.set = set }
  }
}
