@testable import Channel

/// However the bytes are cut, the same frames or the same end come out; and what was read is written
/// as it came.
enum FrameTarget {
  static func run(_ bytes: [UInt8]) {
    let whole = frames(of: [bytes[...]])
    let middle = bytes.count / 2
    precondition(whole == frames(of: [bytes[..<middle], bytes[middle...]]))
    var written: [UInt8] = []
    for frame in whole { try? frame.encode(into: &written) }
    precondition(bytes.starts(with: written))
  }

  private static func frames(of parts: [ArraySlice<UInt8>]) -> [Frame] {
    var reader = FrameReader()
    var frames: [Frame] = []
    for part in parts {
      part.withUnsafeBytes { reader.append($0) }
      do {
        while let frame = try reader.next() { frames.append(frame) }
      } catch {
        return frames
      }
    }
    return frames
  }
}
