import TestSupport
import Testing

@testable import Discovery

/// notes-protocol(7), Discovery: what is believed of a TXT record.
@Suite struct ServiceRecordTests {
  static let id = String(repeating: "A", count: 52)

  func read(_ strings: [String], kind: ServiceKind = .notebook, port: UInt16 = 4000)
    -> ServiceRecord?
  {
    ServiceRecord(kind: kind, port: port, strings: strings.map { Array($0.utf8) })
  }

  @Test func whatIsWrittenIsRead() {
    let records: [ServiceRecord] = [
      .notebook(id: Self.id, device: "DEVICE", port: 1),
      .invitation(locator: "07", notebook: Self.id, device: "DEVICE", port: 65535),
    ]
    for record in records {
      let strings = record.strings
      #expect(
        ServiceRecord(kind: record.kind, port: record.port, strings: strings) == record)
      #expect(strings.allSatisfy { $0.count <= 255 })
    }
  }

  @Test("No names on the air: the instance name is made of the IDs alone")
  func instanceName() {
    let record = ServiceRecord.invitation(
      locator: "07", notebook: Self.id, device: "B" + Self.id, port: 1)
    #expect(record.instanceName == "AAAAAAAAAAAA-BAAAAAAAAAAA-07")
  }

  @Test("Keys are compared without case; unknown keys are ignored")
  func keys() {
    let record = read(["V=1", "future=x", "flag", "=x", "", "NB=N", "Dev=D"])
    #expect(record == .notebook(id: "N", device: "D", port: 4000))
  }

  @Test("The first of several equal keys counts")
  func repeatedKeys() {
    #expect(read(["v=1", "nb=N", "dev=D", "nb=M"])?.notebookID == "N")
    #expect(read(["v=1", "nb", "dev=D", "nb=M"]) == nil)
    #expect(read(["v=1", "nb=\u{1b}[2J", "dev=D", "nb=M"]) == nil)
  }

  @Test("Another version is reported, so that it can be said")
  func versions() {
    #expect(read(["v=2", "nb=N", "dev=D"])?.protocolVersion == 2)
    for version in ["", "0", "-1", "01", "+1", "10000", "1.0", "one", "١"] {
      #expect(read(["v=\(version)", "nb=N", "dev=D"]) == nil)
    }
  }

  @Test(arguments: [
    ["nb=N", "dev=D"], ["v=1", "dev=D"], ["v=1", "nb=N"], ["v=1", "nb=", "dev=D"],
    ["v=1", "nb=N N", "dev=D"], ["v=1", "nb=N/..", "dev=D"], ["v=1", "nb=Ñ", "dev=D"],
    ["v=1", "nb=N\u{0}", "dev=D"], ["v=1", "nb=\(String(repeating: "N", count: 65))", "dev=D"],
    ["v=1", "nb=N", "dev=D\n"],
  ])
  func refused(strings: [String]) {
    #expect(read(strings) == nil)
  }

  @Test func anInvitationNeedsItsLocator() {
    #expect(read(["v=1", "nb=N", "dev=D"], kind: .invitation) == nil)
    #expect(read(["v=1", "nb=N", "dev=D", "loc=123456789"], kind: .invitation) == nil)
    #expect(read(["v=1", "nb=N", "dev=D", "loc=07"], kind: .invitation)?.locator == "07")
    #expect(read(["v=1", "nb=N", "dev=D", "loc=07"], kind: .notebook)?.locator == nil)
  }

  @Test func portZeroIsNoService() {
    #expect(read(["v=1", "nb=N", "dev=D"], port: 0) == nil)
  }

  @Test func anyBytesAreReadWithoutHarm() {
    var random = SplitMix64.reported()
    for _ in 0..<2000 {
      let strings = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        var string: [UInt8] = (0..<Int.random(in: 0...80, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        if Bool.random(using: &random) {
          let key = ["v=", "nb=", "dev=", "loc="].randomElement(using: &random) ?? ""
          string = Array(key.utf8) + string
        }
        return string
      }
      let record = ServiceRecord(kind: .invitation, port: 1, strings: strings)
      #expect(throws: Never.self) { try record?.validate() }
    }
  }
}

