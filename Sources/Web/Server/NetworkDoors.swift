internal import Membership
internal import Synchronization

/// The addresses of the network that the page is served at. They may change while it is.
final class NetworkDoors: Sendable {
  private struct State {
    var doors: [(address: String, door: Door)]
    /// Nil if the page is on no network at present.
    var entrance: Entrance?
  }

  private let page: CertifiedPage
  /// The name that certificates are for; another name of the machine's takes another authority.
  private let name: String?
  private let port: Int
  private let state: Mutex<State>

  /// - Parameter doors: those that listen at the addresses of `network`.
  init(_ network: WebNetwork, _ page: CertifiedPage, _ doors: [Door]) {
    (self.page, name) = (page, network.name)
    port = doors.first?.port ?? 0
    state = Mutex(
      State(
        doors: Array(zip(network.addresses, doors)), entrance: .network(network, port: port, page)))
  }

  var entrance: Entrance? { state.withLock { $0.entrance } }

  /// Lets browsers in.
  func open(_ shelf: Shelf, _ connections: Connections) {
    state.withLock { state in
      guard let entrance = state.entrance else { return }
      for (_, door) in state.doors { door.open(shelf, entrance, connections) }
    }
  }

  /// Serves at the addresses that the machine has now, and no longer at others; an address at which
  /// nothing can listen is left out. Returns whether that made a difference.
  func move(to network: WebNetwork, _ listen: (_ host: String, _ port: Int) throws -> Door) -> Bool
  {
    state.withLock { state in
      let former = state.doors.map(\.address)
      var doors: [(address: String, door: Door)] = []
      for address in network.addresses {
        if let same = state.doors.first(where: { $0.address == address }) {
          doors.append(same)
          // An address that is gone again has no door.
        } else if let door = try? listen(address, port) {
          doors.append((address, door))
        }
      }
      let present = doors.map(\.address)
      for (address, door) in state.doors where !present.contains(address) { door.close() }
      state.doors = doors
      guard present != former else { return false }
      if !present.isEmpty { page.certify(present) }
      let served = WebNetwork(
        name: name, addresses: present, isNamePublished: network.isNamePublished)
      state.entrance = present.isEmpty ? nil : .network(served, port: port, page)
      return true
    }
  }

  /// Listens no more.
  func close() { state.withLock { for (_, door) in $0.doors { door.close() } } }
}
