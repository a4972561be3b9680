package import Git
package import History
internal import Merge
internal import State
internal import WorkTree

/// Stores versions of this device and moves references: the base of everything that runs under the
/// writer lock.
package final class VersionWriter {
  let repository: Repository
  private let history: History
  private let device: DeviceIdentity
  private let signer: VersionSigner?
  /// The signer of this device's versions, loaded on first use; the inner value is nil if the key
  /// is missing.
  private var loaded: VersionSigner.Sign??
  /// This device, with its name in new versions.
  private lazy var author =
    signer?.author(device, stateFolder: repository.stateFolder) ?? device
  /// The references besides the branch that were moved: their lock files are removed at the end.
  private(set) var movedReferences: Set<String> = []

  init(_ history: History, device: DeviceIdentity, signer: VersionSigner? = nil) {
    self.history = history
    self.device = device
    self.signer = signer
    repository = history.repository
  }

  func tip() throws -> Commit? { try repository.head().commit.map { try repository.commit($0) } }

  /// Stores a version made by this device now. Moves no reference. `written` is the time of its texts, by
  /// default now. `conflicts` are added to the parents'. `guest` is the maker, if that is not the device's own
  /// user.
  func makeVersion(
    of tree: ObjectID, parents: [Commit], message: String, trailers: [String] = [],
    written: Int64? = nil, conflicts: [TreePath: Int] = [:], guest: String? = nil
  ) throws -> ObjectID {
    var (author, committer) = try signatures(written: written)
    if let guest { author.name = self.author.authorName(of: guest) }
    var carried = try OpenConflicts.carried(from: parents, to: tree, in: repository)
    carried.conflicts.merge(conflicts) { max($0, $1) }
    return try write(
      of: tree, parents: parents.map(\.id), author: author, committer: committer,
      message: message.withTrailers(trailers, carried.lines(first: Set(conflicts.keys))))
  }

  /// Stores a signed version of this device; no reference moves.
  func write(
    of tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature, message: String
  ) throws -> ObjectID {
    try repository.write(
      commit: tree, parents: parents, author: author, committer: committer, message: message,
      signedBy: sign())
  }

  /// Stores a replacement of somebody's version, made and signed by this device. If the version names another
  /// device as author, this device takes its place, and the name shows that, as with a guest's. No device signs
  /// for another, or under another's name.
  func rewrite(
    to tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature, message: String
  ) throws -> ObjectID {
    var author = author
    let sign = author.email == DerivedMerge.authorEmail ? nil : try sign()
    if sign != nil, let writer = DeviceAddress.deviceID(in: author.email),
      writer != device.deviceID
    {
      author.name = self.author.authorName(of: author.name)
      author.email = device.email
    }
    return try repository.write(
      commit: tree, parents: parents, author: author, committer: committer, message: message,
      signedBy: sign)
  }

  private func sign() throws -> VersionSigner.Sign? {
    if let loaded { return loaded }
    let sign = try signer?.sign(for: device)
    loaded = .some(sign)
    return sign
  }

  /// The address in versions made here. Without its key, a device does not name itself:
  /// notes-security(7), SIGNATURES.
  private var address: String {
    get throws {
      guard signer != nil, try sign() == nil else { return device.email }
      return DeviceIdentity.emailWithoutKey
    }
  }

  func makeVersion(
    on base: ObjectID?, replacing files: [TreePath: TreeEntry?], written: Int64? = nil,
    trailers: [String] = []
  ) throws -> ObjectID {
    let parents = try base.map { [try repository.commit($0)] } ?? []
    let changes = files.keys.sorted().map {
      Change(path: $0, kind: files[$0] == .some(nil) ? .deleted : .modified)
    }
    return try makeVersion(
      of: repository.write(tree: parents.first?.tree, replacing: files), parents: parents,
      message: Change.summary(of: changes), trailers: trailers, written: written)
  }

  /// Stores a version with the tree of the parent of `left`, and with `left` as a second parent. So the files
  /// that a power cut damaged stay in the history, but have no effect.
  func makeVersion(bringingBack names: String, beside left: ObjectID) throws -> ObjectID {
    let damaged = try repository.commit(left)
    let parents = try damaged.parents.prefix(1).map(repository.commit)
    return try makeVersion(
      of: parents.first?.tree ?? damaged.tree, parents: parents + [damaged],
      message: "Bring back \(names) after a power cut")
  }

  /// This device's author and committer for a version made now. The author's time is when the text was written,
  /// the committer's is now, whatever the parents' times are (notes-merge(7), "Times").
  private func signatures(written: Int64?) throws -> (author: Signature, committer: Signature) {
    let now = history.clock.now()
    let committer = try signature(now.seconds, now.offset)
    guard let written, written < committer.time else { return (committer, committer) }
    return (try signature(written, history.clock.offset(written)), committer)
  }

  /// A time that other devices accept, whatever the clock says: notes-protocol(7), PACKS.
  private func signature(_ seconds: Int64, _ offset: Int) throws -> Signature {
    Signature(
      name: author.name, email: try address, time: min(max(seconds, 0), Signature.latestTime),
      offset: abs(offset) < 24 * 60 ? offset : 0)
  }

  func move(_ head: Head, to id: ObjectID, message: String) throws {
    repository.identity = (device.name, device.email)
    try repository.update(reference: head.reference, to: id, from: head.commit, message: message)
    // The branch already keeps the version, so if the record fails, the next command makes it.
    try? BranchRecord(writer: self).follow(head.reference, at: id)
  }

  package func move(_ head: Head, to id: ObjectID, operation: OperationKind) throws {
    try move(head, to: id, message: "notes: \(operation.rawValue)")
  }

  /// Sets a reference that only this device writes to `id`, the commit of another reference.
  func copy(reference name: String, at id: ObjectID, to copy: String) throws {
    movedReferences.insert(copy)
    try repository.copy(reference: name, at: id, to: copy)
  }

  /// Sets a reference that only this device writes, other than the branch, to a commit.
  func setDeviceReference(_ name: String, to id: ObjectID, message: String) throws {
    movedReferences.insert(name)
    repository.identity = (device.name, device.email)
    try repository.set(reference: name, to: id, message: message)
  }
}

extension Signature {
  // The end of the year 9999.
  static let latestTime: Int64 = 253_402_300_799
}

extension String {
  /// The limit for a text, and for the trailers of a kind, in bytes. Together with the lists of conflicts, a
  /// message then stays within the limit that devices accept.
  private static var room: Int { PackLimits.standard.commitBytes / 8 }

  /// The subject of a message and its lists, shortened to the limit.
  var withRoom: String {
    let subject = split(separator: "\n", maxSplits: 1).first.map(String.init) ?? ""
    return subject.withTrailers([], MergeTrailers(message: self).lines())
  }

  func withTrailers(_ trailers: [String], _ lists: [String] = []) -> String {
    var body =
      utf8.count > Self.room ? String(decoding: utf8.prefix(Self.room), as: UTF8.self) : self
    if !body.hasSuffix("\n") { body += "\n" }
    var room = Self.room
    let kept = trailers.prefix {
      room -= $0.utf8.count + 1
      return room >= 0
    }
    let lines = kept + lists
    return lines.isEmpty ? body : body + "\n" + lines.map { $0 + "\n" }.joined()
  }
}
