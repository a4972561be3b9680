internal import Files
internal import Glibc

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
  static func read(_ path: String, id: ObjectID) -> (kind: ObjectKind, data: [UInt8])? {
    guard let file = try? Disk.read(path), let inflater = try? Inflater() else {
      return nil
    }
    var bytes: [UInt8] = []
    let result = try? file.withUnsafeBytes { file in
      try inflater.inflate(file) { bytes.append(contentsOf: $0) }
    }
    guard let result, result.ended, let end = bytes.firstIndex(of: 0) else { return nil }
    let words = bytes[..<end].split(separator: UInt8(ascii: " "))
    guard words.count == 2,
      let kind = names.first(where: { words[0].elementsEqual($0.1.utf8) })?.0,
      Int(String(decoding: words[1], as: UTF8.self)) == bytes.count - end - 1
    else { return nil }
    bytes.removeFirst(end + 1)
    return ObjectID.plain(kind, bytes) == id ? (kind, bytes) : nil
  }
}
