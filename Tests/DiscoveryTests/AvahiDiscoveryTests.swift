import Glibc
import TestSupport
import Testing

@testable import Discovery

/// Two hosts with a real Avahi daemon each. libdbus reads the address of the system bus once a
/// process, so that this process is on the first host alone.
@Suite(.serialized) struct AvahiDiscoveryTests {
  static let lab = Result {
    let lab = try Lab(hosts: 2)
    setenv("DBUS_SYSTEM_BUS_ADDRESS", lab.hosts[0].busAddress, 1)
    return lab
  }

  let here: LabHost
  let there: LabHost

  init() throws {
    let lab = try Self.lab.get()
    (here, there) = (lab.hosts[0], lab.hosts[1])
  }

  @Test func keepsTheContract() throws {
    try DiscoveryContract.check { AvahiDiscovery(deviceID: $0) }
  }
}
