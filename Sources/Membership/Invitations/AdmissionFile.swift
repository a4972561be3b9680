/// The file by which a device requests to become a member. It contains the offer, which proves the invitation
/// to any admin's device, and the device's request. notes-security(7), "Invitations by a file".
public struct AdmissionFile: Sendable {
  /// The invitation.
  public let offer: InvitationOffer
  /// The request for this invitation.
  public let request: AdmissionRequest

  /// The size limit of a file, in bytes.
  public static let maximumSize = 2 * SignedText.maximumSize

  /// A file with a request and its offer.
  public init(_ request: AdmissionRequest, to offer: InvitationOffer) {
    (self.request, self.offer) = (request, offer)
  }

  /// Reads a file; nil if it is something else, incomplete, or altered.
  public init?(parsing bytes: [UInt8]) throws {
    let last = Array((VersionSignature.last + "\n").utf8)
    guard bytes.count <= Self.maximumSize,
      let end = bytes.indices.first(where: { bytes[$0...].starts(with: last) }),
      let offer = try InvitationOffer(parsing: Array(bytes[..<(end + last.count)])),
      let request = try AdmissionRequest(parsing: Array(bytes[(end + last.count)...]), to: offer)
    else { return nil }
    (self.offer, self.request) = (offer, request)
  }

  /// The file's content.
  public var bytes: [UInt8] { offer.text + request.text }
}
