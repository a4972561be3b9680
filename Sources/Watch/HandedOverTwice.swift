package import Membership

/// The notice that a key handed the notebook over twice: notes-members(1), `handover`.
package struct HandedOverTwice {
  /// The device ID of the former founder.
  package let former: String
  /// The device ID of the heir whose handover does not count here.
  package let otherHeir: String
  /// Whether the former founder was removed here: then its handover counts only on devices that do not know that yet.
  package let isRemoved: Bool
  /// The message for people, in lower case, without a full stop.
  package let message: String

  package var remedy: String {
    isRemoved
      ? "if a device's 'notes members' shows another founder than here, let that device join again: 'notes invite'"
      : "'notes members' shows the founder on each device; 'notes members reset' starts the membership over"
  }

  /// The notices of a notebook. `shown` makes names fit for the place where they are shown.
  package static func all(
    in membership: MembershipStore, shown: (String) -> String
  ) throws -> [HandedOverTwice] {
    let names = Dictionary(membership.members().map { ($0.deviceID, $0.name) }) { first, _ in first
    }
    func name(_ device: String) -> String {
      "\(names[device].map(shown) ?? "a device") (\(device.prefix(8)))"
    }
    return try membership.secondHandovers().map { second in
      let former = shown(second.former.name)
      return HandedOverTwice(
        former: second.former.deviceID, otherHeir: second.otherHeir,
        isRemoved: second.former.isRemoved,
        message: second.former.isRemoved
          ? "\(former), a former founder who was removed, also signed a handover to \(name(second.otherHeir)); "
            + "it does not count here"
          : "\(former) handed over twice, so its key is on two machines or stolen: "
            + "here \(name(second.heir)) is its heir, on other devices \(name(second.otherHeir))"
      )
    }
  }
}
