internal import Glibc
internal import System

/// The folder of a `MembershipStore`, form 1:
///
///     format                    "notes membership 1"
///     root.crt                  the root certificate, DER
///     certificates/SHA256.crt   a certificate each, DER
///     revocations/SHA256.crl    a revocation list each, DER
enum StoreFolder {
  private static let format = "notes membership 1\n"

  enum Kind: String, CaseIterable {
    case certificate = "certificates"
    case revocationList = "revocations"

    var suffix: String { self == .certificate ? ".crt" : ".crl" }
    var limit: Int {
      self == .certificate ? Certificate.maximumSize : RevocationList.maximumSize
    }
  }

  /// Builds the whole folder beside its place and moves it there in one step.
  static func create(_ folder: String, set: CertificateSet) throws {
    try removeLeftovers(beside: folder)
    let temporary = Disk.unique(beside: folder)
    for kind in Kind.allCases {
      try Disk.makeFolders("\(temporary)/\(kind.rawValue)", mode: 0o755)
    }
    try Disk.replace("\(temporary)/format", with: Array(format.utf8), mode: 0o644)
    try Disk.replace("\(temporary)/root.crt", with: set.root.der, mode: 0o644)
    for certificate in set.certificates {
      _ = try write(.certificate, certificate.der, in: temporary)
    }
    for list in set.revocationLists { _ = try write(.revocationList, list.der, in: temporary) }
    try Disk.rename(temporary, to: folder)
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  /// Removes what a killed process had begun to build.
  private static func removeLeftovers(beside folder: String) throws {
    guard let slash = folder.lastIndex(of: "/") else { return }
    let name = folder[folder.index(after: slash)...]
    let parent = String(folder[..<slash])
    for found in try Disk.names(in: parent)
    where found.hasPrefix("\(name).") && found.hasSuffix(".tmp") {
      Disk.removeTree("\(parent)/\(found)")
    }
  }

  /// The root certificate, after a look at the form's version.
  static func root(in folder: String) throws -> [UInt8] {
    guard let found = try Disk.readIfThere("\(folder)/format", limit: 256) else {
      throw MembershipError.membershipMissing(folder: folder)
    }
    if found != Array(format.utf8) {
      throw MembershipError.formatUnsupported(
        folder: folder,
        found: String(decoding: found.prefix { $0 != 0x0A && $0 >= 0x20 }, as: UTF8.self))
    }
    return try Disk.read("\(folder)/root.crt", limit: Certificate.maximumSize)
  }

  /// The stored files, relative to the folder. Left-over temporary files are not among them.
  static func files(in folder: String) throws -> Set<String> {
    var files: Set<String> = []
    for kind in Kind.allCases {
      for name in try Disk.names(in: "\(folder)/\(kind.rawValue)")
      where name.hasSuffix(kind.suffix) {
        files.insert("\(kind.rawValue)/\(name)")
      }
    }
    return files
  }

  /// The content of `files`. Throws `fileDamaged` for one whose name is not its content's hash. A
  /// list that a newer one has replaced meanwhile may be gone.
  static func read(_ files: Set<String>, in folder: String) throws -> (
    certificates: [[UInt8]], revocationLists: [[UInt8]]
  ) {
    var content: [Kind: [[UInt8]]] = [:]
    for kind in Kind.allCases {
      for file in files where file.hasPrefix(kind.rawValue + "/") {
        let path = "\(folder)/\(file)"
        guard let bytes = try Disk.readIfThere(path, limit: kind.limit) else {
          if kind == .revocationList { continue }
          throw MembershipError.system(call: "open", path: path, code: ENOENT)
        }
        if try name(kind, bytes) != file { throw MembershipError.fileDamaged(path: path) }
        content[kind, default: []].append(bytes)
      }
    }
    return (content[.certificate] ?? [], content[.revocationList] ?? [])
  }

  /// Writes one, and returns its name relative to the folder.
  static func write(_ kind: Kind, _ der: [UInt8], in folder: String) throws -> String {
    let name = try name(kind, der)
    try Disk.replace("\(folder)/\(name)", with: der, mode: 0o644, isShared: true)
    return name
  }

  static func remove(_ kind: Kind, _ der: [UInt8], in folder: String) throws {
    let path = "\(folder)/\(try name(kind, der))"
    if unlink(path) != 0 && errno != ENOENT {
      throw MembershipError.system(call: "unlink", path: path, code: errno)
    }
  }

  private static func name(_ kind: Kind, _ der: [UInt8]) throws -> String {
    "\(kind.rawValue)/\(String(hexadecimal: try OpenSSL.sha256(der)))\(kind.suffix)"
  }
}
