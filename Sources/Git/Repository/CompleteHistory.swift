internal import Glibc
internal import System

/// The signs that a repository lacks objects of its history, or replaces them by others
/// (gitrepository-layout(5), git-clone(1), git-replace(1)).
public enum HistoryGap: String, Hashable, Sendable {
  /// The history is cut off after some versions: `.git/shallow`.
  case shallow
  /// git fetches objects from a remote when it needs them: `remote.NAME.promisor`.
  case partial
  /// Objects are in another repository, which is missing: `objects/info/alternates`.
  case alternates
  /// git shows versions with other parents than their own: `.git/info/grafts`.
  case grafts
  /// Objects are replaced by others: `refs/replace/`.
  case replacements
}

extension Repository {
  /// Throws `incomplete` if the repository is marked as lacking objects of its history: versions on top
  /// of it could not be sent to others.
  public func checkIsComplete() throws {
    if let gap = try historyGap() {
      throw GitError.incomplete(gap, remote: try promisor() ?? "origin")
    }
  }

  /// Throws `incomplete` if git shows other versions than those stored: other devices would see different ones.
  func checkShowsItsOwn() throws {
    if let gap = overlays.first { throw GitError.incomplete(gap, remote: "origin") }
  }

  /// The ways in which git shows versions differently: `grafts` and `replacements`.
  public var overlays: [HistoryGap] {
    (hasContent("info/grafts") ? [.grafts] : []) + (hasReplacements ? [.replacements] : [])
  }

  private func historyGap() throws -> HistoryGap? {
    if hasContent("shallow") { return .shallow }
    if try promisor() != nil { return .partial }
    if let lines = Disk.contentIfAny(gitFolder + "/objects/info/alternates") {
      for line in lines.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
        let path = String(decoding: line, as: UTF8.self)
        let place = path.hasPrefix("/") ? path : "\(gitFolder)/objects/\(path)"
        if Counted.access(place, R_OK | X_OK) != 0 { return .alternates }
      }
    }
    return nil
  }

  private func hasContent(_ name: String) -> Bool {
    var status = stat()
    return Counted.stat("\(gitFolder)/\(name)", &status) == 0 && status.st_size > 0
  }

  private var hasReplacements: Bool {
    let folder = gitFolder + "/refs/replace"
    if Counted.access(folder, F_OK) == 0, !Disk.namesIfAny(in: folder).isEmpty { return true }
    guard let packed = Disk.contentIfAny(gitFolder + "/packed-refs") else { return false }
    let name = Array(" refs/replace/".utf8)
    return packed.split(separator: UInt8(ascii: "\n")).contains { line in
      line.dropFirst(2 * ObjectID.byteCount).starts(with: name)
    }
  }

  /// The remote from which git fetches objects on demand; nil if there is none.
  private func promisor() throws -> String? {
    for (name, value) in try ConfigurationFile(at: gitFolder + "/config").entries {
      if name == "extensions.partialclone" { return value ?? "origin" }
      guard name.hasPrefix("remote."), name.hasSuffix(".promisor"),
        ConfigurationFile.isTrue(value ?? "true")
      else { continue }
      return String(name.dropFirst("remote.".count).dropLast(".promisor".count))
    }
    return nil
  }
}
