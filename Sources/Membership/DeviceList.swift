internal import System

/// A file of IDs, one a line, sorted: devices that are blocked here, or the IDs that the notebook had.
/// A missing file is an empty list.
enum DeviceList {
  /// Which devices this one exchanges nothing with. The file never travels.
  static let blocked = "blocked"
  /// The IDs that the notebook had before its membership was begun anew.
  static let formerly = "formerly"

  private static let maximumSize = 1 << 20

  static func read(_ path: String) throws -> Set<String> {
    guard let bytes = try Disk.readIfThere(path, limit: maximumSize) else { return [] }
    let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    guard lines.allSatisfy(isID) else { throw MembershipError.fileDamaged(path: path) }
    return Set(lines)
  }

  static func write(_ list: Set<String>, to path: String) throws {
    let text = list.sorted().map { $0 + "\n" }.joined()
    try Disk.replace(path, with: Array(text.utf8), mode: 0o644, isShared: true)
  }

  /// Base32 of a SHA-256, in upper case for devices and in lower case for notebooks.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == 52
      && text.utf8.allSatisfy {
        (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x32...0x37).contains($0)
      }
  }
}
