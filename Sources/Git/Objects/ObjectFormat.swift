// The encodings of trees and commits in git (git-cat-file(1), gitformat-*).

extension Tree {
  init(parsing data: [UInt8], id: ObjectID) throws {
    guard let entries = TreeBytes.entries(data) else {
      throw GitError.malformed(id, "a damaged tree")
    }
    self.init(stored: entries.map { $0.value(in: data) })
  }

  var serialized: [UInt8] {
    var data: [UInt8] = []
    data.reserveCapacity(entries.count * 40)
    for entry in entries { TreeBytes.append(entry, to: &data) }
    return data
  }
}

/// The header lines at the beginning of every commit object, and the start of its message.
struct CommitHeaders {
  private(set) var tree = ObjectID.zero
  private(set) var parents: [ObjectID] = []
  private(set) var author: ArraySlice<UInt8> = []
  private(set) var committer: ArraySlice<UInt8> = []
  private(set) var messageStart = 0
  private(set) var isRewritten = false

  private static let rewrittenLabel = Array("notes-forgot ".utf8)
  private static let treeLabel = Array("tree ".utf8)
  private static let parentLabel = Array("parent ".utf8)
  private static let authorLabel = Array("author ".utf8)
  private static let committerLabel = Array("committer ".utf8)
  static let labels = [treeLabel, parentLabel, authorLabel, committerLabel]

  /// Reads the headers, and skips unknown ones (gpgsig, encoding, …).
  init(parsing data: [UInt8], id: ObjectID) throws {
    var tree: ObjectID?
    var author: ArraySlice<UInt8>?
    var committer: ArraySlice<UInt8>?
    while messageStart < data.count {
      let end = data[messageStart...].firstIndex(of: UInt8(ascii: "\n")) ?? data.count
      let line = data[messageStart..<end]
      messageStart = min(end + 1, data.count)
      if line.isEmpty { break }
      // git reads a header by its position: a later line with the same name has no meaning.
      if author == nil, line.starts(with: Self.parentLabel) {
        guard let parent = ObjectID(hex: line.dropFirst(Self.parentLabel.count)) else {
          throw GitError.malformed(id, "parent line")
        }
        parents.append(parent)
      } else if tree == nil, line.starts(with: Self.treeLabel) {
        tree = ObjectID(hex: line.dropFirst(Self.treeLabel.count))
      } else if author == nil, line.starts(with: Self.authorLabel) {
        author = line.dropFirst(Self.authorLabel.count)
      } else if committer == nil, line.starts(with: Self.committerLabel) {
        committer = line.dropFirst(Self.committerLabel.count)
      } else if line.starts(with: Self.rewrittenLabel) {
        isRewritten = true
      }
    }
    guard let tree, let author, let committer else {
      throw GitError.malformed(id, "a commit needs tree, author and committer")
    }
    (self.tree, self.author, self.committer) = (tree, author, committer)
  }
}

extension Commit {
  /// Reads a commit object's content. Invalid UTF-8 is replaced, as the text is only for people.
  package init(parsing data: [UInt8], id: ObjectID) throws {
    let headers = try CommitHeaders(parsing: data, id: id)
    guard let author = Signature(parsing: headers.author),
      let committer = Signature(parsing: headers.committer)
    else { throw GitError.malformed(id, "a commit needs tree, author and committer") }
    self.init(
      id: id, tree: headers.tree, parents: headers.parents, author: author, committer: committer,
      message: String(decoding: data[headers.messageStart...], as: UTF8.self),
      isRewritten: headers.isRewritten)
  }

  static func serialized(
    tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature, message: String
  ) -> [UInt8] {
    headers(
      tree: tree, parents: parents, author: author.serialized.utf8,
      committer: committer.serialized.utf8) + Array("\n\(message)".utf8)
  }

  static func headers(
    tree: ObjectID, parents: [ObjectID], author: some Sequence<UInt8>,
    committer: some Sequence<UInt8>
  ) -> [UInt8] {
    var lines = Array("tree \(tree)\n".utf8)
    for parent in parents { lines += "parent \(parent)\n".utf8 }
    return lines + Array("author ".utf8) + author + Array("\ncommitter ".utf8) + committer
      + Array("\n".utf8)
  }
}

extension Signature {
  /// Reads `NAME <EMAIL> SECONDS +HHMM`.
  init?(parsing line: ArraySlice<UInt8>) {
    guard let open = line.firstIndex(of: UInt8(ascii: "<")),
      let close = line.lastIndex(of: UInt8(ascii: ">")), open < close
    else { return nil }
    var name = line[..<open]
    while name.last == UInt8(ascii: " ") { name.removeLast() }
    let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "))
    guard let first = fields.first, let time = Int64(String(decoding: first, as: UTF8.self)) else {
      return nil
    }
    var offset = 0
    if fields.count > 1, let zone = Int(String(decoding: fields[1], as: UTF8.self)),
      (-9959...9959).contains(zone)
    {
      offset = zone / 100 * 60 + zone % 100
    }
    self.init(
      name: String(decoding: name, as: UTF8.self),
      email: String(decoding: line[(open + 1)..<close], as: UTF8.self), time: time, offset: offset)
  }

  /// The form in a commit object. Like git, it drops characters that would end a field early.
  var serialized: String {
    func clean(_ text: String) -> String {
      String(
        String.UnicodeScalarView(
          text.unicodeScalars.filter { $0 != "<" && $0 != ">" && $0 != "\n" && $0.value != 0 }))
    }
    let minutes = abs(offset)
    let digits = String(minutes / 60 * 100 + minutes % 60)
    let zone = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    return "\(clean(name)) <\(clean(email))> \(time) \(offset < 0 ? "-" : "+")\(zone)"
  }
}
