public import State
internal import Synchronization
internal import System

/// A device that was ever certified, with the data for judging its signatures: notes-security(7),
/// SIGNATURES.
public struct Signer: Hashable, Sendable {
  /// The signer's device ID.
  public let deviceID: String
  /// The names that the device's versions may have: the device's, the person's, and both together. The present name is
  /// first.
  public let names: [String]
  /// Whether the device may make versions that others accept, or since when it may not.
  public let right: Right

  /// The right of a device to make versions that others accept.
  public enum Right: Hashable, Sendable {
    /// The device is a writer or an admin.
    case present
    /// The device was a writer or an admin until this time, in seconds since 1970, by the clock of the admin
    /// that ended it.
    case former(until: Int64)
    /// The device never was more than a reader.
    case never
  }

  /// Whether the device is no longer a member.
  public let isRemoved: Bool

  /// The present name.
  public var name: String { names[0] }
}

extension MembershipStore {
  /// The membership folder of the notebook with this state folder.
  public static func folder(ofNotebookAt stateFolder: StateFolder) -> String {
    stateFolder[.membership]
  }

  /// All devices that were ever certified, by their IDs.
  public func signers() -> [String: Signer] { state.withLock { $0.set.signers() } }

  /// All devices that were ever certified in the notebook with this state folder, from its cache or its list of
  /// members. Nil if the notebook has no list.
  ///
  /// - Throws: an error if the list exists and cannot be read: without it, the members are unknown.
  public static func signers(ofNotebookAt stateFolder: StateFolder) throws -> [String: Signer]? {
    let folder = folder(ofNotebookAt: stateFolder)
    let files: [String]
    do {
      _ = try StoreFolder.root(in: folder)
      files = try StoreFolder.files(in: folder).sorted()
    } catch MembershipError.membershipMissing {
      return nil
    }
    // The files' names are hashes: a comparison needs no library.
    // A program that knows of no persons has kept other names.
    let key = "persons " + files.joined(separator: " ")
    let cache = stateFolder[.signers]
    if let known = Disk.memory(at: cache, { Signer.all(in: $0, of: key) }) { return known }
    let signers = try open(in: folder).signers()
    Disk.keep(Signer.file(signers, of: key), at: cache)
    return signers
  }
}

extension Signer {
  fileprivate static func file(_ signers: [String: Signer], of key: String) -> [UInt8] {
    var lines = StateLines(["stored": key])
    for signer in signers.values.sorted(by: { $0.deviceID < $1.deviceID }) {
      let right =
        switch signer.right {
        case .present: "present"
        case .former(let end): "\(end)"
        case .never: "never"
        }
      // Names cannot contain a slash: notes-security(7), DEVICE AND NOTEBOOK NAMES.
      let fields = [right, signer.isRemoved ? "removed" : "member"] + signer.names
      lines.append(signer.deviceID, fields.joined(separator: "/"))
    }
    lines.append("end", "\(signers.count)")
    return lines.bytes
  }

  /// Nil if the cache is for another list of members, or damaged by a power cut.
  fileprivate static func all(in lines: StateLines, of key: String) -> [String: Signer]? {
    guard lines["stored"] == key, lines["end"] == "\(lines.lines.count - 2)" else { return nil }
    var found: [String: Signer] = [:]
    for line in lines.lines.dropFirst().dropLast() {
      let fields = line.value.split(separator: "/").map(String.init)
      guard fields.count > 2 else { return nil }
      let right: Right? =
        switch fields[0] {
        case "present": .present
        case "never": .never
        default: Int64(fields[0]).map { .former(until: $0) }
        }
      guard let right else { return nil }
      found[line.key] = Signer(
        deviceID: line.key, names: Array(fields[2...]), right: right,
        isRemoved: fields[1] == "removed")
    }
    return found
  }
}

extension CertificateSet {
  fileprivate func signers() -> [String: Signer] {
    let members = byKey.keys.compactMap { key in member(ofKey: key).map { (key, $0) } }
    let isOut = { (member: Member) in member.isRemoved || member.role == .reader }
    // In a notebook without readers and removed devices, no list is needed.
    let ends = members.contains { isOut($0.1) } ? CertificateEnds(of: self) : nil
    var found: [String: Signer] = [:]
    for (key, member) in members {
      let certificates = certificates(ofKey: key)
      var names = [member.name]
      for certificate in certificates {
        for name in certificate.names(of: certificate.person ?? member.person)
        where !names.contains(name) { names.append(name) }
      }
      var right = Signer.Right.present
      if let ends, isOut(member) {
        right =
          certificates.filter { $0.role > .reader }.map { ends.end(of: $0) }.max()
          .map { .former(until: $0) } ?? .never
      }
      found[member.deviceID] = Signer(
        deviceID: member.deviceID, names: names, right: right, isRemoved: member.isRemoved)
    }
    return found
  }
}

extension Certificate {
  /// The names that versions of its device may have: the device's, the person's, and both.
  fileprivate func names(of person: Person) -> [String] {
    [deviceName, person.name, person.name(withDevice: deviceName)]
  }
}

/// The times when invalid certificates were first listed.
private struct CertificateEnds {
  private let set: CertificateSet
  private var dates: [[UInt8]: Int64] = [:]
  private let replaced: [[UInt8]: Certificate]

  init(of set: CertificateSet) {
    self.set = set
    replaced = Dictionary(set.certificates.map { ($0.serial, $0) }) { first, _ in first }
    // The lists of present admins come first; entries of former admins count only if no present one
    // has them.
    var others: [[UInt8]: Int64] = [:]
    for list in set.revocationLists {
      if set.authority(ofKey: list.issuerKeyIdentifier) != nil {
        dates.merge(list.dates, uniquingKeysWith: min)
      } else {
        others.merge(list.dates, uniquingKeysWith: min)
      }
    }
    dates.merge(others) { first, _ in first }
  }

  /// The time at which the certificate ended: it is listed, it replaced a listed one, or its issuer's
  /// certificates are listed. If none of these holds, the smallest time.
  func end(of certificate: Certificate) -> Int64 {
    var pending: [Certificate] = [certificate]
    for _ in 0..<CertificateSet.maximumChainLength where !pending.isEmpty {
      var ends: [Int64] = []
      var next: [Certificate] = []
      for certificate in pending {
        if let date = dates[certificate.serial] { ends.append(date) }
        if let former = certificate.replaced.flatMap({ replaced[$0] }) { next.append(former) }
        next += (set.byKey[certificate.issuerKeyIdentifier] ?? []).filter {
          $0.authority == certificate.signer
        }
      }
      if let end = ends.min() { return end }
      pending = next
    }
    return 0
  }
}
