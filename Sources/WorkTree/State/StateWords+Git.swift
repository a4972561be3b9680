internal import Git
internal import State
internal import System

extension StateWords {
  func id(_ number: Int) -> ObjectID? { ObjectID(hex: words[number]) }

  func mode(_ number: Int) -> FileMode? {
    UInt32(self[number], radix: 8).map { FileMode(rawValue: $0) }
  }

  func path(_ number: Int) -> TreePath? {
    [UInt8](hexadecimal: words[number]).map { TreePath(bytes: $0) }
  }
}

extension Array where Element: Hashable {
  /// The elements in order, without repetitions.
  package var eachOnce: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension ObjectID {
  /// Nil for the zero ID.
  var unlessZero: ObjectID? { self == .zero ? nil : self }
}

extension FileMode {
  var octal: String { String(rawValue, radix: 8) }
}

extension TreePath {
  /// The path's bytes in hexadecimal digits.
  package var hexadecimal: String { String(hexadecimal: bytes) }
}
