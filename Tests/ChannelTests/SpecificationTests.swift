internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

@Suite("The specification")
struct SpecificationTests {
  @Test("The limits in notes-security(7) are the code's")
  func limits() throws {
    let page = String(
      decoding: try readFile("\(BuiltBinary.sourceFolder)/man/notes-security.7"), as: UTF8.self)
    let rows = [
      "certificate Ta \(Certificate.maximumSize) bytes",
      "request Ta \(CertificateRequest.maximumSize) bytes",
      "revocation list Ta \(RevocationList.maximumSize >> 10) KiB, "
        + "\(RevocationList.maximumEntries) entries",
      "certificates of a notebook, with its names Ta \(CertificateSet.maximumCertificates)",
      "revocation lists of a notebook Ta \(CertificateSet.maximumRevocationLists), "
        + "\(CertificateSet.maximumListBytes >> 20) MiB",
      "revocation lists of an admin Ta \(CertificateSet.maximumListsPerAdmin)",
      "certificates in a chain, the root included Ta \(CertificateSet.maximumChainLength)",
      "device or notebook name Ta \(DisplayName.maximumLength) Unicode scalars",
      "message frame Ta \(Frame.maximumMessage >> 20) MiB",
      "data frame Ta \(Frame.maximumData >> 10) KiB",
    ]
    for row in rows { #expect(page.contains("\n.It \(row)\n"), "\(row)") }
    // The Channel does not know Membership, so its copy of the number is compared here.
    #expect(Int(Handshake.maximumChainLength) == CertificateSet.maximumChainLength)
  }

  @Test("mandoc finds nothing wrong with the page")
  func lint() throws {
    let result = try run([
      "mandoc", "-Tlint", "-Wwarning", "\(BuiltBinary.sourceFolder)/man/notes-security.7",
    ])
    #expect(result.isSuccess, "\(result.text)")
  }
}
