internal import Glibc

extension Transfer {
  /// The result of a push.
  public enum PushOutcome: Hashable, Sendable {
    /// The branch is now at the commit. The values: the approximate number of bytes sent, whether the branch
    /// moved, and the result for the references beside it.
    case done(bytes: Int, hasMoved: Bool, beside: Beside)
    /// The branch has moved in the meantime.
    case moved
    /// The other side refused, for this reason.
    case refused(String)
  }

  /// The result for the references that were pushed together with a branch.
  public enum Beside: Hashable, Sendable {
    /// All references were changed.
    case given
    /// A reference has moved since its last known commit.
    case moved
    /// The other side accepts no references of this kind.
    case refused
  }

  /// The new commit of a reference in another repository, and its last known one; nil for none.
  public typealias Move = (to: ObjectID, from: ObjectID?)

  /// Moves a branch of another repository forward to a commit of this one. Also moves the branches `along` if
  /// that moves them forward, and the references `beside` if they still have their last known commits. If the
  /// other side refuses only the references `beside`, the rest succeeds.
  ///
  /// - Parameter replaced: branches at these commits are moved even if that does not move them forward.
  public func push(
    _ id: ObjectID, to branch: String, along others: [String] = [],
    replacing replaced: [String: ObjectID] = [:], beside: [String: Move] = [:],
    at url: String, onProgress: (GitProgress) -> Void = { _ in }
  ) throws -> PushOutcome {
    try push(
      id, to: branch,
      replaced.map { "--force-with-lease=refs/heads/\($0):\($1)" }
        + beside.map { "--force-with-lease=\($0):\($1.from?.hex ?? "")" },
      beside: others.map { "\(id.hex):refs/heads/\($0)" } + beside.map { "\($1.to.hex):\($0)" },
      at: url, onProgress: onProgress)
  }

  /// Pushes a version without a fetch before it, even if the branch's commit is not an ancestor of the version. Nothing
  /// moves unless the branch is at `former` and the references `beside` are at their last known commits.
  public func push(
    _ id: ObjectID, to branch: String, from former: ObjectID, beside: [String: ObjectID],
    at url: String, onProgress: (GitProgress) -> Void = { _ in }
  ) throws -> PushOutcome {
    let expected = [("refs/heads/" + branch, former)] + beside
    return try push(
      id, to: branch,
      ["--atomic"] + expected.map { "--force-with-lease=\($0):\($1.hex)" },
      beside: beside.map { "\($1.hex):\($0)" }, at: url, onProgress: onProgress)
  }

  /// Moves references of another repository if they still have their last known commits. Moves no branch.
  public func push(beside moves: [String: Move], at url: String) throws -> Beside {
    try renew()
    let ending = try run(
      Self.pushing + moves.map { "--force-with-lease=\($0):\($1.from?.hex ?? "")" }
        + Self.service(url) + ["--end-of-options", url] + moves.map { "\($1.to.hex):\($0)" })
    let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n")
    guard ending.status == 0 || lines.contains(where: { $0.hasPrefix("!") }) else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    return Self.fate(of: lines)
  }

  /// Sets references of another repository to commits of this one, whatever their present commits are. Removes
  /// a reference whose value is nil.
  ///
  /// - Returns: the reason why the other side refused one of them; nil if it accepted all.
  public func set(_ references: [String: ObjectID?], at url: String) throws -> String? {
    let wanted = references.sorted { $0.key < $1.key }
      .map { name, id in id.map { "+\($0.hex):\(name)" } ?? ":\(name)" }
    let ending = try run(Self.pushing + Self.service(url) + ["--end-of-options", url] + wanted)
    let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n")
    if let line = lines.first(where: { $0.hasPrefix("!") }) {
      let complaint = Self.explained(ending.progress.complaint, at: url)
      guard case .refused(let words) = Self.outcome(of: line, complaint) else {
        return String(line.split(separator: "\t").last ?? "")
      }
      return words
    }
    guard ending.status == 0 else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    return nil
  }

  private static let pushing = [
    "push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--no-signed",
  ]

