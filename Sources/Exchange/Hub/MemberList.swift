package import Git
internal import History
package import Membership
internal import System

/// The list of a notebook's members as stored in a bundle or at a hub, where no device authenticates:
/// a version without parents whose only file has the certificates and revocation lists. notes-hub(7),
/// "Members". Its facts count only after a `MembershipStore` has verified them.
package struct MemberList: Hashable, Sendable {
  /// The reference to the list's version, and the reference's folder.
  package static let (reference, folder) = ("refs/notebook/members", "refs/notebook")

  /// The root certificate in DER.
  package let root: [UInt8]
  package let certificates: [[UInt8]]
  package let revocations: [[UInt8]]

  private static let file: TreePath = "members.pem"
  private static let (certificate, revocationList) = ("CERTIFICATE", "X509 CRL")

  /// The members that this device knows.
  package init(of store: MembershipStore) {
    root = store.root
    certificates = store.certificates
    revocations = store.revocations
  }

  /// The relation of a list to a notebook.
  enum Relation: Equatable {
    case own
    /// The list belongs to a former membership of this notebook.
    case former
    /// The list belongs to a membership that this admin has started over.
    case startedOver(by: String)
    case foreign
  }

  /// Compares the list's root with the notebook's.
  func relation(to membership: MembershipStore) throws -> Relation {
    if root == membership.root { return .own }
    if try membership.formerIDs().contains(notebookID) { return .former }
    return try membership.founder(ofRenewal: root).map { .startedOver(by: $0.name) } ?? .foreign
  }

  // MARK: The file: blocks of RFC 7468, the root first

  var text: [UInt8] {
    let certificates = ([root] + certificates).map { Self.block(Self.certificate, $0) }
    let lists = revocations.map { Self.block(Self.revocationList, $0) }
    return Array((certificates + lists).joined().utf8)
  }

  private static func block(_ label: String, _ bytes: [UInt8]) -> String {
    let text = bytes.base64
    let lines = stride(from: 0, to: text.count, by: 64).map { start in
      String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self)
    }
    return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
  }

  /// Reads the file; nil if it is invalid or exceeds the limits of notes-protocol(7).
  init?(parsing text: [UInt8]) {
    guard text.count <= ProtocolLimits.allMembershipBytes / 2 * 3 else { return nil }
    var blocks: [String: [[UInt8]]] = [:]
    var open: (label: String, text: String)?
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      if let label = Self.label(of: line, "BEGIN") {
        guard open == nil else { return nil }
        open = (label, "")
      } else if let label = Self.label(of: line, "END") {
        guard let ended = open, ended.label == label,
          let bytes = [UInt8](base64: Array(ended.text.utf8))
        else { return nil }
        blocks[label, default: []].append(bytes)
        open = nil
      } else {
        open?.text += line
      }
    }
    var certificates = blocks[Self.certificate] ?? []
    let revocations = blocks[Self.revocationList] ?? []
    guard !certificates.isEmpty, certificates.count <= ProtocolLimits.certificates,
      revocations.count <= ProtocolLimits.revocationLists,
      certificates.allSatisfy({ $0.count <= ProtocolLimits.certificateBytes }),
      revocations.allSatisfy({ $0.count <= ProtocolLimits.revocationListBytes })
    else { return nil }
    root = certificates.removeFirst()
    (self.certificates, self.revocations) = (certificates, revocations)
  }

  private static func label(of line: Substring, _ word: String) -> String? {
    let (beginning, end) = ("-----\(word) ", "-----")
    guard line.hasPrefix(beginning), line.hasSuffix(end), line.count > beginning.count + end.count
    else { return nil }
    return String(line.dropFirst(beginning.count).dropLast(end.count))
  }

  // MARK: The version

  /// Stores the version, which is equal on all devices that know the same, and returns its ID.
  package func write(to repository: Repository) throws -> ObjectID {
    try HubFile.write(text, as: Self.file, "The members of a notebook", to: repository)
  }

  /// The list in a version that has arrived, or is here; nil if the version has none.
  package init?(
    of version: ObjectID, in repository: Repository, arriving quarantine: Quarantine? = nil
  ) throws {
    guard
      let text = try HubFile.content(
        of: version, as: Self.file, in: repository, arriving: quarantine)
    else { return nil }
    self.init(parsing: text)
  }

  /// The ID of the notebook. Throws `MembershipError.certificateRefused` if the root is not a
  /// certificate.
  package var notebookID: String { get throws { try MembershipStore.notebookID(ofRoot: root) } }
}
