public import State
internal import Synchronization
internal import System

/// The rights of a device in the notebook, as far as this one knows, and the members who can change them.
public struct MemberStanding: Hashable, Sendable {
  /// Its role; nil when it is not a member, or no longer.
  public let role: Role?
  /// Whether it was a member and is none any more.
  public let isRemoved: Bool
  /// The names of the other admins.
  public let admins: [String]
  /// The names that several members have, removed ones too, in lower case.
  public let sharedNames: [String]
}

extension MembershipStore {
  /// How a device stands.
  public func standing(ofDevice deviceID: String) -> MemberStanding {
    let members = members()
    let own = members.first { $0.deviceID == deviceID }
    let admins = members.filter { !$0.isRemoved && $0.role == .admin && $0.deviceID != deviceID }
    let counts = Dictionary(grouping: members) { $0.name.lowercased() }
    return MemberStanding(
      role: own.flatMap { $0.isRemoved ? nil : $0.role }, isRemoved: own?.isRemoved == true,
      admins: admins.map(\.name).sorted(),
      sharedNames: counts.filter { $0.value.count > 1 }.keys.sorted())
  }

  /// How a device stands in the notebook with this state folder, as the cache there has it or by its list of
  /// members.
  public static func standing(
    ofDevice deviceID: String, at stateFolder: StateFolder
  ) throws -> MemberStanding {
    try standing(
      ofDevice: deviceID, in: MembershipStore.folder(ofNotebookAt: stateFolder),
      cache: stateFolder[.standing])
  }

  /// How a device stands, by the memory that is kept in `cache` as long as the same certificates and
  /// lists are stored: to read them takes longer than all else that a `notes status` does.
  static func standing(
    ofDevice deviceID: String, in folder: String, cache: String
  ) throws -> MemberStanding {
    let files = try StoreFolder.files(in: folder).sorted()
    let key = (files + [deviceID] + (try DeviceList.refused.read(in: folder)))
      .joined(separator: " ")
    let known = Disk.memory(at: cache) { lines -> MemberStanding? in
      guard lines["stored"] == key, let admins = lines["admins"], let shared = lines["shared"]
      else { return nil }
      return MemberStanding(
        role: lines["role"].flatMap(Role.init), isRemoved: lines["role"] == "removed",
        admins: admins.split(separator: "/").map(String.init),
        sharedNames: shared.split(separator: "/").map(String.init))
    }
    if let known { return known }
    let standing = try open(in: folder).standing(ofDevice: deviceID)
    let role = standing.role?.rawValue ?? (standing.isRemoved ? "removed" : "none")
    let lines = StateLines([
      // No name holds a slash: notes-security(7), DEVICE AND NOTEBOOK NAMES.
      "stored": key, "role": role, "admins": "/" + standing.admins.joined(separator: "/"),
      "shared": "/" + standing.sharedNames.joined(separator: "/"),
    ])
    Disk.keep(lines.bytes, at: cache)
    return standing
  }

  /// Keeps that a member refuses this device as a removed one, until one lets it in: the removal itself
  /// may never arrive here.
  public func setRefused(_ isRefused: Bool, device deviceID: String) throws {
    try state.withLock { state in
      guard state.refused.contains(deviceID) != isRefused else { return }
      try DeviceList.refused.write(isRefused ? [deviceID] : [], in: folder)
      state.refused = isRefused ? [deviceID] : []
    }
  }
}
