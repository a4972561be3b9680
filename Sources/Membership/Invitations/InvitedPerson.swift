/// The person to whom a device that joins by an invitation will belong.
public enum InvitedPerson: Hashable, Sendable {
  /// Another device of the person whose device invites.
  case own
  /// A new person with this name; if it is nil, with the device's name.
  case new(name: String?)

  /// A new person with the device's name.
  public static let unnamed = InvitedPerson.new(name: nil)

  /// The name that the inviter gives the person; nil if it gives none.
  public var name: String? { if case .new(let name) = self { name } else { nil } }
}

extension CertificateSet {
  /// The new person with this name to whom the key's device will belong. Nil if the person already has other devices: a
  /// new device does not rename the person.
  func newPerson(ofKey identifier: [UInt8], named name: String) -> Person? {
    let new = Person(identifier: identifier, name: name)
    return people.keys(of: new).allSatisfy { $0 == identifier } ? new : nil
  }
}

extension [Member] {
  /// The name, with a number if another person or device than `deviceID` has it.
  func freeName(_ name: String, for deviceID: String) -> String {
    let names = filter { !$0.isRemoved && $0.deviceID != deviceID }
      .flatMap { [$0.name, $0.deviceName, $0.person.name] }
    let taken = Set(names.map { $0.lowercased() })
    func isTaken(_ name: String) -> Bool { taken.contains(name.lowercased()) }
    return isTaken(name) ? DisplayName.numbered(name, isTaken) : name
  }
}
