package import Git
internal import Glibc
internal import System
internal import WorkTree

/// The moves of the branch on this device, oldest first, from git's own log of it, `.git/logs/REFERENCE`.
///
/// Each line has the form of git-reflog(1): `OLD NEW NAME <EMAIL> SECONDS ZONE<tab>MESSAGE`. libgit2 adds the
/// line before the branch moves, so a run killed between the two leaves a line too many. Such lines and
/// malformed ones are left out.
package struct BranchLog {
  package struct Entry: Hashable {
    /// The branch's commit before the move; nil if it had none.
    package let old: ObjectID?
    package let new: ObjectID
    /// The time of the entry, in seconds since 1970.
    package let time: Int64
    package let message: String
  }

  /// How much of the log's end is read, in bytes: at least two thousand operations.
  static let longest = 1 << 19

  package let entries: [Entry]

  /// Reads the log of a reference whose present commit is `tip`.
  package init(of reference: String, tip: ObjectID?, gitFolder: String) throws {
    let text = try Self.end(of: "\(gitFolder)/logs/\(reference)")
    self.init(parsing: text, tip: tip)
  }

  package init(parsing text: [UInt8], tip: ObjectID?) {
    let read = text.split(separator: UInt8(ascii: "\n")).compactMap(Self.entry)
    // Each line begins at the commit at which the line before it ended. If no line ends there, a line is missing; then
    // the next older line is used.
    var left = Dictionary(read.map { ($0.new, 1) }, uniquingKeysWith: +)
    var entries: [Entry] = []
    var expected = tip
    for entry in read.reversed() {
      let isMissing = expected.map { left[$0, default: 0] == 0 } ?? true
      left[entry.new, default: 1] -= 1
      guard entry.old != entry.new, entry.new == expected || isMissing else { continue }
      entries.append(entry)
      expected = entry.old
      if expected == nil { break }
    }
    self.entries = entries.reversed()
  }

  /// The last valid line of a reference's log; nil if there is none.
  package static func last(of reference: String, gitFolder: String) -> Entry? {
    // The log is optional in git: an unreadable one counts as missing.
    let text = try? end(of: "\(gitFolder)/logs/\(reference)")
    return text?.split(separator: UInt8(ascii: "\n")).reversed().lazy.compactMap(entry).first
  }

  /// The beginning of the message with which git begins a branch's log, if the branch starts at an existing version.
  package static let beginning = "branch: Created from "

  private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
    let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
    guard let head = parts.first, head.count > 82, let old = ObjectID(hex: head.prefix(40)),
      let new = ObjectID(hex: head.dropFirst(41).prefix(40)),
      let mail = head.lastIndex(of: UInt8(ascii: ">")),
      let seconds = head[(mail + 1)...].split(separator: UInt8(ascii: " ")).first,
      let time = Int64(String(decoding: seconds, as: UTF8.self))
    else { return nil }
    let message = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
    return Entry(old: old == .zero ? nil : old, new: new, time: time, message: message)
  }

  private static func end(of path: String) throws -> [UInt8] {
    let descriptor = Counted.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw WorkTreeError.file(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    let size = lseek(descriptor, 0, SEEK_END)
    lseek(descriptor, max(0, size - off_t(longest)), SEEK_SET)
    return try Disk.read(descriptor, path: path)
  }
}
