/// The names that several members share. Their devices are also shown with their IDs.
package struct SharedNames: Sendable {
  private var names: Set<String> = []

  /// An empty set of names.
  package init() {}

  /// The shared names that a device knows.
  package init(_ status: MemberStatus?) { names = Set(status?.sharedNames ?? []) }

  /// Whether several members have the name, ignoring case.
  package func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

  /// The name, followed by the beginning of the ID in brackets if the name is ambiguous.
  package func name(_ name: String, _ device: String?) -> String {
    guard let device, contains(name) else { return name }
    return "\(name) (\(device.prefix(8)))"
  }

  /// The beginning of the ID if the name is ambiguous.
  package func mark(of name: String, _ device: String) -> String? {
    contains(name) ? String(device.prefix(8)) : nil
  }
}
