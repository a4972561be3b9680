/// The lines of a small file, one after another, without what ends them. Empty ones are left out.
///
/// Taking a file apart into arrays costs more than reading it, which counts in what every command
/// does first.
package struct TextLines: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  package init(_ content: [UInt8]) { rest = content[...] }

  package mutating func next() -> ArraySlice<UInt8>? {
    rest = rest.drop { $0 == UInt8(ascii: "\n") }
    guard !rest.isEmpty else { return nil }
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    rest = rest[line.endIndex...]
    return line
  }
}
