// The text forms of trees and commits, as git stores them (git-cat-file(1), gitformat-*).

extension Tree {
  /// Reads a tree object's content.
  init(parsing data: [UInt8], id: ObjectID) throws {
    var entries: [TreeEntry] = []
    var position = 0
    while position < data.count {
      guard let space = data[position...].firstIndex(of: UInt8(ascii: " ")),
        let end = data[space...].firstIndex(of: 0),
        end + ObjectID.byteCount < data.count,
        let mode = UInt32(String(decoding: data[position..<space], as: UTF8.self), radix: 8),
        let entry = ObjectID(bytes: data[(end + 1)...(end + ObjectID.byteCount)])
      else { throw GitError.malformed(id, "tree entry at byte \(position)") }
      entries.append(
        TreeEntry(
          name: TreePath(bytes: data[(space + 1)..<end]), mode: FileMode(rawValue: mode), id: entry)
      )
      position = end + 1 + ObjectID.byteCount
    }
    self.init(stored: entries)
  }

  /// The content of the tree object.
  var serialized: [UInt8] {
    var data: [UInt8] = []
    data.reserveCapacity(entries.count * 40)
    for entry in entries {
      data.append(contentsOf: String(entry.mode.rawValue, radix: 8).utf8)
      data.append(UInt8(ascii: " "))
      data.append(contentsOf: entry.name.bytes)
      data.append(0)
      data.append(contentsOf: entry.id.bytes)
    }
    return data
  }
}

extension Commit {
  /// Reads a commit object's content. Headers that are not known (gpgsig, encoding, …) are passed
  /// over; text that is not UTF-8 is repaired, as it is only shown.
  init(parsing data: [UInt8], id: ObjectID) throws {
    var tree: ObjectID?
    var parents: [ObjectID] = []
    var author: Signature?
    var committer: Signature?
    var position = 0
    while position < data.count {
      let end = data[position...].firstIndex(of: UInt8(ascii: "\n")) ?? data.count
      let line = data[position..<end]
      position = min(end + 1, data.count)
      if line.isEmpty { break }
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
      let value = line[(space + 1)...]
      switch String(decoding: line[..<space], as: UTF8.self) {
      // git goes by the place of a line: a later one of that name means nothing.
      case "tree": tree = tree ?? ObjectID(hex: value)
      case "parent" where author == nil:
        guard let parent = ObjectID(hex: value) else {
          throw GitError.malformed(id, "parent line")
        }
        parents.append(parent)
      case "author": author = author ?? Signature(parsing: value)
      case "committer": committer = committer ?? Signature(parsing: value)
      default: break
      }
    }
    guard let tree, let author, let committer else {
      throw GitError.malformed(id, "a commit needs tree, author and committer")
    }
    self.init(
      id: id, tree: tree, parents: parents, author: author, committer: committer,
      message: String(decoding: data[position...], as: UTF8.self))
  }

  /// The content of a commit object.
  static func serialized(
    tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature, message: String
  ) -> [UInt8] {
    var text = "tree \(tree)\n"
    for parent in parents { text += "parent \(parent)\n" }
    text += "author \(author.serialized)\ncommitter \(committer.serialized)\n\n"
    return Array(text.utf8) + Array(message.utf8)
  }
}

extension Signature {
  /// Reads `NAME <EMAIL> SECONDS +HHMM`.
  init?(parsing line: ArraySlice<UInt8>) {
    guard let open = line.firstIndex(of: UInt8(ascii: "<")),
      let close = line.lastIndex(of: UInt8(ascii: ">")), open < close
    else { return nil }
    let name = String(decoding: line[..<open], as: UTF8.self)
    let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "))
    guard let first = fields.first, let time = Int64(String(decoding: first, as: UTF8.self)) else {
      return nil
    }
    var offset = 0
    if fields.count > 1, let zone = Int(String(decoding: fields[1], as: UTF8.self)),
      abs(zone) <= 9959
    {
      offset = zone / 100 * 60 + zone % 100
    }
    self.init(
      name: String(name.trimmingSuffix(while: { $0 == " " })),
      email: String(decoding: line[(open + 1)..<close], as: UTF8.self), time: time, offset: offset)
  }

  /// The form in a commit object. Characters that would end a field early are left out, as git does.
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

extension String {
  fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
