import State
import System
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Invitations by a link" and "Devices of one's own": whom an invitation lets in, for every
// inviter, proof, role, person and device.
@Suite("Membership: who may let in whom by an invitation, all there is")
struct InvitationRightsTests {
  private enum Proof: CaseIterable { case none, right, wrong }

  private let family: Family
  private let admin: DeviceKey
  /// A device that a member cannot bring back.
  private let former: DeviceKey
  private let now = Family.start + 10

  init() throws {
    family = try Family()
    admin = try family.add("admin", .admin)
    former = try family.add("former", .writer)
    try remove(former)
  }

  private var store: MembershipStore { family.store }

  private func remove(_ key: DeviceKey) throws {
    try store.remove(devices: [key.deviceID], by: family.founder, now: now)
  }

  private func offer(
    _ secret: InvitationSecret, by inviter: DeviceKey, _ role: Role, isOwn: Bool, _ proof: Proof
  ) throws -> InvitationOffer {
    let device = proof == .wrong ? admin.deviceID : inviter.deviceID
    let statement = try SignedText(
      StateLines(["notes-inviter": device]), for: .offer, by: secret.key)
    let lines = StateLines([
      "notes-invitation": 1, "notebook": store.notebookID,
      "key": String(hexadecimal: secret.key.publicKey), "role": role.rawValue, "created": now,
      "expires": now + 1000, "mine": isOwn ? "yes" : nil,
      "proof": proof == .none ? nil : String(hexadecimal: statement.bytes),
    ])
    return try #require(
      try InvitationOffer(parsing: SignedText(lines, for: .offer, by: inviter).bytes))
  }

  @Test("A member's request stays one, whatever the member becomes")
  func all() throws {
    var open = 0
    for present in [Role?.none] + Role.allCases {
      let inviter = try family.add("inviter", present ?? .admin)
      if present == nil { try remove(inviter) }
      for proof in Proof.allCases {
        for (role, isOwn) in Role.allCases.flatMap({ [($0, false), ($0, true)] }) {
          for isFormer in [false, true] {
            let step: Comment = "\(present.debugDescription) \(proof) \(role) \(isOwn) \(isFormer)"
            let (secret, device) = (
              try InvitationSecret(), isFormer ? former : try DeviceKey.random()
            )
            let offer = try offer(secret, by: inviter, role, isOwn: isOwn, proof)
            let isAllowed =
              switch proof {
              case .none: present == .admin
              case .right: isOwn && role < .admin && present.map { role <= $0 } ?? false
              case .wrong: false
              }
            #expect(store.status(of: offer, now: now) == (isAllowed ? .open : .void), step)
            // It needs a person's yes, or the setting.
            #expect(offer.isAskedFor == (proof != .none), step)
            let isRefused = proof != .none && isFormer
            #expect(store.refusesReturn(ofDevice: device.deviceID, by: offer) == isRefused, step)
            let member = try store.admit(
              AdmissionRequest(CertificateRequest(name: "phone", key: device), by: secret),
              to: offer, by: admin, now: now)
            #expect((member != nil) == (isAllowed && !isRefused), step)
            guard let member else { continue }
            open += 1
            #expect(member.role == role && member.issuedBy == admin.deviceID, step)
            #expect((member.person.id == inviter.deviceID) == isOwn, step)
            let certificate = try Certificate(der: #require(store.chain(for: device).first))
            let asker = try Certificate(der: #require(store.chain(for: inviter).first)).serial
            #expect(certificate.asker == (proof == .none ? nil : asker), step)
            try remove(device)
          }
        }
      }
    }
    // An admin's 12; and a reader's, a writer's and an admin's requests.
    #expect(open == 12 + 1 + 2 + 2)
  }
}
