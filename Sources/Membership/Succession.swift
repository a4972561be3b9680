public import System

/// The founders of a notebook, one after another: notes-security(7), "Handover".
struct Succession: Sendable {
  /// How often a notebook can be handed over: each handover makes the chains longer by one.
  static let maximumHandovers = 4

  /// Follows the device's name in the subject of a handover. The subject of a certificate that the founder
  /// signs for itself must differ from the subject of the certificate with which it signs: otherwise it would
  /// count as self-signed.
  private static let title = ", founder"

  /// The name in the subject of a handover.
  static func title(_ name: String) -> String {
    String(name.unicodeScalars.prefix(DisplayName.maximumLength - title.count)) + title
  }

  /// The device's name in the subject of a handover.
  static func name(in subject: String) -> String {
    subject.hasSuffix(title) ? String(subject.dropLast(title.count)) : subject
  }

  /// A device that is the founder, or was.
  struct Founder: Sendable {
    /// First the certificate with which the founder signs: the root, or the handover to the founder. Then the
    /// certificates between it and the root, and the root.
    let chain: [Certificate]
    /// The serial number of the certificate with which a former founder stays an admin; nil for the present one.
    let stayingSerial: [UInt8]?
    /// The certificate by which a former founder stays an admin; nil if it is not known.
    let staying: Certificate?

    /// The root, or the handover to this founder.
    var anchor: Certificate { chain[0] }
  }

  /// The founder.
  let present: Founder
  /// The former founders, the first one first.
  let former: [Founder]
  /// The handovers to them, or the certificates of founders by a claim, which are never revoked.
  let handovers: Set<Certificate>

  /// Follows the handovers from the root on, and the claims that this device has accepted. The claims come
  /// first, because a device accepts no claim on the place of a founder who has handed over.
  ///
  /// - Parameters:
  ///   - handovers: the handover that each key signed.
  ///   - accepted: the accepted claim on the place of each key.
  ///   - certificates: the certificates of each key.
  init(
    root: Certificate, handovers: [[UInt8]: Certificate], accepted: [[UInt8]: AcceptedClaim] = [:],
    certificates: [[UInt8]: [Certificate]]
  ) {
    var chain = [root]
    var former: [Founder] = []
    var keys: Set = [root.keyIdentifier]
    func least(_ found: [Certificate]?) -> Certificate? {
      found?.min { $0.der.lexicographicallyPrecedes($1.der) }
    }
    while former.count < Self.maximumHandovers {
      let (anchor, certified) = (chain[0], certificates[chain[0].keyIdentifier] ?? [])
      let stayingSerial: [UInt8]?
      let staying: Certificate?
      let next: [Certificate]
      if let claim = accepted[anchor.keyIdentifier] {
        let found = (certificates[claim.claimer] ?? []).filter {
          $0.serial == claim.anchor && $0.isAuthority
        }
        guard let own = least(found),
          let above = (former.map(\.chain) + [chain]).last(where: { own.signer == $0[0].authority })
        else { break }
        stayingSerial = claim.staying
        staying = least(certified.filter { $0.serial == claim.staying && $0.mayStay(of: anchor) })
        next = [own] + above
      } else if let handover = handovers[anchor.keyIdentifier], handover.signer == anchor.authority
      {
        stayingSerial = handover.staying
        staying = least(
          certified.filter {
            $0.serial == handover.staying && $0.signer == anchor.authority && $0.kind != root.kind
          })
        next = [handover] + chain
      } else {
        break
      }
      guard keys.insert(next[0].keyIdentifier).inserted else { break }
      former.append(Founder(chain: chain, stayingSerial: stayingSerial, staying: staying))
      chain = next
    }
    present = Founder(chain: chain, stayingSerial: nil, staying: nil)
    self.former = former
    self.handovers = Set(([chain] + former.map(\.chain)).map { $0[0] }).subtracting([root])
  }

  /// The founder's key.
  var key: [UInt8] { present.anchor.keyIdentifier }

