internal import Membership
internal import Synchronization

/// The addresses of the network that the page is served at. They may change while it is.
final class NetworkListeners: Sendable {
  private struct State {
    var listeners: [(address: String, listener: HTTPListener)]
    /// Nil if the page is on no network at present.
    var entrance: Entrance?
  }

  private let page: CertifiedPage
  /// The name that certificates are for; another name of the machine's takes another authority.
  private let name: String?
  private let port: Int
  private let state: Mutex<State>

  /// - Parameter listeners: those that listen at the addresses of `network`.
  init(_ network: WebNetwork, _ page: CertifiedPage, _ listeners: [HTTPListener]) {
    (self.page, name) = (page, network.name)
    port = listeners.first?.port ?? 0
    state = Mutex(
      State(
        listeners: Array(zip(network.addresses, listeners)),
        entrance: .network(network, port: port, page)))
  }

  var entrance: Entrance? { state.withLock { $0.entrance } }

  /// Lets browsers in.
  func open(_ router: Router, _ connections: Connections) {
    state.withLock { state in
      guard let entrance = state.entrance else { return }
      for (_, listener) in state.listeners { listener.open(router, entrance, connections) }
    }
  }

  /// Serves at the addresses that the machine has now, and no longer at others; an address at which
  /// nothing can listen is left out. Returns whether that made a difference.
  func move(to network: WebNetwork, _ listen: (_ host: String, _ port: Int) throws -> HTTPListener)
    -> Bool
  {
    state.withLock { state in
      let former = state.listeners.map(\.address)
      var listeners: [(address: String, listener: HTTPListener)] = []
      for address in network.addresses {
        if let same = state.listeners.first(where: { $0.address == address }) {
          listeners.append(same)
          // An address that is gone again has no listener.
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

  /// Listens no more.
  func close() { state.withLock { for (_, listener) in $0.listeners { listener.close() } } }
}
