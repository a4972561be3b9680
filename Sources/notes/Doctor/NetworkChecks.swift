internal import Channel
internal import Discovery
internal import History
internal import Notebook

extension Check {
  /// Devices can be looked for.
  static let discovery = Check(
    name: "discovery", title: "discovery", remedy: "name devices by --at HOST:PORT"
  ) { context in
    guard let discovery = context.discovery else { return .good("not looked at") }
    let near = try NearbyDevices.look(
      for: context.notebook.identity.id, with: discovery, seconds: 2
    ).filter { $0.key != context.ownDevice }
    return .good("Avahi answers; \(Phrase.count(near.count, "device")) of the notebook near")
  }

  /// Other machines are heard over multicast, without which nobody is found.
  static let multicast = Check(
    name: "multicast", title: "multicast", remedy: "name devices by --at HOST:PORT"
  ) { context in
    guard context.discovery != nil else { return .good("not looked at") }
    let heard = try MulticastProbe.run(seconds: 1.5)
    if heard.interfaces.isEmpty {
      return .advice(
        "no network interface takes part in multicast, so devices cannot find each other",
        remedy: "connect to a network, or name devices by --at HOST:PORT")
    }
    let interfaces = Phrase.list(heard.interfaces.map { Visible.name($0) })
    if heard.others.isEmpty {
      return .advice(
        "no other machine was heard on \(interfaces)",
        remedy: "where others are on: guest networks and Wi-Fi that keeps its clients apart "
          + "drop multicast; sync by --at HOST:PORT there")
    }
    let count = Phrase.count(heard.others.count, "other machine")
    let few = heard.others.prefix(5).joined(separator: ", ")
    let more = heard.others.count > 5 ? ", …" : ""
    return .good("\(count) heard on \(interfaces): \(few)\(more)")
  }

  /// A session could listen, and can be reached.
  static let port = Check(
    name: "port", title: "port", remedy: "choose another address with --listen"
  ) { context in
    let listener = try Listener(at: context.listen)
    let blocked = MulticastProbe.ownHosts().filter { host in
      context.listen.host == Address.anyHost
        && !Listener.isReachable(Address(host: host, port: listener.port))
    }
    if !blocked.isEmpty {
      return .problem(
        "a connection to this device's own address \(Phrase.list(blocked)) is not let through",
        remedy: "let a firewall here accept connections to the port that --listen names")
    }
    let what =
      context.listen.port == 0
      ? "any free one" : "\(Visible.name(listener.address.description)) is free"
    return .good("\(what), reached from this device; a firewall may still keep others out")
  }
}
