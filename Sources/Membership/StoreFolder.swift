internal import Glibc
internal import System

/// The folder of a `MembershipStore`, form 1:
///
///     format                    "notes membership 1"
///     root.crt                  the root certificate, DER
///     certificates/SHA256.crt   a certificate each, DER
///     revocations/SHA256.crl    a revocation list each, DER
///     blocked, refused, formerly, renewal  see `DeviceList`
enum StoreFolder {
  private static let format = Array("notes membership 1\n".utf8)

  enum Kind: String, CaseIterable {
    case certificate = "certificates"
    case revocationList = "revocations"

    var suffix: String { self == .certificate ? ".crt" : ".crl" }
    var limit: Int { self == .certificate ? Certificate.maximumSize : RevocationList.maximumSize }

    func name(_ der: [UInt8]) throws -> String {
      "\(rawValue)/\(String(hexadecimal: try OpenSSL.sha256(der)))\(suffix)"
    }
  }

  /// Builds the whole folder beside its place and moves it there in one step.
  static func create(_ folder: String, set: CertificateSet) throws {
    let parent = Disk.parent(of: folder)
    // What a killed process had begun to build.
    for found in try Disk.names(in: parent)
    where "\(parent)/\(found)".hasPrefix("\(folder).") && found.hasSuffix(".tmp") {
      Disk.removeTree("\(parent)/\(found)")
    }
    let temporary = Disk.unique(beside: folder)
    for kind in Kind.allCases { try Disk.makeFolders("\(temporary)/\(kind.rawValue)", mode: 0o755) }
    try Disk.replace("\(temporary)/format", with: format, mode: 0o644)
    try Disk.replace("\(temporary)/root.crt", with: set.root.der, mode: 0o644)
    _ = try write(.certificate, set.issued.map(\.der), in: temporary)
    _ = try write(.revocationList, set.revocationLists.map(\.der), in: temporary)
    try Disk.rename(temporary, to: folder)
    // There are drivers, of FAT for one, that lose what is in a folder that is renamed.
    guard try Disk.readIfThere("\(folder)/format", limit: 256) != nil else {
      throw MembershipError.system(call: "rename", path: folder, code: EIO)
    }
    try Disk.sync(folder: parent)
  }

  static func root(in folder: String) throws -> [UInt8] {
    guard let found = try Disk.readIfThere("\(folder)/format", limit: 256) else {
      throw MembershipError.membershipMissing(folder: folder)
    }
    if found != format {
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
      where name.hasSuffix(kind.suffix) { files.insert("\(kind.rawValue)/\(name)") }
    }
    return files
  }

  /// The content of those of `files` that are of this kind. Throws `fileDamaged` for one whose name
  /// is not its content's hash. What was given up or replaced meanwhile may be gone.
  static func read(_ kind: Kind, among files: Set<String>, in folder: String) throws -> [[UInt8]] {
    try files.filter { $0.hasPrefix(kind.rawValue + "/") }.compactMap { file in
      let path = "\(folder)/\(file)"
      guard let bytes = try Disk.readIfThere(path, limit: kind.limit) else { return nil }
      if try kind.name(bytes) != file { throw MembershipError.fileDamaged(path: path) }
      return bytes
    }
  }

  // Beyond a handful of files one sync of the file system is cheaper than one a file.
  private static let oneSyncThreshold = 16

  /// Writes them, and returns their names relative to the folder. A power cut leaves of each all or
  /// nothing.
  static func write(_ kind: Kind, _ encodings: [[UInt8]], in folder: String) throws -> [String] {
    let files = try encodings.map { (name: try kind.name($0), content: $0) }
    if files.count <= oneSyncThreshold {
      for (name, content) in files {
        try Disk.replace("\(folder)/\(name)", with: content, mode: 0o644, isShared: true)
      }
      return files.map(\.name)
    }
    var written: [(temporary: String, path: String)] = []
    defer { for (temporary, _) in written { unlink(temporary) } }
    for (name, content) in files {
      let temporary = Disk.unique(beside: "\(folder)/\(name)")
      try Disk.create(temporary, content, mode: 0o644, waits: false)
      written.append((temporary, "\(folder)/\(name)"))
    }
    try Disk.syncFileSystem(of: folder)
    while let (temporary, path) = written.last {
      try Disk.rename(temporary, to: path)
      written.removeLast()
    }
    try Disk.sync(folder: "\(folder)/\(kind.rawValue)")
    return files.map(\.name)
  }

  static func remove(_ kind: Kind, _ der: [UInt8], in folder: String) throws {
    let path = "\(folder)/\(try kind.name(der))"
    if unlink(path) != 0 && errno != ENOENT {
      throw MembershipError.system(call: "unlink", path: path, code: errno)
    }
  }
}

/// A file of IDs, one a line, sorted. A missing file is an empty list; one of other lines is an error,
/// as a blocked device must not come in by it.
enum DeviceList: String {
  /// Which devices this one exchanges nothing with. The file never travels.
  case blocked
  /// This device, where a member said that it is removed. The file never travels.
  case refused
  /// The IDs that the notebook had before its membership was begun anew.
  case formerly
  /// The new key of this device, where no admin has certified it yet. The file never travels.
  case renewal

  private static let maximumSize = 1 << 20

  func read(in folder: String) throws -> Set<String> {
    let path = "\(folder)/\(rawValue)"
    guard let bytes = try Disk.readIfThere(path, limit: Self.maximumSize) else { return [] }
    let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    guard lines.allSatisfy(Self.isID) else { throw MembershipError.fileDamaged(path: path) }
    return Set(lines)
  }

  func write(_ list: Set<String>, in folder: String) throws {
    let text = list.sorted().map { $0 + "\n" }.joined()
    try Disk.replace("\(folder)/\(rawValue)", with: Array(text.utf8), mode: 0o644, isShared: true)
  }

  /// Base32 of a SHA-256, in upper case for devices and in lower case for notebooks.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == 52
      && text.utf8.allSatisfy {
        (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x32...0x37).contains($0)
      }
  }
}
