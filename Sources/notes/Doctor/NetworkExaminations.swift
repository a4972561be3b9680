internal import Channel
internal import Discovery
internal import Notebook

extension Examination {
  /// Devices can be looked for.
  static let discovery = Examination(
    name: "discovery", title: "discovery", remedy: "name devices by --at HOST:PORT"
  ) { patient in
    guard let discovery = patient.discovery else { return [.good("not looked at")] }
    let near = try Surroundings.look(
      for: patient.notebook.identity.id, with: discovery, seconds: 2
    ).filter { $0.key != patient.notebook.identity.device.deviceID }
    return [
      .good("Avahi answers; \(Counted.things(near.count, "device")) of the notebook near")
    ]
  }

  /// A session could listen.
  static let port = Examination(
    name: "port", title: "port", remedy: "choose another address with --listen"
  ) { patient in
    let listener = try Listener(at: patient.listen)
    return [
      .good(
        patient.listen.port == 0
          ? "any free one" : "\(Visible.name(listener.address.description)) is free")
    ]
  }
}
