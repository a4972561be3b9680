internal import System

extension MembershipError: CustomStringConvertible {
  /// What happened, as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .libraryMissing(let reason): "OpenSSL cannot be loaded: \(reason)"
    case .library(let call, let reasons):
      "\(call) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    case .system(let call, let path, let code): "\(call) \(path): \(String(errorNumber: code))"
    case .deviceKeyUnusable(let path, let defect):
      "the device key \(path) cannot be used: \(defect)"
    case .nameRefused(let defect): defect.description
    case .certificateRefused(let defect), .requestRefused(let defect):
      "a certificate breaks the rules of notes-security(7): \(defect)"
    case .notAMember: "this device is not a member of the notebook"
    case .removed(_, let name): "\(name) has been removed from the notebook"
    case .notAnAdmin: "only an admin of the notebook may do this"
    case .founderIsPermanent: "the founder's device cannot be changed or removed"
    case .anotherAdminNeeded: "a device cannot change or remove itself"
    case .passphraseRefused:
      "a passphrase has at least \(DeviceKey.shortestPassphrase) characters"
    case .blocked(_, let name): "\(name) is blocked on this device"
    case .limitExceeded(let what, let limit): "too many \(what): a notebook may have \(limit)"
    case .membershipMissing: "the notebook has no certificates"
    case .membershipExists: "the folder belongs to a notebook already"
    case .begunAnew: "the membership of the notebook was begun anew meanwhile"
    case .formatUnsupported: "the notebook's certificates were written by a newer notes"
    case .fileDamaged(let path): "\(path) is damaged"
    }
  }
}

extension KeyFileDefect: CustomStringConvertible {
  /// What is wrong with the key's file.
  public var description: String {
    switch self {
    case .notAFile: "it is not a file"
    case .foreignOwner: "it belongs to another user"
    case .openToOthers: "other users may read it"
    case .notAKey: "it holds no Ed25519 private key"
    }
  }
}

extension NameDefect: CustomStringConvertible {
  /// Which rule the name breaks.
  public var description: String {
    switch self {
    case .empty: "a name cannot be empty"
    case .tooLong(let count):
      "a name has at most \(DisplayName.maximumLength) characters; this one has \(count)"
    case .forbidden(let scalar):
      "a name cannot hold the character U+"
        + String(repeating: "0", count: max(0, 4 - String(scalar, radix: 16).count))
        + String(scalar, radix: 16, uppercase: true)
    case .surroundingSpace: "a name cannot begin or end with a space"
    case .leadingPunctuation: "a name cannot begin with '-' or '.'"
    }
  }
}

extension CertificateDefect: CustomStringConvertible {
  /// What is wrong with the certificate.
  public var description: String {
    switch self {
    case .tooLarge(let size): "it is too large (\(size) bytes)"
    case .encoding: "it is not in DER form"
    case .version: "its version is not the one expected"
    case .algorithm: "its key or signature is not Ed25519"
    case .serial: "its serial number is not acceptable"
    case .subject: "its name has another form"
    case .name: "the name in it is not acceptable"
    case .role: "the role in it is not known"
    case .extensions: "its extensions are not those expected"
    case .validity: "its dates cannot be read"
    case .signature: "its signature does not fit"
    case .notebookID: "it is not this notebook's"
    }
  }
}
