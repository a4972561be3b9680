internal import Glibc
internal import Membership

/// What this device calls itself in versions, invitations and lists of members.
enum DeviceName {
  /// The name given, else the user's setting `device-name`, else the host's.
  static func choose(given: String?, folders: UserFolders = UserFolders()) throws -> String {
    if let given { return try DisplayName.check(given) }
    if let configured = try Settings.read(in: folders.config)[Setting.deviceName.rawValue] {
      return try DisplayName.check(configured)
    }
    return hostName
  }

  /// The host's name without its domain, as far as it can be a device's.
  static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "device" }
    let bytes = buffer.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: ".")) }
    let name = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return DisplayName.made(from: name) ?? "device"
  }
}
