import FoundationEssentials
import Glibc
import System

/// Looks for bytes in a folder with a repository: in every file as it stands, and in every object, whether
/// anything leads to it or not.
public struct Leftovers {
  private let folder: String

  public init(in folder: String) { self.folder = folder }

  /// Where the text stands, or one of these IDs, as bytes or in hexadecimal digits.
  public func places(of text: String, ids: [String] = []) throws -> [String] {
    var wanted = [Array(text.utf8)]
    for id in ids {
      wanted.append(Array(id.utf8))
      wanted.append(Self.bytes(ofHexadecimal: id))
    }
    var found: [String] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      if wanted.contains(where: { Array(path.utf8).firstRange(of: $0) != nil }) {
        found.append("name of \(path)")
      }
      var status = stat()
      guard lstat(folder + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      let content = try readFile(folder + "/" + path)
      if wanted.contains(where: { content.firstRange(of: $0) != nil }) { found.append(path) }
    }
    let objects = try run(
      ["git", "-C", folder, "cat-file", "--batch-all-objects", "--batch", "--unordered"])
    guard objects.isSuccess else { return found + ["objects: \(objects.errorText)"] }
    if wanted.contains(where: { objects.output.firstRange(of: $0) != nil }) {
      found.append("an object")
    }
    return found
  }

  /// Whether anything in a git repository that a reference leads to has the text.
  public static func isReachable(_ text: String, inRepository path: String) throws -> Bool {
    let list = "git -C \"$1\" rev-list --all --objects | cut -d' ' -f1"
    let found = try run(["sh", "-c", "\(list) | git -C \"$1\" cat-file --batch", "sh", path])
    guard found.isSuccess else { throw Unreadable(description: "\(found)") }
    return found.output.firstRange(of: Array(text.utf8)) != nil
  }

  private struct Unreadable: Error { let description: String }

  private static func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
    }
  }
}
