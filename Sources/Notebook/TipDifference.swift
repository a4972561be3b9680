public import Git
internal import Glibc
internal import State
internal import System
internal import WorkTree

/// Two devices with the same heads that show different tips: one of them merges by other rules, or
/// has a fault. The next edit, which is based on one of the tips, removes the difference.
public struct TipDifference: Hashable, Codable, Sendable {
  /// The other device's ID.
  public var device: String
  /// This device's tip.
  public var tip: ObjectID
  /// The version of this device's merge rules.
  public var rules: Int
  /// The other device's tip.
  public var peerTip: ObjectID
  /// The version of the other device's merge rules; nil if the device does not say.
  public var peerRules: Int?

  /// The tips of this device and of `device`, and the rules that made them.
  public init(device: String, tip: ObjectID, rules: Int, peerTip: ObjectID, peerRules: Int?) {
    self.device = device
    self.tip = tip
    self.rules = rules
    self.peerTip = peerTip
    self.peerRules = peerRules
  }
}

extension Notebook {
  // One file for each device, `.git/notes/differing/DEVICE-ID`, so that sessions on several threads
  // do not interfere.

  private var differencesFolder: String { stateFolder[.differing] }

  /// The devices whose tip differed when both devices last had the same heads.
  public func tipDifferences() -> [TipDifference] {
    Disk.namesIfAny(in: differencesFolder).compactMap { tipDifference(with: $0) }
      .sorted { $0.device < $1.device }
  }

  /// Records that a device's tip differs, until `forgetTipDifference`.
  ///
  /// - Returns: whether this is new.
  public func remember(_ difference: TipDifference) throws -> Bool {
    guard Self.isDeviceID(difference.device), tipDifference(with: difference.device) != difference
    else { return false }
    try Disk.makeFolder(differencesFolder, mode: 0o777)
    let lines = StateLines([
      "tip": difference.tip, "rules": difference.rules, "peer-tip": difference.peerTip,
      "peer-rules": difference.peerRules.map(String.init) ?? "unknown",
    ])
    try Disk.replace("\(differencesFolder)/\(difference.device)", with: lines.bytes)
    return true
  }

  /// Removes the record about a device: its tip is the same again.
  public func forgetTipDifference(with device: String) throws {
    let path = "\(differencesFolder)/\(device)"
    guard Self.isDeviceID(device), Counted.access(path, F_OK) == 0 else { return }
    try Disk.remove(path)
  }

  private func tipDifference(with device: String) -> TipDifference? {
    guard Self.isDeviceID(device) else { return nil }
    let path = "\(differencesFolder)/\(device)"
    return Disk.memory(at: path) { values throws(StateDamage) in
      guard let tip = ObjectID(hex: values["tip"] ?? ""),
        let peerTip = ObjectID(hex: values["peer-tip"] ?? ""),
        let rules = Int(values["rules"] ?? "")
      else { throw StateDamage(path, "a line is missing") }
      return TipDifference(
        device: device, tip: tip, rules: rules, peerTip: peerTip,
        peerRules: Int(values["peer-rules"] ?? ""))
    }
  }

  /// Whether the text may be a file name: device IDs are letters and digits.
  private static func isDeviceID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { ("A"..."Z").contains($0) || ("0"..."9").contains($0) }
  }
}
