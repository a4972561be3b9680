internal import Membership

extension Failure {
  /// What an error of keys, certificates and codes means to the user.
  init(_ error: MembershipError) {
    switch error {
    case .libraryMissing(let what):
      self.init(
        .failed, "library_missing", "OpenSSL cannot be loaded: \(Visible.name(what))",
        hint: "install it: apt install libssl3")
    case .library(let call, let reasons):
      self.init(
        .failed, "crypto_failed",
        "\(call) failed: \(Visible.name(reasons.joined(separator: "; ")))",
        hint: Self.examine)
    case .system(let call, let path, let code):
      self.init(
        .failed, "file_failed", "\(call) \(Visible.name(path)): \(Self.reason(code))",
        hint: Self.remedy(code) ?? Self.examine)
    case .deviceKeyUnusable(let path, let defect):
      self.init(
        .failed, "device_key_unusable",
        "the device key \(Visible.name(path)) cannot be used: \(Self.words(for: defect))",
        hint: Self.hint(for: defect, path: Visible.name(path)))
    case .nameRefused(let defect): self.init(defect)
    case .certificateRefused(let defect), .requestRefused(let defect):
      self.init(
        .refusedByPeer, "certificate_refused",
        "a certificate breaks the rules of notes-security(7): \(Self.words(for: defect))",
        hint: "install the same version of notes on all devices")
    case .notAMember:
      self.init(
        .failed, "not_a_member", "this device is not a member of the notebook",
        hint: "ask an admin for an invitation, then 'notes join CODE'")
    case .removed(_, let name):
      self.init(
        .refusedByPeer, "removed", "\(Visible.name(name)) has been removed from the notebook",
        hint: "an admin can invite it again")
    case .notAnAdmin:
      self.init(
        .failed, "not_an_admin", "only an admin of the notebook may do this",
        hint: "'notes members' shows who is one")
    case .founderIsPermanent:
      self.init(
        .failed, "founder_is_permanent", "the founder's device cannot be changed or removed",
        hint: "if it is lost or stolen: 'notes members reset' begins anew without it")
    case .anotherAdminNeeded:
      self.init(
        .failed, "another_admin_needed", "a device cannot change or remove itself",
        hint: "do it on another admin's device")
    case .passphraseRefused:
      self.init(
        .usage, "bad_passphrase",
        "a passphrase has at least \(DeviceKey.shortestPassphrase) characters",
        hint: "several words are easier to remember than one with odd characters")
    case .blocked(_, let name):
      self.init(
        .refusedByPeer, "blocked", "\(Visible.name(name)) is blocked on this device",
        hint: "'notes members unblock NAME' lets it in again")
    case .limitExceeded(let what, let limit):
      self.init(
        .failed, "limit_exceeded",
        "too many \(what): a notebook may have \(Counted.grouped(limit))",
        hint: "'notes members reset' begins the membership anew, with those who are members now")
    case .membershipMissing:
      self.init(
        .failed, "membership_missing", "the notebook has no certificates",
        hint: "ask an admin for an invitation and join again")
    case .membershipExists:
      self.init(
        .failed, "already_a_notebook", "the folder belongs to a notebook already",
        hint: "choose another folder")
    case .begunAnew:
      self.init(
        .failed, "begun_anew", "the membership of the notebook was begun anew meanwhile",
        hint: "run the command again")
    case .formatUnsupported:
      self.init(
        .failed, "newer_format", "the notebook's certificates were written by a newer notes",
        hint: "install a newer version of notes")
    case .fileDamaged(let path):
      self.init(
        .failed, "broken_state", "\(Visible.name(path)) is damaged",
        hint: "restore that file from a backup, or join again")
    }
  }

  /// What a name's defect means to the user.
  init(_ defect: NameDefect) {
    let reason =
      switch defect {
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
    self.init(
      .usage, "bad_name", reason, hint: "choose another name, such as Home or Ben's laptop")
  }

  private static func words(for defect: KeyFileDefect) -> String {
    switch defect {
    case .notAFile: "it is not a file"
    case .foreignOwner: "it belongs to another user"
    case .openToOthers: "other users may read it"
    case .notAKey: "it holds no Ed25519 private key"
    }
  }

  private static func hint(for defect: KeyFileDefect, path: String) -> String {
    switch defect {
    case .openToOthers: "if nobody has read it: chmod 600 \(path)"
    case .notAFile, .foreignOwner, .notAKey:
      "restore it from a backup; without it, move it away, and this device is a new one to others"
    }
  }

  private static func words(for defect: CertificateDefect) -> String {
    switch defect {
    case .tooLarge(let size): "it is too large (\(Counted.bytes(size)))"
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
