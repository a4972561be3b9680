internal import Membership

/// Names that several members have, so that these devices are told apart by their IDs as well.
struct SharedNames {
  private var names: Set<String> = []

  init() {}

  init(_ standing: MemberStanding?) { names = Set(standing?.sharedNames ?? []) }

  func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

  /// The name, and the beginning of the ID where that is needed.
  func shown(_ name: String, _ device: String?) -> String {
    guard let device, contains(name) else { return Visible.name(name) }
    return "\(Visible.name(name)) (\(device.prefix(8)))"
  }
}
