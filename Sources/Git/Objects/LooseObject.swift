internal import Glibc
internal import System

/// The form of an object that has a file of its own (gitformat-loose, in git's
/// Documentation/technical): header and content in one zlib stream.
enum LooseObject {
  private static let names: [(ObjectKind, String)] = [
    (.blob, "blob"), (.tree, "tree"), (.commit, "commit"), (.tag, "tag"),
  ]

  /// What stands before the content, and is hashed with it: `KIND SIZE` and a NUL.
  static func header(_ kind: ObjectKind, size: Int) -> [UInt8] {
    let name = names.first { $0.0 == kind }?.1 ?? ""
    return Array("\(name) \(size)".utf8) + [0]
  }

  /// The object in the file at `path`; nil when there is no such file, or it does not hold what the
  /// ID says.
  ///
  /// Of a large tree that was unpacked whole the ID is made again only if it is to be `hashed`:
  /// zlib's own checksum speaks for it, which is all that git looks at, too.
  static func read(
    _ path: String, id: ObjectID, hashed: Bool = true
  ) -> (kind: ObjectKind, data: [UInt8])? {
    guard let file = try? Disk.read(path), let inflater = try? Inflater(),
      let object = try? file.withUnsafeBytes({ try inflater.inflateObject($0) }),
      let kind = names.first(where: { object.kind.elementsEqual($0.1.utf8) })?.0
    else { return nil }
    if !hashed, kind == .tree, object.content.count >= largeTree { return (kind, object.content) }
    return ObjectID.plain(kind, object.content) == id ? (kind, object.content) : nil
  }

  /// From this size on making a tree's ID takes longer than reading its file.
  private static let largeTree = 1 << 16
}
