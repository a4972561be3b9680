internal import System

extension ReferenceFile {
  /// The references whose names begin with `prefix`, by name, without symbolic ones.
  static func all(under prefix: String, in gitFolder: String) -> [(name: String, id: ObjectID)] {
    var found = packed(under: prefix, in: gitFolder)
    var folders = [
      prefix.split(separator: "/").dropLast(prefix.hasSuffix("/") ? 0 : 1)
        .joined(separator: "/")
    ]
    while let folder = folders.popLast() {
      for entry in Disk.namesIfAny(in: gitFolder + "/" + folder) {
        let name = folder + "/" + entry
        switch ReferenceFile(name, in: gitFolder).content {
        // A reference with a file has the commit in that file, and not the packed one.
        case .id(let id) where isName(name) && name.hasPrefix(prefix): found[name] = id
        case .id, .none: break
        case .symbolic, .other: found[name] = nil
        case .folder: folders.append(name)
        }
      }
    }
    return found.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  private static func packed(under prefix: String, in gitFolder: String) -> [String: ObjectID] {
    guard let file = Disk.contentIfAny(gitFolder + "/packed-refs") else { return [:] }
    var found: [String: ObjectID] = [:]
    let prefix = Array(prefix.utf8)
    for line in file.split(separator: UInt8(ascii: "\n")) where line.count > 41 {
      // `ID NAME`; other lines are comments, and the targets of tags.
      let name = line.dropFirst(41)
      guard name.starts(with: prefix), line[line.startIndex + 40] == UInt8(ascii: " "),
        let id = ObjectID(hex: line.prefix(40))
      else { continue }
      found[String(decoding: name, as: UTF8.self)] = id
    }
    return found
  }
}
