internal import Glibc
internal import System

/// Loose objects, each in a separate file (gitformat-loose, in git's Documentation/technical): header and
/// content in one zlib stream.
struct LooseObjects {
  let folder: String

  private static let names: [(ObjectKind, String)] = [
    (.blob, "blob"), (.tree, "tree"), (.commit, "commit"), (.tag, "tag"),
  ]

  /// The bytes before the content, which are hashed with it: `KIND SIZE` and a NUL.
  static func header(_ kind: ObjectKind, size: Int) -> [UInt8] {
    let name = names.first { $0.0 == kind }?.1 ?? ""
    return Array("\(name) \(size)".utf8) + [0]
  }

  static func kind(named name: some Sequence<UInt8>) -> ObjectKind? {
    names.first { name.elementsEqual($0.1.utf8) }?.0
  }

  func path(of id: ObjectID) -> String {
    let hex = id.hex
    return folder + "/" + hex.prefix(2) + "/" + hex.dropFirst(2)
  }

  func contains(_ id: ObjectID) -> Bool { Counted.access(path(of: id), F_OK) == 0 }

  func header(of id: ObjectID) -> (kind: ObjectKind, size: Int)? {
    // An unreadable file counts as missing: the object may have another copy.
    guard let file = try? MappedFile(path(of: id)), let inflater = try? Inflater(),
      let header = inflater.header(ofLoose: file.bytes)
    else { return nil }
    return (header.kind, header.size)
  }

  /// The object; nil if there is no such file, or if its content does not match the ID.
  func object(_ id: ObjectID) throws -> StoredObject? { try Self.read(path(of: id), id: id) }

  static func read(_ path: String, id: ObjectID) throws -> StoredObject? {
    // An unreadable file counts as a missing object.
    guard let file = Disk.contentIfAny(path), let inflater = try? Inflater(),
      // A damaged file also counts as missing.
      let object = file.withUnsafeBytes({ try? inflater.inflate(loose: $0) }),
      try ObjectID.matches(id, object)
    else { return nil }
    return object
  }

  func ids() -> [ObjectID] { (0..<256).flatMap { ids(inFolder: UInt8($0)) } }

  func ids(inFolder byte: UInt8) -> [ObjectID] {
    let prefix = String(hexadecimal: [byte])
    return Disk.namesIfAny(in: folder + "/" + prefix).compactMap { ObjectID(hex: prefix + $0) }
  }
}
