internal import Glibc

/// When other devices were last met: `.git/notes/seen/DEVICE-ID`, an empty file a device, whose
/// modification time is the moment. Sessions on several threads do not disturb each other so.
public struct PeerSightings: Sendable {
  private let folder: String

  /// The memory of the notebook with this state folder.
  public init(stateFolder: String) { folder = stateFolder + "/seen" }

  /// When this device last held a session with the other, in seconds since 1970 by its own clock;
  /// nil when it never did.
  public func last(of device: String) -> Int64? {
    guard Self.isName(device) else { return nil }
    var status = stat()
    guard stat("\(folder)/\(device)", &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec)
  }

  /// Notes that the device was met just now. It is news for people: where it cannot be written, the
  /// session goes on.
  func note(_ device: String) {
    guard Self.isName(device) else { return }
    mkdir(folder, 0o700)
    let file = open("\(folder)/\(device)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    futimens(file, nil)
    close(file)
  }

  /// Whether the text can be the name of a file: device IDs are letters and digits.
  private static func isName(_ device: String) -> Bool {
    !device.isEmpty && device.utf8.count <= 64
      && device.utf8.allSatisfy {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }
}
