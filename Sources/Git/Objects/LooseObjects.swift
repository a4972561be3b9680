internal import Glibc
internal import System

/// The objects that have files of their own (gitformat-loose, in git's Documentation/technical): header
/// and content in one zlib stream.
struct LooseObjects {
  /// The folder of objects.
  let folder: String
  private var misses = 0
  /// Which of the 256 folders are there, once so many looks were in vain that listing them pays.
  private var folders: [Bool]?

  private static let missesBeforeListing = 64
  private static let names: [(ObjectKind, String)] = [
    (.blob, "blob"), (.tree, "tree"), (.commit, "commit"), (.tag, "tag"),
  ]

  init(folder: String) { self.folder = folder }

  /// What stands before the content, and is hashed with it: `KIND SIZE` and a NUL.
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

  /// Forgets which folders are there.
  mutating func refresh() {
    misses = 0
    folders = nil
  }

  mutating func contains(_ id: ObjectID) -> Bool {
    look(for: id) { access($0, F_OK) == 0 ? true : nil } ?? false
  }

  mutating func header(of id: ObjectID) -> (kind: ObjectKind, size: Int)? {
    look(for: id) { path in
      guard let file = MappedFile(path), let inflater = try? Inflater() else { return nil }
      return inflater.inflateHeader(ofLoose: file.bytes)
    }
  }

  /// The object; nil when there is no such file, or it does not hold what the ID says.
  mutating func object(_ id: ObjectID) -> StoredObject? {
    look(for: id) { Self.read($0, id: id) }
  }

  private mutating func look<Found>(for id: ObjectID, _ find: (String) -> Found?) -> Found? {
    if let folders, !folders[Int(id.firstByte)] { return nil }
    if let found = find(path(of: id)) { return found }
    misses += 1
    if folders == nil, misses > Self.missesBeforeListing {
      var there = [Bool](repeating: false, count: 256)
      for name in Disk.namesIfAny(in: folder) where name.utf8.count == 2 {
        if let byte = [UInt8](hexadecimal: name)?.first { there[Int(byte)] = true }
      }
      folders = there
    }
    return nil
  }

  /// The object in the file at `path`; nil when there is no such file, or it does not hold what the
  /// ID says.
  static func read(_ path: String, id: ObjectID) -> StoredObject? {
    guard let file = try? Disk.read(path), let inflater = try? Inflater(),
      let object = file.withUnsafeBytes({ inflater.inflate(loose: $0) }),
      ObjectID.matches(id, object)
    else { return nil }
    return object
  }

  /// The IDs of all of them.
  func ids() -> [ObjectID] { (0..<256).flatMap { ids(inFolder: UInt8($0)) } }

  /// The IDs that begin with this byte.
  func ids(inFolder byte: UInt8) -> [ObjectID] {
    let prefix = String(hexadecimal: [byte])
    return Disk.namesIfAny(in: folder + "/" + prefix).compactMap { ObjectID(hex: prefix + $0) }
  }
}
