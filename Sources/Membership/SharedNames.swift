/// Names that several members have, so that these devices are told apart by their IDs as well.
package struct SharedNames: Sendable {
  private var names: Set<String> = []

  /// None.
  package init() {}

  /// Those that a device knows of.
  package init(_ status: MemberStatus?) { names = Set(status?.sharedNames ?? []) }

  /// Whether several members have the name, whatever its case.
  package func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

  /// The name, with the beginning of the ID in brackets where the name alone does not say which device it
  /// is.
  package func name(_ name: String, _ device: String?) -> String {
    guard let device, contains(name) else { return name }
    return "\(name) (\(device.prefix(8)))"
  }

  /// The beginning of the ID, where the name alone does not say which device it is.
  package func mark(of name: String, _ device: String) -> String? {
    contains(name) ? String(device.prefix(8)) : nil
  }
}
