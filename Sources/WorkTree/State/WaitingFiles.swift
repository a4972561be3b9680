package import Git
package import State
internal import System

/// A note that waits to be written into the folder because something is in its place, or a deletion that waits for the
/// same reason.
package struct WaitingFile: Hashable, Sendable {
  package let path: TreePath
  package let obstacle: Obstacle
  /// The file in the folder, as a version has it; nil if no version has it, or if there is no file.
  package let file: TreeEntry?
  /// The version that has this file, or has no file there: an edit of the file is based on it.
  package let base: ObjectID?
}

/// The notes that wait: `.git/notes/waiting`. Without this list, an older text in the folder counts as an edit
/// of the newer one. A note that the folder cannot hold still does not count as deleted.
package struct WaitingFiles {
  private static let format = "1"

  package private(set) var files: [TreePath: WaitingFile] = [:]

  package init(_ files: [WaitingFile]) {
    for file in files { self.files[file.path] = file }
  }

  package var isEmpty: Bool { files.isEmpty }
  package subscript(path: TreePath) -> WaitingFile? { files[path] }

  package init(in state: StateFolder) throws {
    let file = state[.waiting]
    guard let lines = try Disk.lines(of: file)?.lines.map(\.words) else { return }
    guard let format = lines.first, format.count == 1 else {
      throw StateDamage(file, "no format line")
    }
    guard format[0] == Self.format else { throw WorkTreeError.newerFormat(format[0]) }
    for words in lines.dropFirst() {
      guard words.count == 7, let kind = Obstacle.Kind(rawValue: words[0]),
        let number = Int32(words[1]), let base = words.id(2), let id = words.id(3),
        let mode = words.mode(4), let path = words.path(5), let place = words.path(6)
      else { throw StateDamage(file, "a line is no waiting note") }
      files[path] = WaitingFile(
        path: path,
        obstacle: Obstacle(path: place, kind: kind, errno: number == 0 ? nil : number),
        file: id == .zero ? nil : TreeEntry(name: path.name, mode: mode, id: id),
        base: base.unlessZero)
    }
  }

  package func store(in state: StateFolder) throws {
    if files.isEmpty { return try Disk.remove(state[.waiting]) }
    var text = "\(Self.format)\n"
    for held in files.values.sorted(by: { $0.path < $1.path }) {
      let (obstacle, file) = (held.obstacle, held.file)
      text += "\(obstacle.kind.rawValue) \(obstacle.errno ?? 0) \(held.base ?? .zero) "
      text += "\(file?.id ?? .zero) \((file?.mode ?? .regular).octal) "
      text += "\(held.path.hexadecimal) \(obstacle.path.hexadecimal)\n"
    }
    let content = Array(text.utf8)
    // Do not write the same content again: it would wake a watcher.
    if try Disk.readIfThere(state[.waiting]) == content { return }
    try Disk.replace(state[.waiting], with: content)
  }
}

/// A file that a person has written in the place of a waiting note. It is not an edit of that note, but of the
/// file that was in its place.
package struct WrittenInPlace: Sendable {
  package let candidate: Candidate
  package let held: WaitingFile
}

extension WorkTree {
  /// Removes files in the place of waiting notes from the changes. A file that was written since is listed
  /// separately, with the version on which the edit is based.
  func separateWaiting(from changes: inout WorkingChanges, of index: IndexFile) throws {
    let held = try WaitingFiles(in: stateFolder)
    if held.isEmpty, index.sparsePositions.isEmpty { return }
    let access = try FolderAccess(folder: folder)
    let keptBack = KeptBackFiles(of: self, index: index, access)
    var (rest, apart): ([Candidate], [WrittenInPlace]) = ([], [])
    for candidate in changes.candidates {
      let path = candidate.path
      let isSparse = candidate.position.map(index.skipsWorktree) ?? false
      let record = held[path]
      guard record != nil || isSparse, let status = try access.status(of: path) else {
        rest.append(candidate)
        continue
      }
      let reason: SkipReason
      if let obstacle = try keptBack.obstacle(by: status, at: path) {
        reason = .obstructed(by: obstacle)
      } else if let record {
        guard try stands(record) else {
          apart.append(WrittenInPlace(candidate: candidate, held: record))
          continue
        }
        reason =
          candidate.isNew
          ? .deletedElsewhere(by: record.obstacle) : .obstructed(by: record.obstacle)
      } else {
        // git also sets the bit for files that are in the folder: such a file is a note like any
        // other.
        rest.append(candidate)
        continue
      }
      changes.skipped.append(SkippedFile(path: path, reason: reason))
    }
    changes.candidates = rest
    changes.writtenInPlace = apart
    changes.skipped = try changes.skipped.map { skipped in
      let path = skipped.path
      let obstacle: Obstacle?
      switch skipped.reason {
      case .waiting:
        let record = held[path]?.obstacle
        obstacle =
          try keptBack.obstacle(onTheWayTo: path) ?? (record?.isToBeTried == true ? record : nil)
      case .tooLarge where index.position(of: path).map(index.skipsWorktree) == true:
        obstacle = Obstacle(path: path, kind: .tooLarge)
      case .unreadable: obstacle = held[path]?.obstacle
      case .changing where index.position(of: path).map(index.skipsWorktree) == true:
        // The scan of the folder did not find this file, for example because it is in a separate repository.
        let status = try access.status(of: path)
        obstacle =
          try status.flatMap { try keptBack.obstacle(by: $0, at: path) } ?? held[path]?.obstacle
      default: obstacle = nil
      }
      return obstacle.map { SkippedFile(path: path, reason: .obstructed(by: $0)) } ?? skipped
    }
  }

  /// Whether the folder still has the version's file in a waiting note's place, as far as notes can tell.
  private func stands(_ held: WaitingFile) throws -> Bool {
    guard let file = held.file else { return false }
    switch try FileContent.read(held.path, in: folder, sizeLimit: sizeLimit) {
    case .read(let content): return try repository.hash(blob: content.bytes) == file.id
    case .gone: return false
    case .skipped: return true
    }
  }
}
