public import Git
internal import Glibc
internal import System

/// A version that stands in the place of one that was made by hand with git.
public struct PlainVersion: Sendable {
  /// What the branch stood on.
  public let made: ObjectID
  /// What it stands on now.
  public let version: ObjectID
  /// What the one has and the other has not, by path.
  public let leftOut: [SkippedFile]
}

// What git made is carried along until it is to go to another device, which takes plain notes only:
// notes-merge(7), "Versions made by hand".
extension Notebook {
  /// Puts a version that other devices take in the place of the branch's, if they do not take that or
  /// what it stands on.
  ///
  /// - Returns: nil when there was nothing to do.
  public func bringToPlainForm() throws -> PlainVersion? {
    guard let tip = try repository.head().commit, tip != knownPlain else { return nil }
    return try withWriterLock { try bringToPlainFormLocked() }
  }

  /// `bringToPlainForm` for callers that hold the writer lock.
  func bringToPlainFormLocked() throws -> PlainVersion? {
    let head = try repository.head()
    guard let tip = head.commit, tip != knownPlain else { return nil }
    guard let plain = try plainForm(of: tip) else {
      rememberPlain(tip)
      return nil
    }
    // The index first: it would else bring back what is left out, as part of the next version.
    try dropFromIndex(plain.leftOut.map(\.path), for: plain.version)
    repository.identity = (identity.device.name, identity.device.email)
    try repository.update(
      reference: head.reference, to: plain.version, from: tip, message: Self.plainFormMessage)
    try rememberTip()
    rememberPlain(plain.version)
    return plain
  }

  /// The plain form of a version, which is kept findable then; nil when the version is its own.
  func plainForm(of made: ObjectID) throws -> PlainVersion? {
    let known = try knownPlain.flatMap { try repository.contains($0) ? $0 : nil }
    var forms = PlainForms(in: repository)
    let form = try repository.withBatchedWrites {
      try forms.form(of: made, knowing: known.map { [$0] } ?? [])
    }
    guard form != made else { return nil }
    let name = Self.handMadeFolder + "/" + made.hex
    notedReferences.insert(name)
    try repository.set(reference: name, to: made, message: "notes: made by hand")
    return PlainVersion(made: made, version: form, leftOut: forms.leftOut(of: made))
  }

  /// Where versions stay that others stand in the place of.
  static let handMadeFolder = "refs/notes-state/by-hand"
  /// What the branch's log says of it.
  static let plainFormMessage = "notes: plain form"

  /// Takes what is at these paths out of the index, for what the version has there.
  private func dropFromIndex(_ paths: [TreePath], for version: ObjectID) throws {
    let index = try indexForChange()
    var edit = IndexEdit(of: index)
    let tree = try repository.commit(version).tree
    for path in paths {
      for position in index.positions(atOrBelow: path) { edit.remove(index[position].path) }
      for entry in try standing(at: path, in: tree) { edit.set(entry) }
    }
    try edit.finish().write(to: repository)
  }

  // What is known to be plain, with all its history, so that no version is looked at twice. It is a
  // cache: whoever does not find it looks at all of them.

  private var plainPath: String { stateFolder + "/plain" }

  private var knownPlain: ObjectID? {
    guard let content = try? Disk.readIfThere(plainPath) else { return nil }
    return ObjectID(hex: content.prefix(2 * ObjectID.byteCount))
  }

  /// Remembers that the version and all before it are plain. Where there is no room for it, nothing is
  /// lost but time.
  func rememberPlain(_ version: ObjectID?) {
    guard let version else { return }
    try? Disk.replace(plainPath, with: Array("\(version)\n".utf8), waits: false)
  }

  /// Forgets what is known to be plain, because something is not.
  public func forgetPlainForm() throws { try Disk.remove(plainPath) }
}
