internal import Glibc
internal import Synchronization
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

/// A notebook, its founder and other members, with what each needs for TLS.
final class Party: Sendable {
  let folder: TemporaryFolder
  let founder: DeviceKey
  let store: MembershipStore

  init() throws {
    folder = try TemporaryFolder()
    founder = try DeviceKey.random()
    store = try MembershipStore.found(
      in: folder["membership"], notebookName: "Home", deviceName: "founder", key: founder)
  }

  /// A new member.
  func add(_ name: String, _ role: Role = .writer) throws -> DeviceKey {
    let key = try DeviceKey.random()
    _ = try store.issue(for: CertificateRequest(name: name, key: key), role: role, by: founder)
    return key
  }

  func credentials(_ key: DeviceKey) throws -> MemberCredentials {
    try credentials(key, chain: store.chain(for: key))
  }

  func credentials(_ key: DeviceKey, chain: [[UInt8]]) -> MemberCredentials {
    let store = store
    return MemberCredentials(
      notebookID: store.notebookID, root: store.root, chain: chain, privateKey: key.privateKey,
      verify: { chain in
        do {
          _ = try store.verify(chain: chain)
          return .accepted
        } catch MembershipError.removed {
          return .refused(.removed)
        } catch {
          return .refused(.stranger)
        }
      })
  }

  /// Serves the founder's device.
  func offer(pairing: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }) throws
    -> ServerOffer
  {
    let own = try credentials(founder)
    return ServerOffer(member: { $0 == own.notebookID ? own : nil }, pairing: pairing)
  }
}

/// A server for one connection, in a thread of its own.
final class Server: Sendable {
  let listener: Listener
  private let outcome = Mutex<Result<Void, any Error>?>(nil)
  private let finished: WakeUp
  /// Stops it.
  let cancellation: CancellationToken

  var address: Address { Address(host: "127.0.0.1", port: listener.port) }

  init(
    _ offer: ServerOffer, handshakeSeconds: Double = 10,
    body: @escaping @Sendable (Connection) throws -> Void = { _ in }
  ) throws {
    listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    finished = try WakeUp()
    cancellation = try CancellationToken()
    startThread { [self] in
      let result = Result<Void, any Error> {
        let socket = try listener.accept(
          deadline: .after(seconds: 80), cancellation: cancellation)
        let connection = try Connection.accept(
          socket, offering: offer, deadline: .after(seconds: handshakeSeconds),
          cancellation: cancellation)
        defer { connection.close() }
        try body(connection)
      }
      outcome.withLock { $0 = result }
      finished.signal()
    }
  }

  var isFinished: Bool { outcome.withLock { $0 != nil } }

  /// The server's own outcome.
  func result() throws -> ChannelError? {
    try Wait.until(
      finished.descriptor, .reading, deadline: .after(seconds: 120), phase: .handshake,
      cancellation: nil)
    switch outcome.withLock({ $0 }) {
    case .success, nil: return nil
    case .failure(let error): return try #require(error as? ChannelError)
    }
  }
}

let soon: Double = 10
let hello = Frame(type: 1, payload: Array("hello".utf8))

/// The error that `body` throws.
func failure(_ body: () throws -> Void) -> ChannelError? {
  do {
    try body()
    return nil
  } catch {
    return error as? ChannelError
  }
}
