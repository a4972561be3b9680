public import Channel
internal import FoundationEssentials
internal import Glibc
internal import System

/// Where peers were last reached: `.git/notes/addresses`, a JSON object from device ID to
/// `HOST:PORT`. It is a hint for when discovery finds nobody; who answers there must prove who it is.
public struct PeerAddresses {
  private let path: String

  /// The memory of the notebook with this state folder.
  public init(stateFolder: String) { path = stateFolder + "/addresses" }

  /// How many devices are remembered.
  static let capacity = 256

  /// The addresses by device ID; empty when there are none or the file is broken.
  public func all() -> [String: Address] {
    guard let text = try? Disk.read(path, limit: ProtocolLimits.messageBytes),
      let texts = try? ReceivedJSON.decode([String: String].self, from: text)
    else { return [:] }
    return texts.compactMapValues { Address(parsing: $0) }
  }

  /// Notes where a device was reached.
  func remember(_ address: Address, of device: String) throws {
    var known = all()
    if known[device] == address { return }
    if known.count >= Self.capacity { known.removeAll() }
    known[device] = address
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(known.mapValues(\.description))
    try data.write(to: URL(filePath: path), options: .atomic)
  }
}
