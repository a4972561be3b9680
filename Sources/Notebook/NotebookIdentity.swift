public import History
internal import System
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

  /// What the file is written from; nothing is checked.
  public init(id: String, name: String, device: DeviceIdentity) {
    self.id = id
    self.name = name
    self.device = device
  }

  static let format = "1"

  var serialized: [UInt8] {
    StateLines([
      "format": Self.format, "id": id, "name": name, "device-id": device.deviceID,
      "device-name": device.name,
    ]).bytes
  }

  init(parsing content: [UInt8], path: String) throws {
    let lines = StateLines(parsing: content)
    guard let format = lines["format"] else {
      throw NotebookError.brokenState(path: path, "no format line")
    }
    guard format == Self.format else { throw NotebookError.newerFormat(format) }
    guard let id = lines["id"], let name = lines["name"], let deviceID = lines["device-id"],
      let deviceName = lines["device-name"], !id.isEmpty, !deviceID.isEmpty,
      !(id + deviceID).contains(where: \.isNewline)
    else { throw NotebookError.brokenState(path: path, "a line is missing") }
    self.init(id: id, name: name, device: DeviceIdentity(name: deviceName, deviceID: deviceID))
  }
}
