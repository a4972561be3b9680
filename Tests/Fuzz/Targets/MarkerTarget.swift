import Git

@testable import Merge
@testable import Notebook

/// Any text may look like conflict markers. Reading them loses nothing.
enum MarkerTarget {
  static func run(_ bytes: [UInt8]) {
    for size in [7, 9] {
      let marked = MarkedText(bytes, markerSize: size)
      let pieces = marked.pieces.flatMap { piece in
        switch piece {
        case .text(let text): Array(text)
        case .block(_, let source): Array(source)
        }
      }
      precondition(pieces == bytes)
      for side in marked.blocks.flatMap({ $0 }) { _ = (side.name, side.date) }
      for choice in [Resolution.older, .newer, .both] {
        let isResolved = (try? choice.apply(to: marked)) != nil
        precondition(isResolved == !marked.blocks.isEmpty)
      }
    }
    _ = MergeTrailers(message: String(decoding: bytes, as: UTF8.self))
    let path = TreePath(bytes: bytes)
    if !bytes.isEmpty {
      precondition(MergeTrailers.unquoted(Array(MergeTrailers.quoted(path).utf8)) == path)
    }
    _ = MergeTrailers.unquoted(bytes)
  }
}
