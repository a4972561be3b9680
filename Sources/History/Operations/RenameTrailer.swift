package import Git
internal import Merge
internal import WorkTree

/// The line in which a version records that it renamed a note or a folder: notes-mv(1), "Versions".
///
/// `Notes-Renamed: "OLD" "NEW"`, both in double quotes with octal escapes as in the trailers of
/// merges; a folder's name ends in a slash.
package struct RenameTrailer: Hashable {
  package static let key = "Notes-Renamed"

  package let old: TreePath
  package let new: TreePath
  package let isFolder: Bool

  package init(from old: TreePath, to new: TreePath, isFolder: Bool = false) {
    (self.old, self.new, self.isFolder) = (old, new, isFolder)
  }

  package var line: String { "\(Self.key): \(quoted(old)) \(quoted(new))" }

  /// The rename in the other direction.
  package var inverse: RenameTrailer { RenameTrailer(from: new, to: old, isFolder: isFolder) }

  private func quoted(_ path: TreePath) -> String {
    let text = MergeTrailers.quoted(isFolder ? TreePath(bytes: path.bytes + [0x2f]) : path)
    return text.hasPrefix("\"") ? text : "\"\(text)\""
  }

  /// The renames that the lines of a message name.
  package static func all(in message: String) -> [RenameTrailer] {
    message.utf8.split(separator: UInt8(ascii: "\n")).compactMap(parse)
  }

  private static func parse(_ line: Substring.UTF8View) -> RenameTrailer? {
    let head = "\(key): \"".utf8
    guard line.starts(with: head), line.last == UInt8(ascii: "\"") else { return nil }
    let text = Array(line.dropFirst(head.count - 1))
    // The quoted names contain no quote, so this separator occurs only once.
    guard let border = text.firstRange(of: Array("\" \"".utf8)),
      let old = MergeTrailers.unquoted(Array(text[...border.lowerBound])),
      let new = MergeTrailers.unquoted(Array(text[(border.upperBound - 1)...]))
    else { return nil }
    let slash = UInt8(ascii: "/")
    let isFolder = old.bytes.last == slash && new.bytes.last == slash
    func plain(_ path: TreePath) -> TreePath {
      isFolder ? TreePath(bytes: path.bytes.dropLast()) : path
    }
    guard !plain(old).isEmpty, !plain(new).isEmpty else { return nil }
    return RenameTrailer(from: plain(old), to: plain(new), isFolder: isFolder)
  }

  /// The present name of a file that had this path; nil if the rename did not affect it.
  package func target(of path: TreePath) -> TreePath? {
    if isFolder {
      guard path.isBelow(old) else { return nil }
      return TreePath(bytes: new.bytes + path.bytes.dropFirst(old.bytes.count))
    }
    return path == old ? new : nil
  }
}
