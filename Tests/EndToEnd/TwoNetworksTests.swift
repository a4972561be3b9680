import TestSupport
import Testing

/// notes-hub(7): "devices of a notebook exchange versions if they are not on one network". Two networks of two
/// hosts each, which share nothing but a bare repository.
@Suite(.timeLimit(.minutes(20))) struct TwoNetworksTests {
  @Test("What is written on either network reaches all devices, and they show the same")
  func hub() throws {
    let lab = try Lab(hosts: 4)
    let names = ["alice", "bob", "carol", "dave"]
    let alice = try Device.founder("alice", on: lab.hosts[0])
    var devices = [alice]
    for (name, host) in zip(names, lab.hosts).dropFirst() {
      let device = try Device(name, on: host)
      try pair(alice, device)
      devices.append(device)
    }
    let hub = try TemporaryFolder()
    let made = try run(["git", "init", "-q", "--bare", "-b", "main", hub["notes.git"]])
    try #require(made.isSuccess, "\(made)")
    try lab.separate(lab.hosts[2...])
    for device in devices {
      try device.succeed(["config", "hub-interval", "10"])
      try device.succeed(["remote", "add", "hub", hub["notes.git"]])
    }
    let watches = try devices.map { try $0.start(["watch", "--json"]) }
    for watch in watches { _ = try watch.line { $0.contains(#""listening""#) } }
    let texts = devices.map { ["\($0.name) was here.", ""] }
    for (device, text) in zip(devices, texts) { try device.write("\(device.name).txt", text) }
    let end = Moment.now + 360
    func isEverywhere() -> Bool {
      devices.allSatisfy { device in
        zip(names, texts).allSatisfy { (try? device.lines("\($0).txt")) == $1 }
      }
    }
    func areAlike() throws -> Bool { try Set(devices.map { try $0.tip() }).count == 1 }
    while try !(isEverywhere() && areAlike()) {
      try #require(Moment.now < end, "\(devices.map { (try? $0.tip()) ?? "" })")
    }
    for watch in watches { try watch.terminate() }
    for device in devices { try device.checkGit() }
    // "The branch of a hub only moves forward", and what leads it forward are few versions.
    let log = try run(["git", "-C", hub["notes.git"], "rev-list", "--merges", "main"])
    print("two networks: \(log.lines.count) merges of 4 versions on the hub")
    #expect(log.lines.count <= 8)
  }
}
