internal import Git

/// A value that takes the same number of bytes in every row.
protocol TableColumnValue: Sendable {
  /// How many bytes it takes.
  static var width: Int { get }
  /// The value whose bytes begin at `offset`.
  static func read(from bytes: [UInt8], at offset: Int) -> Self
  func append(to bytes: inout [UInt8])
}

/// One column of a table: the values of the file that the table was read from, where they stay, and
/// those added since. So a table is read and added to without copying what is there.
struct TableColumn<Value: TableColumnValue>: RandomAccessCollection, Sendable {
  private var file: [UInt8] = []
  private var offset = 0
  private var stored = 0
  private var added: [Value] = []

  /// An empty column.
  init() {}

  /// A column of `count` values that are in `file` from `offset` on.
  init(in file: [UInt8], at offset: Int, count: Int) {
    self.file = file
    self.offset = offset
    stored = count
  }

  var startIndex: Int { 0 }
  var endIndex: Int { stored + added.count }

  subscript(position: Int) -> Value {
    position < stored
      ? Value.read(from: file, at: offset + position * Value.width) : added[position - stored]
  }

  mutating func append(_ value: Value) { added.append(value) }

  mutating func append(contentsOf values: some Sequence<Value>) {
    added.append(contentsOf: values)
  }

  /// Appends all values to a file.
  func append(to bytes: inout [UInt8]) {
    bytes += file[offset..<offset + stored * Value.width]
    for value in added { value.append(to: &bytes) }
  }
}

extension TableColumn<UInt8> {
  /// The bytes of a range that lies within the file, or behind it.
  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    range.lowerBound < stored
      ? file[offset + range.lowerBound..<offset + range.upperBound]
      : added[range.lowerBound - stored..<range.upperBound - stored]
  }
}

extension TableColumn<ObjectID> {
  /// The place of an ID, looked for from the end; nil when it is not there.
  func lastIndex(of id: ObjectID) -> Int? {
    if let place = added.lastIndex(of: id) { return stored + place }
    let wanted = id.bytes
    return file.withUnsafeBytes { file in
      wanted.withUnsafeBytes { wanted in
        let head = wanted.loadUnaligned(as: UInt64.self)
        var place = stored
        while place > 0 {
          place -= 1
          let start = offset + place * ObjectID.width
          if file.loadUnaligned(fromByteOffset: start, as: UInt64.self) == head,
            file[start..<start + ObjectID.width].elementsEqual(wanted)
          {
            return place
          }
        }
        return nil
      }
    }
  }
}

extension TableColumnValue where Self: FixedWidthInteger {
  static var width: Int { MemoryLayout<Self>.size }

  static func read(from bytes: [UInt8], at offset: Int) -> Self {
    Self(
      littleEndian: bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: offset, as: Self.self)
      })
  }

  func append(to bytes: inout [UInt8]) {
    Swift.withUnsafeBytes(of: littleEndian) { bytes.append(contentsOf: $0) }
  }
}

extension UInt8: TableColumnValue {}
extension UInt32: TableColumnValue {}
extension Int64: TableColumnValue {}

extension ObjectID: TableColumnValue {
  static var width: Int { byteCount }

  static func read(from bytes: [UInt8], at offset: Int) -> ObjectID {
    ObjectID(in: bytes, at: offset) ?? .zero
  }

  func append(to bytes: inout [UInt8]) { appendBytes(to: &bytes) }
}