@Suite struct AnnouncedAddressTests {
  @Test("An address of one link carries its scope")
  func scope() {
    #expect(Address(announced: "fe80::1", port: 1, interface: 1)?.host == "fe80::1%lo")
    #expect(Address(announced: "fe80::1", port: 1, interface: 99999)?.host == "fe80::1%99999")
    #expect(Address(announced: "2001:db8::1", port: 1, interface: 1)?.host == "2001:db8::1")
    #expect(Address(announced: "192.168.1.7", port: 1, interface: 1)?.host == "192.168.1.7")
    #expect(Address(host: "fe80::1%lo", port: 80).description == "[fe80::1%lo]:80")
    #expect(Address(host: "10.0.0.1", port: 80).description == "10.0.0.1:80")
  }

  @Test(arguments: [
    "0.0.0.0", "::", "224.0.0.251", "255.255.255.255", "ff02::fb", "host", "", "1.2",
  ])
  func useless(address: String) {
    #expect(Address(announced: address, port: 1, interface: 1) == nil)
  }

  @Test func orderIsTheOrderToTry() {
    let order = ["10.0.0.1", "10.0.0.2", "2001:db8::1", "fe80::1%lo"]
    let addresses = order.map { Address(host: $0, port: 1) }
    #expect(addresses.reversed().sorted { $0.isTried(before: $1) } == addresses)
  }
}

@Suite struct PeerTableTests {
  let record = ServiceRecord.notebook(id: "N", device: "D", port: 1)

  @Test func oneDeviceOnManyInterfacesIsOnePeer() {
    var table = PeerTable<Int>(ownDeviceID: "SELF")
    let (a, b) = (Address(host: "10.0.0.1", port: 1), Address(host: "fe80::1%lo", port: 1))
    #expect(table.see(1, record, at: b).compactMap(\.foundPeer?.addresses) == [[b]])
    #expect(table.see(2, record, at: a).compactMap(\.foundPeer?.addresses) == [[a, b]])
    #expect(table.see(2, record, at: a) == [])
    #expect(table.lose(1).compactMap(\.foundPeer?.addresses) == [[a]])
    #expect(table.lose(1) == [])
    #expect(table.lose(2).compactMap(\.lostPeer?.addresses) == [[a]])
    #expect(table.loseAll() == [])
  }

  @Test func anInstanceThatBecomesAnotherDeviceEndsTheFirst() {
    var table = PeerTable<Int>(ownDeviceID: "SELF")
    let address = Address(host: "10.0.0.1", port: 1)
    _ = table.see(1, record, at: address)
    let other = ServiceRecord.notebook(id: "N", device: "E", port: 1)
    let events = table.see(1, other, at: address)
    #expect(events.compactMap(\.lostPeer?.deviceID) == ["D"])
    #expect(events.compactMap(\.foundPeer?.deviceID) == ["E"])
    let own = ServiceRecord.notebook(id: "N", device: "SELF", port: 1)
    #expect(table.see(1, own, at: address).compactMap(\.lostPeer?.deviceID) == ["E"])
  }

  // notes-protocol(7), DISCOVERY: "keeps at most 1,024 announcements …; then a new one replaces any
  // other".
  @Test func aFloodIsCappedAndHidesNobody() {
    var table = PeerTable<Int>(ownDeviceID: "SELF")
    let limit = PeerTable<Int>.maximumInstances
    for number in 0..<(limit + 10) {
      let flood = ServiceRecord.notebook(id: "N", device: "D\(number)", port: 1)
      let events = table.see(number, flood, at: Address(host: "10.0.0.1", port: 1))
      #expect(events.compactMap(\.foundPeer?.deviceID) == ["D\(number)"])
      #expect(events.compactMap(\.lostPeer).count == (number < limit ? 0 : 1))
    }
    #expect(table.loseAll().count == limit)
  }
}
