package import Git

/// The header before the pack of a bundle: gitformat-bundle(5).
package struct BundleHeader: Hashable, Sendable {
  /// Commits that a receiver must already have, with all their history.
  package var prerequisites: [ObjectID] = []
  /// The bundle's commits, by reference name.
  package var references: [String: ObjectID] = [:]

  /// git clones the commit named `HEAD`, so this is the tip.
  package static let tip = "HEAD"

  static let signature = Array("# v2 git bundle\n".utf8)
  /// The size limit in bytes: git's own bundles may name every branch and tag.
  static let limit = 1 << 20

  /// An empty header.
  package init() {}

  /// The header in version 2, which every version of git reads.
  var bytes: [UInt8] {
    let prerequisites = prerequisites.map { "-\($0) \n" }
    let references = references.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
    return Self.signature + Array((prerequisites + references + ["\n"]).joined().utf8)
  }

  /// The offset of the pack, if it is within these bytes, which are the first of a file. Throws
  /// `BundleError` as soon as the bytes cannot be a bundle's.
  static func end(in bytes: [UInt8]) throws(BundleError) -> Int? {
    guard bytes.starts(with: signature.prefix(bytes.count)) else {
      let line = String(
        decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }.prefix(40), as: UTF8.self)
      throw line.hasSuffix(" git bundle") ? .form(line) : .notABundle
    }
    let newline = UInt8(ascii: "\n")
    let pair = zip(bytes.indices, bytes.indices.dropFirst()).first { first, second in
      bytes[first] == newline && bytes[second] == newline
    }
    if let pair { return pair.1 + 1 }
    guard bytes.count <= limit else { throw .damaged }
    return nil
  }

  /// Reads a header, up to the empty line.
  package init(parsing bytes: ArraySlice<UInt8>) throws(BundleError) {
    for line in bytes.dropFirst(Self.signature.count).split(separator: UInt8(ascii: "\n")) {
      let isPrerequisite = line.first == UInt8(ascii: "-")
      let words = (isPrerequisite ? line.dropFirst() : line)
        .split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard let id = words.first.flatMap({ ObjectID(hex: $0) }) else { throw .damaged }
      if isPrerequisite {
        prerequisites.append(id)
      } else if words.count == 2 {
        references[String(decoding: words[1], as: UTF8.self)] = id
      } else {
        throw .damaged
      }
    }
  }
}
