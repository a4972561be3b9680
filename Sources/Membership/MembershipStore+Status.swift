public import State
internal import Synchronization
internal import System

/// The rights of a device in the notebook, as far as this device knows, and the members who can
/// change them.
public struct MemberStatus: Hashable, Sendable {
  /// The device's role; nil if it is not a member, or no longer.
  public let role: Role?
  /// Whether the device was a member and no longer is.
  public let isRemoved: Bool
  /// Whether the device is the founder's.
  public let isFounder: Bool
  /// The founder's device.
  public let founder: String?
  /// The name of the other device that certified its present role; nil if there is none.
  public let issuer: String?
  /// The name by which people call the device, also after its removal; nil if it never was a member.
  public let name: String?
  /// The names of the other admins.
  public let admins: [String]
  /// The names that several members share, including removed ones, in lower case.
  public let sharedNames: [String]
  /// The other devices, including removed ones.
  public let others: [Other]

  /// Another device, and the facts about its role that people are told.
  public struct Other: Hashable, Sendable {
    /// The device ID.
    public let device: String
    /// The name by which people call it.
    public let name: String
    /// Its role; nil if it is no longer a member.
    public let role: Role?
    /// The device that gave this device its role, or removed it; nil if none did.
    public let by: String?
  }
}

extension MemberStatus.Other {
  init(_ member: Member) {
    (device, name, role) = (member.deviceID, member.name, member.isRemoved ? nil : member.role)
    by = member.isRemoved ? member.removal?.by : member.roleBy
  }

  /// Reads a line of the cache. A name can contain spaces.
  init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 3).map(String.init)
    guard words.count == 4 else { return nil }
    (device, name, role) = (words[0], words[3], Role(rawValue: words[1]))
    by = words[2] == "-" ? nil : words[2]
  }

  var line: String { "\(device) \(role?.rawValue ?? "-") \(by ?? "-") \(name)" }
}

extension MembershipStore {
  /// The status of a device.
  public func status(ofDevice deviceID: String) -> MemberStatus {
    let members = members()
    let own = members.first { $0.deviceID == deviceID }
    let admins = members.filter { !$0.isRemoved && $0.role == .admin && $0.deviceID != deviceID }
    let counts = Dictionary(grouping: members) { $0.name.lowercased() }
    let issuer = members.first { $0.deviceID == own?.roleBy && $0.deviceID != deviceID }
    return MemberStatus(
      role: own.flatMap { $0.isRemoved ? nil : $0.role }, isRemoved: own?.isRemoved == true,
      isFounder: own?.isFounder == true, founder: members.first(where: \.isFounder)?.deviceID,
      issuer: issuer?.name,
      name: own?.name, admins: admins.map(\.name).sorted(),
      sharedNames: counts.filter { $0.value.count > 1 }.keys.sorted(),
      others: members.filter { $0.deviceID != deviceID }.map { MemberStatus.Other($0) })
  }

  /// The status of a device in the notebook with this state folder, from the cache there or from its list of
  /// members.
  public static func status(
    ofDevice deviceID: String, at stateFolder: StateFolder
  ) throws -> MemberStatus {
    try status(
      ofDevice: deviceID, in: MembershipStore.folder(ofNotebookAt: stateFolder),
      cache: stateFolder[.standing])
  }

  /// The status of a device, from `cache`, which is valid while the same certificates and lists are stored.
  /// Reading these would take longer than the rest of `notes status`.
  static func status(
    ofDevice deviceID: String, in folder: String, cache: String
  ) throws -> MemberStatus {
    let files = try StoreFolder.files(in: folder).sorted()
    let claims = try ClaimRecord(in: folder).accepted.values.map { String(base32: $0.claimer) }
    let key = (files + [deviceID] + (try DeviceList.refused.read(in: folder)) + claims.sorted())
      .joined(separator: " ")
    let known = Disk.memory(at: cache) { lines -> MemberStatus? in
      guard lines["stored"] == key, let admins = lines["admins"], let shared = lines["shared"],
        let name = lines["name"]?.dropFirst(), let issuer = lines["issuer"]?.dropFirst(),
        let holder = lines["holder"], lines["members"] != nil
      else { return nil }
      return MemberStatus(
        role: lines["role"].flatMap(Role.init), isRemoved: lines["role"] == "removed",
        isFounder: lines["founder"] == "yes", founder: holder == "-" ? nil : holder,
        issuer: issuer.isEmpty ? nil : String(issuer),
        name: name.isEmpty ? nil : String(name),
        admins: admins.split(separator: "/").map(String.init),
        sharedNames: shared.split(separator: "/").map(String.init),
        others: lines.values(of: "member").compactMap { MemberStatus.Other($0) })
    }
    if let known { return known }
    let status = try open(in: folder).status(ofDevice: deviceID)
    let role = status.role?.rawValue ?? (status.isRemoved ? "removed" : "none")
    var lines = StateLines([
      // Names cannot contain a slash: notes-security(7), DEVICE AND NOTEBOOK NAMES.
      "stored": key, "role": role, "name": "/" + (status.name ?? ""),
      "founder": status.isFounder ? "yes" : "no", "holder": status.founder ?? "-",
      "issuer": "/" + (status.issuer ?? ""),
      "admins": "/" + status.admins.joined(separator: "/"),
      "shared": "/" + status.sharedNames.joined(separator: "/"), "members": status.others.count,
    ])
    for other in status.others { lines.append("member", other.line) }
    Disk.keep(lines.bytes, at: cache)
    return status
  }

  /// Records that a member refuses this device as removed, until another accepts it: the removal itself
  /// may never arrive here.
  public func setRefused(_ isRefused: Bool, device deviceID: String) throws {
    try state.withLock { state in
      guard state.refused.contains(deviceID) != isRefused else { return }
      try DeviceList.refused.write(isRefused ? [deviceID] : [], in: folder)
      state.refused = isRefused ? [deviceID] : []
    }
  }
}
