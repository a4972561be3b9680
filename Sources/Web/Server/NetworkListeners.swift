internal import Membership
internal import Synchronization

/// The network addresses at which the page is served. They may change while it is served.
final class NetworkListeners: Sendable {
  private struct State {
    var listeners: [(address: String, listener: HTTPListener)]
    /// Nil if the page is not on a network at present.
    var entrance: Entrance?
  }

  private let page: CertifiedPage
  /// The name in the certificates; if the machine's name changes, another authority is necessary.
  private let name: String?
  private let port: Int
  private let state: Mutex<State>

  /// - Parameter listeners: the listeners at the addresses of `network`.
  init(_ network: WebNetwork, _ page: CertifiedPage, _ listeners: [HTTPListener]) {
    (self.page, name) = (page, network.name)
    port = listeners.first?.port ?? 0
    state = Mutex(
      State(
        listeners: Array(zip(network.addresses, listeners)),
        entrance: .network(network, port: port, page)))
  }

  var entrance: Entrance? { state.withLock { $0.entrance } }

  /// Accepts connections from now on.
  func open(_ router: Router, _ connections: Connections) {
    state.withLock { state in
      guard let entrance = state.entrance else { return }
      for (_, listener) in state.listeners { listener.open(router, entrance, connections) }
    }
  }

  /// Listens at the machine's present addresses, and no longer at others; skips an address that cannot be used.
  /// Returns whether anything changed.
  func move(to network: WebNetwork, _ listen: (_ host: String, _ port: Int) throws -> HTTPListener)
    -> Bool
  {
    state.withLock { state in
      let former = state.listeners.map(\.address)
      var listeners: [(address: String, listener: HTTPListener)] = []
      for address in network.addresses {
        if let same = state.listeners.first(where: { $0.address == address }) {
          listeners.append(same)
          // An address that has disappeared again has no listener.
        } else if let listener = try? listen(address, port) {
          listeners.append((address, listener))
        }
      }
      let present = listeners.map(\.address)
      for (address, listener) in state.listeners where !present.contains(address) {
        listener.close()
      }
      state.listeners = listeners
      guard present != former else { return false }
      if !present.isEmpty { page.certify(present) }
      let served = WebNetwork(
        name: name, addresses: present, isNamePublished: network.isNamePublished)
      state.entrance = present.isEmpty ? nil : .network(served, port: port, page)
      return true
    }
  }

  /// Stops listening.
  func close() { state.withLock { for (_, listener) in $0.listeners { listener.close() } } }
}
