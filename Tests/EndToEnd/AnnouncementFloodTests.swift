import TestSupport
import Testing

/// notes-protocol(7), DISCOVERY, on a real network: forged announcements at a tarpit, real Avahi, the
/// installed program.
@Suite(.timeLimit(.minutes(20))) struct AnnouncementFloodTests {
  // "Connects to 8 at once … at most 2 of these places to strangers"; "A connection that needs one
  // of the last 128 descriptors of the process … is refused".
  @Test func forgedAnnouncementsCostNextToNothing() throws {
    let lab = try Lab(hosts: 3)
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    try pair(alice, bob)
    let watch = try alice.start(["watch", "--json"])
    _ = try watch.line { $0.contains(#""listening""#) }
    let before = try ProcessCost(of: watch.pid)
    let forger = try lab.hosts[2].start(["python3", "-c", Self.forger(try alice.status().notebook)])
    _ = try forger.line { $0 == "announced" }
    _ = try forger.line(within: 120) { $0 == "2 connections" }
    var (threads, descriptors) = (before.threads, before.descriptors)
    for round in 0..<5 {
      try alice.write("Round \(round).txt", ["Saved.", ""])
      _ = try watch.line { $0.contains(#""version""#) && $0.contains("Round \(round)") }
      // The deadline is for a busy machine: Avahi and this program look at 1,200 announcements first.
      try bob.succeed(["sync", "--wait", "120"])
      #expect(bob.exists("Round \(round).txt"))
      let now = try ProcessCost(of: watch.pid)
      (threads, descriptors) = (max(threads, now.threads), max(descriptors, now.descriptors))
    }
    let after = try ProcessCost(of: watch.pid)
    print(
      "hostile: 1,200 forged announcements, five edits and syncs meanwhile: threads "
        + "\(before.threads), at most \(threads); descriptors \(before.descriptors), at most "
        + "\(descriptors); \(after.processorSeconds - before.processorSeconds) s of processor, "
        + "\(after.peakBytes >> 20) MiB")
    #expect(threads < before.threads + 16 && descriptors < before.descriptors + 32)
    try expectEqual(alice, bob)
    forger.send(9)
    try watch.terminate()
  }

  /// Accepts everybody and says nothing, and announces 1,200 devices that are there.
  private static func forger(_ notebook: String) -> String {
    """
    import select, socket, struct
    def name(text):
        return b"".join(bytes([len(p)]) + p.encode() for p in text.split(".")) + b"\\0"
    tarpit = socket.create_server(("0.0.0.0", 0), backlog=2048)
    port = tarpit.getsockname()[1]
    air = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        air.setsockopt(socket.SOL_SOCKET, option, 1)
    air.bind(("", 5353))
    own = [l for l in socket.if_nameindex() if l[1] != "lo"][0][1]
    air.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, own.encode())
    air.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    def record(owner, kind, cls, data):
        return owner + struct.pack(">HHIH", kind, cls, 4500, len(data)) + data
    kind = name("_notes-sync._tcp.local")
    host = name("tarpit.local")
    address = socket.inet_aton("10.77.0.3")
    for first in range(0, 1200, 5):
        records = [record(host, 1, 0x8001, address)]
        for number in range(first, first + 5):
            own = bytes([12]) + b"forged%06d" % number + kind
            text = b"".join(bytes([len(t)]) + t for t in (
                b"v=1", b"nb=\(notebook)", b"dev=" + b"%052d" % number))
            records += [
                record(kind, 12, 1, own),
                record(own, 33, 0x8001, struct.pack(">HHH", 0, 0, port) + host),
                record(own, 16, 0x8001, text)]
        packet = struct.pack(">HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)
        air.sendto(packet, ("224.0.0.251", 5353))
        select.select([], [], [], 0.005)
    print("announced", flush=True)
    held = []
    while True:
        held.append(tarpit.accept()[0])
        print(len(held), "connections", flush=True)
    """
  }
}
