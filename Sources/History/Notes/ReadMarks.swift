public import Git
internal import Merge
internal import State
internal import System
internal import WorkTree

/// The versions of notes that a person has read on this device: `.git/notes/looked`, which never leaves the
/// device. The first line, `seen COMMIT`, names the version up to which everything counts as read. Each other
/// line is a note that was read since: `BLOB PATH`, the path's bytes in hexadecimal digits.
///
/// A note is new if its text in the present version was neither read nor written on this device: notes-list(1).
public struct ReadMarks {
  private let history: History
  private var repository: Repository { history.repository }
  private var path: String { history.stateFolder[.looked] }

  private struct Record {
    var seen: ObjectID
    var notes: [TreePath: ObjectID] = [:]
  }

  /// The read marks of this notebook.
  public init(in history: History) { self.history = history }

  /// The notes, among `paths` or all notes, that others changed since somebody last read them on this device.
  public func newNotes(among paths: [TreePath]? = nil) throws -> Set<TreePath> {
    guard let tip = try repository.head().commit, let record = try record() else { return [] }
    return Set(try news(since: record, at: tip, among: paths.map { Set($0) }).keys)
  }

  /// Records that somebody reads the present texts of these notes. Throws if the record cannot be
  /// written: then the notes are still new.
  public func markRead(_ paths: [TreePath]) throws {
    guard let tip = try repository.head().commit, var record = try record(),
      try !news(since: record, at: tip, among: Set(paths)).isEmpty
    else { return }
    var news = try news(since: record, at: tip)
    for path in paths {
      guard let text = news.removeValue(forKey: path) else { continue }
      record.notes[path] = text
    }
    try write(news.isEmpty ? Record(seen: tip) : record)
  }

  /// The texts that are new, by their paths, among these notes or all notes.
  private func news(
    since record: Record, at tip: ObjectID, among paths: Set<TreePath>? = nil
  ) throws -> [TreePath: ObjectID] {
    if record.seen == tip { return [:] }
    let changes = try repository.changes(
      from: repository.commit(record.seen).tree, to: repository.commit(tip).tree)
    var news: [TreePath: ObjectID] = [:]
    for change in changes where change.path.isNote && paths?.contains(change.path) ?? true {
      guard let text = change.new, text.mode.isFile, record.notes[change.path] != text.id
      else { continue }
      news[change.path] = text.id
    }
    if news.isEmpty { return news }
    let own = try history.versionsMadeHere()
    let seen = try repository.commit(record.seen).tree
    return try news.filter { path, text in
      let versions = try history.versions(of: path)
      while let version = try versions.next() {
        guard let change = version.changes.first(where: { $0.new == text }) else { continue }
        if own.contains(version.commit.id) { return false }
        // A rename does not make a text new.
        if let former = change.formerPath,
          try record.notes[former] == text || repository.entry(at: former, in: seen)?.id == text
        {
          return false
        }
      }
      return true
    }
  }

  // MARK: The file

  /// The record of read notes. If there is no record, everything counts as read that was in the first version on this
  /// device. Nil if that version is unknown.
  private func record() throws -> Record? {
    let path = path
    let known = Disk.memory(at: path) { content throws(StateDamage) in
      try Self.parse(content, path)
    }
    if let record = known,
      try repository.contains(record.seen)
    {
      return record
    }
    let head = try repository.head()
    let log = try BranchLog(of: head.reference, tip: head.commit, gitFolder: repository.gitFolder)
    guard let seen = log.entries.first?.new, try repository.contains(seen) else { return nil }
    return Record(seen: seen)
  }

  private static func parse(_ content: StateLines, _ file: String) throws(StateDamage) -> Record {
    guard let first = content.lines.first, first.key == "seen",
      let seen = ObjectID(hex: first.value)
    else { throw StateDamage(file, "the version that was seen is missing") }
    var record = Record(seen: seen)
    for line in content.lines.dropFirst() {
      guard let text = ObjectID(hex: line.key), let path = [UInt8](hexadecimal: line.value)
      else { throw StateDamage(file, "a line is no note") }
      record.notes[TreePath(bytes: path)] = text
    }
    return record
  }

  private func write(_ record: Record) throws {
    var text = "seen \(record.seen)\n"
    for (path, blob) in record.notes.sorted(by: { $0.key < $1.key }) {
      text += "\(blob) \(String(hexadecimal: path.bytes))\n"
    }
    try Disk.replace(path, with: Array(text.utf8), isShared: true, waits: false)
  }
}