  /// The options to start the other side's program; only for a folder of this machine.
  private static func service(_ url: String) -> [String] {
    url.hasPrefix("/") ? ["--receive-pack=" + GitProgram.receivePack] : []
  }

  private func push(
    _ id: ObjectID, to branch: String, _ conditions: [String], beside: [String], at url: String,
    onProgress: (GitProgress) -> Void
  ) throws -> PushOutcome {
    try renew()
    let ending = try run(
      Self.pushing + conditions + Self.service(url)
        + ["--end-of-options", url, "\(id.hex):refs/heads/\(branch)"] + beside,
      onTick: onProgress)
    let all = String(decoding: ending.output, as: UTF8.self).split(separator: "\n")
    let lines = all.filter { $0.contains(":refs/heads/\(branch)\t") }
    if let line = lines.first(where: { $0.hasPrefix("!") }) {
      return Self.outcome(of: line, Self.explained(ending.progress.complaint, at: url))
    }
    guard ending.status == 0 || !lines.isEmpty else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    return .done(
      bytes: ending.progress.bytes, hasMoved: !lines.contains { $0.hasPrefix("=") },
      beside: Self.fate(of: all))
  }

  /// The result for the references beside branches, from git's lines.
  private static func fate(of lines: [Substring]) -> Beside {
    let lost = lines.filter { $0.hasPrefix("!") && !$0.contains(":refs/heads/") }
    let hasMoved = lost.contains { outcome(of: $0, []) == .moved }
    return lost.isEmpty ? .given : hasMoved ? .moved : .refused
  }

  /// The outcome that a line of git reports, such as `! ID:refs/heads/main [rejected] (fetch first)`.
  private static func outcome(of line: Substring, _ complaint: [String]) -> PushOutcome {
    let summary = String(line.split(separator: "\t").last ?? "")
    // The other side's settings refuse a move that is not forward.
    if summary.contains("[remote rejected] (non-fast-forward)") { return .refused(summary) }
    let words = complaint.compactMap(reason)
    let races = [
      "(fetch first)", "(non-fast-forward)", "(needs force)", "(stale info)",
      "(failed to update ref)", "cannot lock ref", "(failed to lock)", "incorrect old value",
      "reference already exists", "(atomic push failed)", "(atomic push failure)",
    ]
    // A folder that cannot be written fails in the same way as a reference that moved. In other cases, words about
    // permissions may be those of a hook.
    let isDenied =
      summary.contains("[remote rejected]") && words.contains(where: isOfPermissions)
    if !isDenied, races.contains(where: summary.contains) { return .moved }
    return .refused(([summary] + words.filter { !$0.isEmpty }).joined(separator: "; "))
  }

  /// The other side's words in a line of git's complaint; nil if it has none.
  private static func reason(in line: String) -> String? {
    let marks = ["remote: ", "error: remote unpack failed: "]
    guard let mark = marks.first(where: line.hasPrefix) else { return nil }
    // git pads such lines with spaces.
    var words = line.dropFirst(mark.count)
    for beginning in ["fatal: ", "error: "] where words.hasPrefix(beginning) {
      words = words.dropFirst(beginning.count)
    }
    while let last = words.last, last == " " || last == "." { words.removeLast() }
    return String(words)
  }

  /// git's complaint, with the reason that git leaves out if it cannot begin to write into a folder of this machine.
  private static func explained(_ complaint: [String], at url: String) -> [String] {
    guard url.hasPrefix("/"),
      complaint.contains(where: { $0.contains("unable to create temporary object directory") })
    else { return complaint }
    for objects in [url + "/objects", url + "/.git/objects"] where access(objects, F_OK) == 0 {
      // A full disk fails in the same way, so check the permission.
      guard access(objects, W_OK) != 0 else { return complaint }
      return complaint + ["remote: " + String(cString: strerror(errno))]
    }
    return complaint
  }

  /// Whether git on the other side says that its user may not write into the repository's folder.
  public static func isOfPermissions(_ words: String) -> Bool {
    [
      "Permission denied", "Read-only file system", "insufficient permission",
      "unable to create directory for",
    ].contains(where: words.contains)
  }
}
