/// A commit rewritten with other parents, another tree or another message. Author and committer
/// keep their bytes. Signatures are removed, because they sign the former content: notes-forget(1),
/// "Versions".
package struct RewrittenCommit {
  package var tree: ObjectID
  package var parents: [ObjectID]
  /// The message with its trailers, as stored.
  package var message: [UInt8]
  /// Whether the original commit had a signature of any kind.
  package let wasSigned: Bool
  private let author: ArraySlice<UInt8>
  private let committer: ArraySlice<UInt8>
  /// The headers after the committer, as whole lines.
  private var others: [UInt8] = []

  private static let newline = UInt8(ascii: "\n")
  /// The headers for signatures of git and related programs, and those copied from merged commits.
  private static let dropped = ["gpgsig", "mergetag", "HG:"].map { Array($0.utf8) }

  /// Reads a commit's content.
  package init(of data: [UInt8], id: ObjectID) throws {
    let headers = try CommitHeaders(parsing: data, id: id)
    (tree, parents) = (headers.tree, headers.parents)
    (author, committer) = (headers.author, headers.committer)
    message = Array(data[headers.messageStart...])
    wasSigned = SignedCommit.isSigned(data)
    var isDropped = false
    let start = committer.endIndex + 1
    for line in data[start..<max(start, headers.messageStart)].split(separator: Self.newline) {
      // A line that begins with a space belongs to the one before.
      if line.first != UInt8(ascii: " ") {
        isDropped = Self.dropped.contains { line.starts(with: $0) }
      }
      if !isDropped { others += line + [Self.newline] }
    }
  }

  /// Adds a header after the others, unless the commit already has it.
  package mutating func add(header: String, _ value: String) {
    let line = Array("\(header) \(value)\n".utf8)
    if !others.split(separator: Self.newline).contains(where: { $0.elementsEqual(line.dropLast()) })
    {
      others += line
    }
  }

  /// The content of the commit object.
  package var content: [UInt8] {
    Commit.headers(tree: tree, parents: parents, author: author, committer: committer) + others
      + [Self.newline] + message
  }

  /// The values of a header in a commit's content, one for each line, in order.
  package static func values(ofHeader name: String, in data: [UInt8]) -> [String] {
    let label = Array("\(name) ".utf8)
    var found: [String] = []
    for line in data.split(separator: newline, omittingEmptySubsequences: false) {
      if line.isEmpty { break }
      if line.starts(with: label) {
        found.append(String(decoding: line.dropFirst(label.count), as: UTF8.self))
      }
    }
    return found
  }
}

extension Repository {
  /// Stores a rewritten commit and returns its ID; no reference moves.
  package func write(_ commit: RewrittenCommit) throws -> ObjectID {
    if commit.tree == .emptyTree { _ = try write(.tree, []) }
    return try write(.commit, commit.content)
  }
}
