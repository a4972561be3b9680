/// How much of one file is in another: notes-merge(7), "Renames".
struct ContentSimilarity {
  /// The score of equal files.
  static let full = 60_000
  /// A renamed file keeps at least half of its content.
  static let least = 30_000
  /// The share that a file with the same name in another folder must keep.
  static let leastWithSameName = 45_000
  /// A chunk ends at a newline, or after this many bytes.
  static let longestChunk = 64

  private let size: Int
  private let chunks: [[UInt8]: Int]

  init(_ content: [UInt8]) {
    size = content.count
    let isText = !FileSum.isBinary(content)
    var chunks: [[UInt8]: Int] = [:]
    var chunk: [UInt8] = []
    for (index, byte) in content.enumerated() {
      if isText, byte == UInt8(ascii: "\r"), index + 1 < content.count,
        content[index + 1] == UInt8(ascii: "\n")
      {
        continue
      }
      chunk.append(byte)
      if chunk.count == Self.longestChunk || byte == UInt8(ascii: "\n") {
        chunks[chunk, default: 0] += chunk.count
        chunk.removeAll(keepingCapacity: true)
      }
    }
    if !chunk.isEmpty { chunks[chunk, default: 0] += chunk.count }
    self.chunks = chunks
  }

  /// The size of the common chunks, as a share of the larger file, out of `full`.
  func score(against other: ContentSimilarity) -> Int {
    guard size > 0, other.size > 0 else { return 0 }
    var shared = 0
    for (chunk, bytes) in chunks { shared += min(bytes, other.chunks[chunk] ?? 0) }
    return shared * Self.full / max(size, other.size)
  }
}
