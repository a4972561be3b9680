/// The objects of a received pack, for those who check them.
///
/// What is read is unpacked from the pack again. Whatever the pack does to be read out of order counts as
/// unpacked, so that a check takes no longer than `PackLimits.unpackedBytes` allows.
final class ReceivedObjects {
  /// All of them, by their IDs. Bases that were added are not among them.
  let all: [(id: ObjectID, kind: ObjectKind)]

  private let pack: PackReader
  private let packBytes: Int
  private let repository: Repository
  private let limits: PackLimits
  private let unpackedOnArrival: Int
  private var unpackedElsewhere = 0

  /// - Parameters:
  ///   - all: the objects by their IDs.
  ///   - path: the pack's, without `.pack`; its index is there.
  ///   - packBytes: the pack's as it came.
  ///   - unpackedBytes: the bytes that were unpacked since it began to arrive.
  init(
    _ all: [(id: ObjectID, kind: ObjectKind)], inPack path: String, bytes packBytes: Int,
    unpackedBytes: Int, repository: Repository, limits: PackLimits
  ) throws {
    self.all = all
    self.packBytes = packBytes
    self.repository = repository
    self.limits = limits
    unpackedOnArrival = unpackedBytes
    pack = try PackReader(
      [path], largestObject: limits.objectBytes, keptBytes: limits.keptBytes)
  }

  /// The bytes that were unpacked since the pack began to arrive.
  var unpackedBytes: Int { unpackedOnArrival + pack.unpackedBytes + unpackedElsewhere }

  /// The content of an object of the pack or of the repository.
  ///
  /// - Throws: `PackError` where it is in neither, or where the pack unpacks to too much.
  func content(of id: ObjectID) throws -> [UInt8] {
    if id == .emptyTree { return [] }
    if let object = pack.object(id) {
      try limits.check(unpacked: unpackedBytes, ofPack: packBytes)
      return object.data
    }
    guard try repository.contains(id) else { throw PackError.incomplete(id, needs: id) }
    let content = try repository.object(id).data
    unpackedElsewhere += content.count
    try limits.check(unpacked: unpackedBytes, ofPack: packBytes)
    return content
  }
}
