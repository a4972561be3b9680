internal import CLinux
internal import Glibc
internal import System

/// The folder of a `MembershipStore`, form 1:
///
///     format                    "notes membership 1"
///     root.crt                  the root certificate, DER
///     certificates/SHA256.crt   a certificate each, DER
///     revocations/SHA256.crl    a revocation list each, DER
///     blocked, refused, formerly, renewal, twice  see `DeviceList`
///     claims                    see `ClaimRecord`
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

  /// Builds the whole folder beside its place, and moves it there in one step.
  static func create(_ folder: String, set: CertificateSet) throws {
    let parent = Disk.parent(of: folder)
    try removeBegun(beside: folder)
    let temporary = Disk.unique(beside: folder)
    for kind in Kind.allCases { try Disk.makeFolders("\(temporary)/\(kind.rawValue)", mode: 0o755) }
    try Disk.replace("\(temporary)/format", with: format, mode: 0o644)
    try Disk.replace("\(temporary)/root.crt", with: set.root.der, mode: 0o644)
    _ = try write(.certificate, set.issued.map(\.der), in: temporary)
    _ = try write(.revocationList, set.revocationLists.map(\.der), in: temporary)
    try Disk.rename(temporary, to: folder)
    // Some file system drivers, for example of FAT, lose the content of a renamed folder.
    guard try Disk.readIfThere("\(folder)/format", limit: 256) != nil else {
      throw MembershipError.system(call: "rename", path: folder, code: EIO)
    }
    try Disk.sync(folder: parent)
  }

  /// Removes a folder that a killed process had begun to build.
  static func removeBegun(beside folder: String) throws {
    let parent = Disk.parent(of: folder)
    for found in try Disk.names(in: parent)
    where "\(parent)/\(found)".hasPrefix("\(folder).") && found.hasSuffix(".tmp") {
      Disk.removeTree("\(parent)/\(found)")
    }
  }

  static func root(in folder: String) throws -> [UInt8] {
    if Counted.access(folder, F_OK) != 0 { try finishReplacing(folder) }
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

  /// Replaces this folder by another, complete folder, and renames this one to `aside`. If the process is
  /// killed at any moment, one of the two is in place, and neither is lost.
  static func replace(_ folder: String, by new: String, aside: String) throws {
    // An unfinished folder of a killed process was never in use.
    let waiting = folder + waitingSuffix
    Disk.removeTree(waiting)
    try Disk.rename(new, to: waiting)
    // The old one is renamed after it has been replaced.
    if notes_renameat2(AT_FDCWD, waiting, AT_FDCWD, folder, UInt32(NOTES_RENAME_EXCHANGE)) == 0 {
      try Disk.sync(folder: Disk.parent(of: folder))
      try keepAside(waiting, as: aside)
    } else {
      // On a file system without exchange, `finishReplacing` completes this after an interruption.
      try keepAside(folder, as: aside)
      try Disk.rename(waiting, to: folder)
    }
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  private static let waitingSuffix = ".waiting"

  private static func keepAside(_ folder: String, as aside: String) throws {
    // An earlier folder with the same name is also kept.
    var (place, number) = (aside, 2)
    while try !Disk.rename(folder, toFree: place) {
      place = "\(aside)-\(number)"
      number += 1
    }
  }

  /// Completes a replacement that was interrupted after the old folder was renamed.
  private static func finishReplacing(_ folder: String) throws {
    let waiting = folder + waitingSuffix
    guard Counted.access(waiting + "/format", F_OK) == 0 else { return }
    _ = try Disk.rename(waiting, toFree: folder)
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  /// Completes an interrupted replacement: if the present membership records the waiting folder as its former
  /// membership, keeps that folder.
  static func finishPuttingAside(_ folder: String, isFormer: ([UInt8]) throws -> String?) throws {
    let waiting = folder + waitingSuffix
    guard Counted.access(waiting + "/format", F_OK) == 0,
      let aside = try isFormer(root(in: waiting))
    else { return }
    try keepAside(waiting, as: aside)
  }

  /// The stored files, relative to the folder, without left-over temporary files.
  static func files(in folder: String) throws -> Set<String> {
    var files: Set<String> = []
    for kind in Kind.allCases {
      for name in try Disk.names(in: "\(folder)/\(kind.rawValue)")
      where name.hasSuffix(kind.suffix) { files.insert("\(kind.rawValue)/\(name)") }
    }
    return files
  }

  /// The content of the files of this kind. Throws `fileDamaged` if a name is not the hash of its
  /// content. Files that were dropped or replaced in the meantime may be missing.
  static func read(_ kind: Kind, among files: Set<String>, in folder: String) throws -> [[UInt8]] {
    try files.filter { $0.hasPrefix(kind.rawValue + "/") }.compactMap { file in
      let path = "\(folder)/\(file)"
      guard let bytes = try Disk.readIfThere(path, limit: kind.limit) else { return nil }
      if try kind.name(bytes) != file { throw MembershipError.fileDamaged(path: path) }
      return bytes
    }
  }

  // For more than a few files, one sync of the file system is cheaper than one for each file.
  private static let oneSyncThreshold = 16

  /// Writes the encodings, and returns their names relative to the folder. After a power cut, each
  /// file is complete or missing.
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

/// A file of IDs, one in each line. A missing file is an empty list; other lines are an error, so
/// that a blocked device cannot get in because of one.
enum DeviceList: String {
  /// The blocked devices. The file is never sent.
  case blocked
  /// This device, if a member said that it was removed. The file is never sent.
  case refused
  /// The IDs that the notebook had before its membership was started over, oldest first.
  case formerly
  /// The new key of this device, if no admin has certified it yet. The file is never sent.
  case renewal
  /// Pairs of a device whose key handed the notebook over twice, and the second heir. The file is never sent.
  case twice

  private static let maximumSize = 1 << 20

  func read(in folder: String) throws -> Set<String> { Set(try inOrder(in: folder)) }

  /// The IDs in the order of the file.
  func inOrder(in folder: String) throws -> [String] {
    let path = "\(folder)/\(rawValue)"
    guard let bytes = try Disk.readIfThere(path, limit: Self.maximumSize) else { return [] }
    let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    guard lines.allSatisfy(Self.isID) else { throw MembershipError.fileDamaged(path: path) }
    return lines
  }

  func write(_ list: Set<String>, in folder: String) throws {
    try write(inOrder: list.sorted(), in: folder)
  }

  func write(inOrder list: [String], in folder: String) throws {
    let text = list.map { $0 + "\n" }.joined()
    try Disk.replace("\(folder)/\(rawValue)", with: Array(text.utf8), mode: 0o644, isShared: true)
  }

  /// Whether a text is base32 of a SHA-256, in upper case for devices and in lower case for
  /// notebooks.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == 52
      && text.utf8.allSatisfy {
        (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x32...0x37).contains($0)
      }
  }
}
