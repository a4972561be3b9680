public import Git
internal import History
internal import Merge
internal import Rewriting
internal import System
internal import WorkTree

/// The notes or texts that are to be forgotten: notes-forget(1).
public enum ForgetTarget: Hashable, Sendable {
  /// A text, wherever it stands in any version of any note.
  case text([UInt8])
  /// A note, in all versions and under all its names.
  case note(TreePath)
  /// The lines that a version of a note has and the one before it had not, in all versions of the note.
  case version(TreePath, ObjectID)
  /// All notes and attachments that are deleted, in all versions and under all their names.
  case deleted
  /// Attachments, from the version on in which they were larger than so many bytes.
  case attachments(over: Int)
}

/// The notes, versions and texts that a forgetting takes away.
public struct ForgetPlan: Hashable, Sendable {
  /// How many versions hold it.
  public let versions: Int
  /// The notes that it is taken out of, in any version, under the names they had.
  public let paths: [TreePath]
  /// Attachments that hold the text, and files whose names do: nothing is taken out of them.
  public let remaining: [TreePath]
  /// Files in the folder that are in no version and hold the text: they are left alone.
  public let beside: [TreePath]
}

/// The result of a forgetting.
public struct Forgotten: Sendable {
  /// The notes, versions and texts that went.
  public let plan: ForgetPlan
  /// How many versions were made again.
  public let rewritten: Int
  /// The version on top that says so.
  public let version: ObjectID
}

/// Why nothing is forgotten.
public enum ForgetError: Error, Hashable, Sendable {
  /// Fewer bytes than `shortest`.
  case tooShort(shortest: Int)
  /// No version holds it.
  case notFound
  /// A version changed no line of the note that could be forgotten.
  case nothingAdded(TreePath, ObjectID)
  /// Git knows of other repositories that are no hubs, which would keep what goes.
  case remotes([String])
  /// A file waits to come into the folder, or a program still writes one that was replaced.
  case unfinished(TreePath)
  /// A deleted file goes on under another name.
  case lives(TreePath)
  /// A file's present name holds the text.
  case inName(TreePath)
  /// An editor has a note open that holds what goes, and would save it again.
  case isOpen(TreePath)
  /// A program wrote it anew again and again meanwhile.
  case written
}

extension ForgetError: CustomStringConvertible {
  /// The error as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .tooShort(let count): "the text is too short: it needs \(count) bytes or more"
    case .notFound: "no version holds that"
    case .nothingAdded(let path, let version):
      "version \(version.hex.prefix(10)) added no lines to \(path)"
    case .remotes(let names):
      "other repositories would keep it: \(names.joined(separator: ", "))"
    case .unfinished(let path): "\(path) is still waiting to be updated"
    case .lives(let path): "a deleted file has become \(path)"
    case .inName(let path): "the name of \(path) holds it"
    case .isOpen(let path): "an editor has \(path) open"
    case .written: "the notes were edited while this ran"
    }
  }
}

extension Notebook {
  /// Saves the folder, and tells what a forgetting would take away. Nothing else is changed.
  public func forgetPlan(
    _ target: ForgetTarget, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> ForgetPlan {
    try withWriterLock { transaction in
      try transaction.save()
      return try ForgetRun(self, transaction, target, progress).plan()
    }
  }

  /// Forgets: makes the history again without it, in one step, and removes the former one from the disk. The
  /// caller sees to it that nothing else serves the notebook.
  ///
  /// - Parameter lastCheck: throws where nothing is to be forgotten after all: called when all is ready.
  public func forget(
    _ target: ForgetTarget, lastCheck: () throws -> Void = {},
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> Forgotten {
    try withWriterLock { transaction in
      guard let lock = try GCLock(repository) else { throw NotebookError.busy(folder: folder) }
      defer { withExtendedLifetime(lock) {} }
      try transaction.save()
      return try ForgetRun(self, transaction, target, progress).run(lastCheck)
    }
  }
}
