internal import System

extension MembershipError: CustomStringConvertible {
  /// One line for logs: lower case, no full stop.
  public var description: String {
    switch self {
    case .libraryMissing(let reason): "OpenSSL could not be loaded: \(reason)"
    case .library(let call, let reasons):
      "\(call) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    case .system(let call, let path, let code):
      "\(call) failed on \(path): \(String(errorNumber: code))"
    case .deviceKeyUnusable(let path, let defect): "the device key \(path) \(defect)"
    case .nameRefused(let defect): "the name \(defect)"
    case .certificateRefused(let defect): "the certificate is refused: \(defect)"
    case .requestRefused(let defect): "the certificate request is refused: \(defect)"
    case .notAMember(let device): "\(device) is not a member"
    case .removed(let device, let name): "\(name) (\(device)) has been removed"
    case .notAnAdmin(let device): "\(device) is not an admin"
    case .founderIsPermanent: "the founder's device can't be removed, nor its role changed"
    case .anotherAdminNeeded: "a device can't change or remove itself: another admin can"
    case .passphraseRefused:
      "a passphrase has at least \(DeviceKey.shortestPassphrase) characters"
    case .blocked(let device, let name): "\(name) (\(device)) is blocked on this device"
    case .limitExceeded(let what, let limit): "more than \(limit) \(what)"
    case .membershipMissing(let folder): "\(folder) holds no membership"
    case .membershipExists(let notebookID):
      "the folder belongs to another notebook already, \(notebookID)"
    case .begunAnew(let notebookID): "the membership was begun anew, as \(notebookID)"
    case .formatUnsupported(let folder, let found):
      "\(folder) was written by another version: '\(found)'"
    case .fileDamaged(let path): "\(path) is damaged"
    }
  }
}

extension KeyFileDefect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAFile: "is not a plain file"
    case .foreignOwner(let user): "belongs to user \(user)"
    case .openToOthers(let mode): "is open to others (mode \(String(mode, radix: 8)))"
    case .notAKey: "is not an unencrypted Ed25519 key in PEM"
    }
  }
}

extension NameDefect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "is empty"
    case .tooLong(let length):
      "has \(length) characters, more than \(DisplayName.maximumLength)"
    case .forbidden(let scalar):
      "contains a character that names can't have, U+"
        + String(repeating: "0", count: max(0, 4 - String(scalar, radix: 16).count))
        + String(scalar, radix: 16, uppercase: true)
    case .surroundingSpace: "begins or ends with a space"
    case .leadingPunctuation: "begins with - or ."
    }
  }
}

extension CertificateDefect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLarge(let size): "too large, \(size)"
    case .encoding: "not DER"
    case .version: "another version"
    case .algorithm: "not Ed25519"
    case .serial: "the serial number"
    case .subject: "the subject"
    case .name(let defect): "the name \(defect)"
    case .role: "the role"
    case .extensions: "the extensions"
    case .validity: "the validity"
    case .signature: "the signature"
    case .notebookID: "the notebook ID"
    }
  }
}
