public import Git
internal import History
internal import Merge
internal import Rewriting
internal import System
internal import WorkTree

/// The notes or texts to forget: notes-forget(1).
public enum ForgetTarget: Hashable, Sendable {
  /// A text, wherever it is in any version of any note.
  case text([UInt8])
  /// A note, in all versions and under all its names.
  case note(TreePath)
  /// The lines that a version added to a note, in all versions of the note.
  case version(TreePath, ObjectID)
  /// All notes and attachments that are deleted, in all versions and under all their names.
  case deleted
  /// Attachments, from the version on in which they exceeded a number of bytes.
  case attachments(over: Int)
}

/// The effect of a forgetting: notes, versions and texts.
public struct ForgetPlan: Hashable, Sendable {
  /// How many versions have the forgotten content.
  public let versions: Int
  /// The notes that would change, in any version, under their names of the time.
  public let paths: [TreePath]
  /// Attachments that contain the text, and files with the text in their names: these are not
  /// changed.
  public let remaining: [TreePath]
  /// Files in the folder that are in no version and contain the text: these are not changed.
  public let beside: [TreePath]
}

/// The result of a forgetting.
public struct Forgotten: Sendable {
  /// The forgotten notes, versions and texts.
  public let plan: ForgetPlan
  /// How many versions were rewritten.
  public let rewritten: Int
  /// The version on top that records the forgetting.
  public let version: ObjectID
}

/// The reason why nothing is forgotten.
public enum ForgetError: Error, Hashable, Sendable {
  /// The text has fewer bytes than `shortest`.
  case tooShort(shortest: Int)
  /// No version contains it.
  case notFound
  /// The version added no line to the note that could be forgotten.
  case nothingAdded(TreePath, ObjectID)
  /// The repository has remotes that are not hubs and would keep the forgotten content.
  case remotes([String])
  /// A file waits for its place in the folder, or a program still writes a replaced one.
  case unfinished(TreePath)
  /// A deleted file still exists under another name.
  case lives(TreePath)
  /// The text is in a file's present name.
  case inName(TreePath)
  /// An editor has a note with the forgotten content open, and would save it again.
  case isOpen(TreePath)
  /// A program wrote it again each time it was removed.
  case written
}

extension ForgetError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .tooShort(let count): "the text is too short: it needs \(count) bytes or more"
    case .notFound: "no version contains this text"
    case .nothingAdded(let path, let version):
      "version \(version.hex.prefix(10)) added no lines to \(path)"
    case .remotes(let names):
      "other repositories would keep the text: \(names.joined(separator: ", "))"
    case .unfinished(let path): "\(path) is still waiting to be updated"
    case .lives(let path): "a deleted file has become \(path)"
    case .inName(let path): "the name of \(path) contains the text"
    case .isOpen(let path): "an editor has \(path) open"
    case .written: "the notes were edited while this ran"
    }
  }
}

extension Notebook {
  /// Saves the folder, and returns the effect that a forgetting would have. Changes nothing else.
  public func forgetPlan(
    _ target: ForgetTarget, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> ForgetPlan {
    try withWriterLock { transaction in
      try transaction.save()
      return try ForgetRun(self, transaction, target, progress).plan()
    }
  }

  /// Forgets: makes the history again without the target, in one step, and removes the former history from
  /// the disk. The caller must make sure that nothing else serves the notebook.
  ///
  /// - Parameter lastCheck: called when everything is ready; it throws to cancel.
  public func forget(
    _ target: ForgetTarget, lastCheck: () throws -> Void = {},
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> Forgotten {
    try withWriterLock { transaction in
      guard let lock = try GCLock(repository) else { throw NotebookError.busy(folder: folder) }
      defer { withExtendedLifetime(lock) {} }
      try transaction.save()
      return try repository.keepingPacks {
        try ForgetRun(self, transaction, target, progress).run(lastCheck)
      }
    }
  }
}
