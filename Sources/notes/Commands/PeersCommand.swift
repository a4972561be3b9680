internal import ArgumentParser
internal import Discovery
internal import Git
internal import Membership
internal import Notebook
internal import Sync

struct PeersCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List the other devices: who can be reached, and how far each was at the last sync.",
    discussion: """
      A device that announces the notebook right now is near; of the others the last address is \
      shown. That a device is announced is a hint, not a proof: only a sync proves who it is.

      Examples:
        notes peers
        notes peers --wait 10 --json
      """)

  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let membership = try OwnDevice.membership(of: notebook)
    var near: [String: DiscoveredPeer] = [:]
    var problem: Failure?
    if let discovery = discovery.discovery(for: notebook.identity.device.deviceID) {
      do {
        near = try Surroundings.look(
          for: membership.notebookID, with: discovery, seconds: wait.seconds)
      } catch {
        problem = Failure(describing: error)
      }
    }
    let report = try PeersReport(notebook: notebook, members: membership.members(), near: near)
    if format.json {
      for line in report.json { Output.standard.event(line) }
    } else {
      Output.standard.write(report.text(on: Console.output))
    }
    if let problem { throw problem }
    return .done
  }
}
