package import Git

/// The header before the pack of a bundle: gitformat-bundle(5).
package struct BundleHeader: Hashable, Sendable {
  /// Commits that whoever applies it has to have, with all their history.
  package var prerequisites: [ObjectID] = []
  /// The commits that it brings, by name.
  package var references: [String: ObjectID] = [:]

  /// Git clones what `HEAD` stands for, and so it is the tip.
  package static let tip = "HEAD"

  static let signature = Array("# v2 git bundle\n".utf8)
  /// How many bytes it may have: one of git's may name every branch and tag there is.
  static let limit = 1 << 20

  /// A header without anything.
  package init() {}

  /// Form 2, which every git reads.
  var bytes: [UInt8] {
    let prerequisites = prerequisites.map { "-\($0) \n" }
    let references = references.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
    return Self.signature + Array((prerequisites + references + ["\n"]).joined().utf8)
  }

  /// The start of the pack, if it is among these bytes, which are the first of a file. Throws `BundleError`
  /// as soon as they cannot be a bundle's.
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

  /// Reads one, up to the empty line.
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
