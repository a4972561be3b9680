public import History
internal import WorkTree

/// What a notebook is to this device: kept in `.git/notes/notebook`, whose presence makes a
/// repository a notebook.
///
/// The file is lines of `KEY VALUE`; unknown keys are ignored. `format` comes first.
public struct NotebookIdentity: Hashable, Sendable {
  /// The notebook ID: the name of its root certificate.
  public var id: String
  /// The notebook's name for people.
  public var name: String
  /// This device.
  public var device: DeviceIdentity

  public init(id: String, name: String, device: DeviceIdentity) {
    self.id = id
    self.name = name
    self.device = device
  }

  static let format = "1"

  var serialized: [UInt8] {
    func line(_ value: String) -> String {
      String(value.map { $0.isNewline ? " " : $0 })
    }
    return Array(
      """
      format \(Self.format)
      id \(line(id))
      name \(line(name))
      device-id \(line(device.deviceID))
      device-name \(line(device.name))

      """.utf8)
  }

  init(parsing content: [UInt8], path: String) throws {
    var format, id, name, deviceID, deviceName: String?
    for line in TextLines(content) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
      let value = String(decoding: line[(space + 1)...], as: UTF8.self)
      switch String(decoding: line[..<space], as: UTF8.self) {
      case "format": format = value
      case "id": id = value
      case "name": name = value
      case "device-id": deviceID = value
      case "device-name": deviceName = value
      default: break
      }
    }
    guard let format else { throw NotebookError.brokenState(path: path, "no format line") }
    guard format == Self.format else { throw NotebookError.newerFormat(format) }
    guard let id, let name, let deviceID, let deviceName, !id.isEmpty, !deviceID.isEmpty,
      !(id + deviceID).contains(where: \.isNewline)
    else { throw NotebookError.brokenState(path: path, "a line is missing") }
    self.init(id: id, name: name, device: DeviceIdentity(name: deviceName, deviceID: deviceID))
  }
}