  /// All certificates that the succession depends on, except the root.
  var certificates: [Certificate] {
    let anchors = ([present] + former.reversed()).map(\.anchor)
    return anchors.filter(handovers.contains) + former.compactMap(\.staying)
  }

  /// The keys of all founders.
  var keys: Set<[UInt8]> { Set(([present] + former).map(\.anchor.keyIdentifier)) }

  /// The founder, and those former founders that are still admins.
  func signing(without isRevoked: (Certificate) -> Bool) -> [Founder] {
    [present] + former.filter { $0.staying.map { !isRevoked($0) } ?? false }
  }

  /// The serial numbers of the certificates with which these keys' devices stay admins, if they are former founders.
  /// Such a certificate may be unknown.
  func stayingSerials(ofKeys keys: Set<[UInt8]>) -> [[UInt8]] {
    former.filter { keys.contains($0.anchor.keyIdentifier) }.compactMap(\.stayingSerial)
  }

  /// Whether a certificate may decide how its device is named. For the founder, only a certificate that it
  /// signed itself, or the handover to it, may.
  func mayName(_ certificate: Certificate) -> Bool {
    certificate.keyIdentifier != key || certificate.issuerKeyIdentifier == key
      || certificate == present.anchor
  }
}

extension Certificate {
  /// Whether a founder whose place was claimed stays an admin by this certificate of its key. `anchor` is the
  /// certificate with which it signed as the founder.
  func mayStay(of anchor: Certificate) -> Bool {
    guard case .member = kind else { return false }
    return isAuthority && !isHandover && self != anchor
  }
}

extension MembershipStore {
  /// Makes another admin's device the founder. This device stays an admin, whom the founder can remove. The
  /// handover cannot be undone, except by the new founder's handover to a third device.
  ///
  /// - Throws: `notTheFounder` if `key` is not the founder's; `heirRefused` if the device is not an admin's, or
  ///   was the founder before; `notAMember`; `limitExceeded` after too many handovers.
  public func handOver(
    to device: String, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try change(by: key) { set, authority in
      let founders = set.succession
      guard authority == founders.present.anchor else { throw MembershipError.notTheFounder }
      guard let heir = set.certificates.first(where: { $0.deviceID == device })?.keyIdentifier,
        let member = set.member(ofKey: heir), !member.isRemoved
      else { throw MembershipError.notAMember(device: device) }
      guard let current = set.memberChains[heir]?.first, current.isAuthority,
        !founders.present.chain.contains(where: { $0.keyIdentifier == heir })
      else { throw MembershipError.heirRefused(name: member.name) }
      if founders.handovers.count >= Succession.maximumHandovers {
        throw MembershipError.limitExceeded(
          what: "handovers", limit: Succession.maximumHandovers)
      }
      let staying = try Self.ownCertificate(in: &set, authority, key, now)
      let handover = try Certificate.member(
        name: Succession.title(member.deviceName), person: set.people.namedPerson(ofKey: heir),
        role: .admin, publicKey: current.publicKey, replacing: current.serial,
        staying: staying.serial,
        issuer: authority, signedWith: key,
        now: Self.date(now, after: set.certificates(ofKey: heir)))
      try Self.add(handover, to: &set)
      // Another handover by this key is known here already: this device was restored from a copy.
      if set.succession.key != heir { throw MembershipError.notTheFounder }
    }
  }

  /// The founder's certificate that it signed itself. A founder that has only the handover to it makes one.
  private static func ownCertificate(
    in set: inout CertificateSet, _ authority: Certificate, _ key: DeviceKey, _ now: Int64
  ) throws -> Certificate {
    let identifier = authority.keyIdentifier
    guard let current = set.memberChains[identifier]?.first else {
      throw MembershipError.notTheFounder
    }
    if current != authority, current.signer == authority.authority { return current }
    let own = try Certificate.member(
      name: current.deviceName, person: set.people.namedPerson(ofKey: identifier), role: .admin,
      publicKey: authority.publicKey, replacing: current.serial, issuer: authority,
      signedWith: key, now: date(now, after: set.certificates(ofKey: identifier)))
    try add(own, to: &set)
    return own
  }
}
