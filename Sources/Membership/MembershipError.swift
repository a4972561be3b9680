internal import Glibc
public import System

/// The errors of keys, certificates and codes; the messages below explain each case.
public enum MembershipError: FileFailure, Equatable, Sendable {
  /// The text is the loader's message.
  case libraryMissing(String)
  /// The reasons are OpenSSL's error queue, oldest first.
  case library(call: String, reasons: [String])
  /// A file or folder operation failed with this `errno`.
  case system(call: String, path: String, code: Int32)
  /// The file of the device key cannot be used. No command replaces it by a new key.
  case deviceKeyUnusable(path: String, defect: KeyFileDefect)
  case nameRefused(NameDefect)
  case certificateRefused(CertificateDefect)
  case requestRefused(CertificateDefect)
  /// The device (an ID) was never certified by an admin of this notebook.
  case notAMember(device: String)
  case removed(device: String, name: String)
  case notAnAdmin(device: String)
  case founderIsPermanent
  /// Only the founder's device can do this.
  case notTheFounder
  /// The member's device is not an admin's, or was the founder before.
  case heirRefused(name: String)
  /// The device cannot claim the founder's place, or cannot stop a claim.
  case claimRefused(ClaimDefect)
  /// An admin's certificates count only while it is a member, so another admin must do this.
  case anotherAdminNeeded
  /// The change would break this device's own chain.
  case ownCertifier
  /// The passphrase is too short to protect a key, or too long for OpenSSL to read it back.
  case passphraseRefused
  case blocked(device: String, name: String)
  case limitExceeded(what: String, limit: Int)
  case membershipMissing(folder: String)
  /// The folder has the notebook with this ID.
  case membershipExists(notebookID: String)
  /// The membership was started over: the folder now has the notebook with this ID.
  case begunAnew(notebookID: String)
  case formatUnsupported(folder: String, found: String)
  /// A stored file was changed or damaged.
  case fileDamaged(path: String)

  /// A file over its limit counts as damaged.
  public static func system(call: String, path: String, errno: Int32) -> MembershipError {
    errno == EFBIG && call == "read"
      ? .fileDamaged(path: path) : .system(call: call, path: path, code: errno)
  }
}

/// System calls on files that throw this module's error.
typealias Disk = FileSystem<MembershipError>

/// The reason why a claim of the founder's place, or a stop of one, is refused.
public enum ClaimDefect: Error, Equatable, Sendable, CustomStringConvertible {
  /// The device is the founder's, or was.
  case wasFounder
  /// The founder did not certify the device as an admin's.
  case notByFounder
  case wasStopped
  /// The device is neither the founder's nor an admin's that the founder certified.
  case mayNotStop

  public var description: String {
    switch self {
    case .wasFounder: "this device is the founder's, or was"
    case .notByFounder:
      "the founder did not make this device an admin, so it cannot claim the founder's place"
    case .wasStopped: "this device's claim of the founder's place was stopped"
    case .mayNotStop:
      "only the founder's device, and admins' devices that the founder certified, can stop the claim"
    }
  }
}

/// The reason why a device key file is refused.
public enum KeyFileDefect: Error, Equatable, Sendable {
  /// The key file is a folder, a device, or another kind of special file.
  case notAFile
  /// The key file is a symbolic link.
  case isLink
  case foreignOwner(UInt32)
  /// Other users may read the key file; the value is its permission bits.
  case openToOthers(mode: UInt32)
  case notAKey
  /// A passphrase protects the key, as in a file of `exported`.
  case encrypted
}

/// The first rule that a certificate, request or list breaks.
public enum CertificateDefect: Error, Equatable, Sendable {
  case tooLarge(Int)
  /// The certificate is not DER, or has extra bytes.
  case encoding
  case version
  case algorithm
  /// The serial number is not positive, or is longer than 128 bits.
  case serial
  /// The name has other attributes than the profile's, or another order.
  case subject
  /// The common name is not an acceptable device or notebook name.
  case name(NameDefect)
  case role
  /// An extension is missing, repeated, unknown and critical, or has another value than the
  /// profile's.
  case extensions
  case validity
  case signature
  /// The root's common name is not the hash of its key and serial number.
  case notebookID
}

// The message for people: lower case, no full stop.

extension MembershipError: CustomStringConvertible {
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
    case .notTheFounder: "only the founder's device may hand the notebook over"
    case .heirRefused(let name):
      "\(name) cannot become the founder: only an admin's device that never was the founder can"
    case .claimRefused(let defect): defect.description
    case .anotherAdminNeeded: "a device cannot change or remove itself"
    case .ownCertifier: "this device got its role through that one, and would lose it"
    case .passphraseRefused: "a passphrase has at least \(DeviceKey.shortestPassphrase) characters"
    case .blocked(_, let name): "\(name) is blocked on this device"
    case .limitExceeded(let what, let limit): "too many \(what): a notebook may have \(limit)"
    case .membershipMissing: "the notebook has no certificates"
    case .membershipExists: "the folder already belongs to a notebook"
    case .begunAnew: "the notebook's membership was started over while this ran"
    case .formatUnsupported: "the notebook's certificates were written by a newer notes"
    case .fileDamaged(let path): "\(path) is damaged"
    }
  }
}

extension KeyFileDefect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAFile: "it is not a file"
    case .isLink: "it is a symbolic link"
    case .foreignOwner: "it belongs to another user"
    case .openToOthers: "other users may read it"
    case .notAKey: "it contains no Ed25519 private key"
    case .encrypted: "a passphrase protects it"
    }
  }
}

extension CertificateDefect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLarge(let size): "it is too large (\(size) bytes)"
    case .encoding: "it is not in DER form"
    case .version: "its version is not the expected one"
    case .algorithm: "its key or signature is not Ed25519"
    case .serial: "its serial number is not acceptable"
    case .subject: "its name has another form"
    case .name: "the name in it is not acceptable"
    case .role: "the role in it is not known"
    case .extensions: "its extensions are not the expected ones"
    case .validity: "its dates cannot be read"
    case .signature: "its signature is not valid"
    case .notebookID: "it belongs to another notebook"
    }
  }
}
