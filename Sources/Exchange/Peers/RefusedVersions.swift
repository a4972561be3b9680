public import Git
internal import Glibc
internal import History
public import Notebook
public import State
internal import System

/// Versions that one side showed and the other did not merge, in both directions: `.git/notes/held/`. Each
/// device and direction has a file, so sessions on several threads do not interfere. The record is removed when
/// the versions are merged, or no longer shown.
public struct RefusedVersions: Sendable {
  /// Versions that are not merged, and the reason.
  public struct Entry: Hashable, Sendable {
    /// The ID of the other device; for a hub, its name.
    public let device: String
    /// The side that refuses the versions, and the reason.
    public let refusal: PeerState.Refusal
    /// If this device refuses them: the reason in words, such as `this would delete 12 of 20 notes`.
    public let words: String?
    /// The heads that are not merged.
    public let heads: [ObjectID]
    /// The time, in seconds since 1970.
    public let time: Int64
  }

  private let folder: String
  private static let thereSuffix = ".there"

  /// The record in this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.held] }

  /// The versions that are still not merged, by device; records of versions that this device has
  /// merged since are removed.
  public func all(in notebook: Notebook) throws -> [Entry] {
    try Disk.namesIfAny(in: folder).sorted().compactMap { name in
      guard let held = read(name) else { return nil }
      if try isSettled(held, in: notebook) {
        unlink("\(folder)/\(name)")
        return nil
      }
      return held
    }
  }

  private func isSettled(_ held: Entry, in notebook: Notebook) throws -> Bool {
    let repository = notebook.repository
    if !held.refusal.isThere {
      return try held.heads.allSatisfy(repository.contains) && notebook.history.shows(held.heads)
    }
    // This device now shows other versions, so a merge with the held ones may keep the notes.
    if held.refusal.reason == .massDeletion, try Set(notebook.state().heads) != Set(held.heads) {
      return true
    }
    let branch = try repository.head().branch ?? "HEAD"
    guard let shown = try repository.reference("refs/remotes/\(held.device)/\(branch)")
    else { return false }
    return try held.heads.allSatisfy {
      try repository.contains($0) && repository.isAncestor($0, of: shown)
    }
  }

  /// Records that versions were not merged. The record is only for people: if it cannot be written, the
  /// session continues.
  func record(_ held: Entry) {
    var lines = StateLines([
      "device": held.device, "reason": held.refusal.reason.rawValue, "words": held.words,
      "time": held.time,
    ])
    for head in held.heads { lines.append("head", head.hex) }
    // The session also continues if the folder cannot be made.
    try? Disk.makeFolder(folder, mode: 0o700)
    try? Disk.replace(
      path(of: held.device, isThere: held.refusal.isThere), with: lines.bytes, isShared: true,
      waits: false)
  }

  /// Removes the record of one direction: that side merges again.
  func forget(_ device: String, isThere: Bool) { unlink(path(of: device, isThere: isThere)) }

  private func path(of device: String, isThere: Bool) -> String {
    // A hub's name may contain any character; in the file name it is written in hexadecimal digits.
    let isID = device.utf8.allSatisfy {
      (0x41...0x5a).contains($0) || (0x30...0x39).contains($0)
    }
    let name = isID ? device : "hub-" + String(hexadecimal: Array(device.utf8))
    return "\(folder)/\(name.prefix(200))\(isThere ? Self.thereSuffix : "")"
  }

  private func read(_ name: String) -> Entry? {
    let path = "\(folder)/\(name)"
    if name.hasSuffix(StateDamage.suffix) { return nil }
    return Disk.memory(at: path, limit: ProtocolLimits.messageBytes) {
      lines throws(StateDamage) -> Entry? in
      guard let device = lines["device"], let time = lines[number: "time"],
        let reason = lines["reason"]
      else { throw StateDamage(path, "a line is missing") }
      // A newer version of notes may have recorded a reason that is unknown here.
      guard let reason = MergeRefusal(rawValue: reason) else { return nil }
      return Entry(
        device: device,
        refusal: PeerState.Refusal(reason, isThere: name.hasSuffix(Self.thereSuffix)),
        words: lines["words"],
        heads: lines.values(of: "head").compactMap { ObjectID(hex: $0) },
        time: time)
    }
  }
}
