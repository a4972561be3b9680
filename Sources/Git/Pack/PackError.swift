/// The errors of a pack, from this device or a peer.
public enum PackError: Error, Sendable, Equatable {
  /// zlib could not be loaded; the value is the loader's message.
  case libraryMissing(String)
  case compression(code: Int32)
  case malformed(String)
  /// Something exceeds a limit: its description, and the limit.
  case overLimit(String, limit: Int)
  /// Something costs more than is allowed without the user's consent (`PackLimits.large`): its
  /// description, and the limit.
  case costly(String, limit: Int)
  /// A pack takes more than half of the free disk space, which is `room` bytes.
  case diskNearlyFull(room: Int)
  case refused(ObjectID, String)
  /// An object refers to one that is neither in the pack nor in the repository.
  case incomplete(ObjectID, needs: ObjectID)
  /// A delta's base is neither before it in the pack nor in the repository.
  case baseMissing(ObjectID)
  /// The pack does not contain a head that the peer promised.
  case headMissing(ObjectID)
  /// The quarantine was already emptied.
  case finished
}

extension PackError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .libraryMissing(let what): "zlib could not be loaded: \(what)"
    case .compression(let code): "zlib failed (\(code))"
    case .malformed(let what): "not a valid pack: \(what)"
    case .overLimit(let what, let limit), .costly(let what, let limit):
      "\(what): the limit is \(limit)"
    case .diskNearlyFull(let room):
      "it takes more than \(room) bytes, half of this device's free disk space"
    case .refused(let id, let why): "object \(id) is refused: \(why)"
    case .incomplete(let id, let needed): "object \(id) needs \(needed), which did not arrive"
    case .baseMissing(let id): "a delta is based on object \(id), which did not arrive before it"
    case .headMissing(let id): "the promised version \(id) did not arrive"
    case .finished: "the pack was already finished"
    }
  }
}
