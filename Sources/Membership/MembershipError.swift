internal import Glibc
public import System

/// What can go wrong with keys, certificates and codes.
public enum MembershipError: FileFailure, Equatable, Sendable {
  /// libcrypto could not be loaded; the text is the loader's.
  case libraryMissing(String)
  /// OpenSSL refused a call; the reasons are its error queue, oldest first.
  case library(call: String, reasons: [String])
  /// A file or folder operation failed with this `errno`.
  case system(call: String, path: String, code: Int32)
  /// The device key cannot be used; it is never replaced by a new one.
  case deviceKeyUnusable(path: String, defect: KeyFileDefect)
  /// A device or notebook name breaks the rule for names.
  case nameRefused(NameDefect)
  /// A certificate does not have the form this notebook's rules ask for.
  case certificateRefused(CertificateDefect)
  /// A certificate request does not have the right form, or lacks the proof that its sender holds
  /// the key.
  case requestRefused(CertificateDefect)
  /// The device (an ID) was never certified by an admin of this notebook.
  case notAMember(device: String)
  /// The device was a member and has been removed.
  case removed(device: String, name: String)
  /// The device is a member, but only admins may do this.
  case notAnAdmin(device: String)
  /// The founder's device cannot be removed, nor its role changed.
  case founderIsPermanent
  /// A device cannot change or remove itself: what it signs counts only as long as it stays.
  case anotherAdminNeeded
  /// A passphrase that is too short to protect a key, or longer than can be read back.
  case passphraseRefused
  /// The device (an ID) is blocked here.
  case blocked(device: String, name: String)
  /// More certificates, lists or entries than a notebook may have.
  case limitExceeded(what: String, limit: Int)
  /// The folder holds no membership.
  case membershipMissing(folder: String)
  /// The folder holds a membership already, of the notebook with this ID.
  case membershipExists(notebookID: String)
  /// The folder holds another membership by now, that of the notebook with this ID.
  case begunAnew(notebookID: String)
  /// The folder was written by a version of the program that stores membership otherwise.
  case formatUnsupported(folder: String, found: String)
  /// A stored file is not what was written.
  case fileDamaged(path: String)
}

extension MembershipError {
  /// A file over its limit is not what was written.
  public static func system(call: String, path: String, errno: Int32) -> MembershipError {
    errno == EFBIG && call == "read"
      ? .fileDamaged(path: path) : .system(call: call, path: path, code: errno)
  }
}

/// Calls on files that throw this module's error.
typealias Disk = FileSystem<MembershipError>

/// Why a device key file is refused.
public enum KeyFileDefect: Error, Equatable, Sendable {
  /// It is a folder, a device, or anything but a plain file.
  case notAFile
  /// It belongs to another user.
  case foreignOwner(UInt32)
  /// Others may read or write it; the value is its permission bits.
  case openToOthers(mode: UInt32)
  /// It does not hold an unencrypted Ed25519 private key in PEM form.
  case notAKey
}

/// The first rule that a certificate, request or list breaks.
public enum CertificateDefect: Error, Equatable, Sendable {
  /// Larger than the limit for its kind.
  case tooLarge(Int)
  /// Not DER, or with bytes left over.
  case encoding
  /// Not an X.509 version 3 certificate, or a list or request of another version.
  case version
  /// The key or the signature is not Ed25519.
  case algorithm
  /// The serial number is not positive or longer than 128 bits.
  case serial
  /// The name has other attributes than the profile's, or in another order.
  case subject
  /// The common name is not an acceptable device or notebook name.
  case name(NameDefect)
  /// The organizational unit is not a role.
  case role
  /// An extension is missing, doubled, unknown and critical, or of another value than the profile's.
  case extensions
  /// The validity cannot be read.
  case validity
  /// The signature does not fit.
  case signature
  /// The root's common name is not the hash of its key and serial number.
  case notebookID
}
