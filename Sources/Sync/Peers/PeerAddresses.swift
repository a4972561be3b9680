public import Channel
internal import System

/// Where peers were last reached: `.git/notes/addresses`, lines `DEVICE-ID HOST:PORT`. It is a hint
/// for when discovery finds nobody; who answers there must prove who it is.
public struct PeerAddresses {
  private let path: String

  /// The memory of the notebook with this state folder.
  public init(stateFolder: String) { path = stateFolder + "/addresses" }

  /// How many devices are remembered.
  static let capacity = 256

  /// The addresses by device ID; empty when there are none or the file is broken.
  public func all() -> [String: Address] {
    let content = (try? Disk.read(path, limit: ProtocolLimits.messageBytes)) ?? []
    return Dictionary(
      StateLines(parsing: content).lines.compactMap { line in
        Address(parsing: line.value).map { (line.key, $0) }
      }, uniquingKeysWith: { $1 })
  }

  /// Notes where a device was reached.
  func remember(_ address: Address, of device: String) throws {
    var known = all()
    if known[device] == address { return }
    if known.count >= Self.capacity { known.removeAll() }
    known[device] = address
    var lines = StateLines()
    for (device, address) in known.sorted(by: { $0.key < $1.key }) {
      lines.append(device, address.description)
    }
    try Disk.replace(path, with: lines.bytes, waits: false)
  }
}
