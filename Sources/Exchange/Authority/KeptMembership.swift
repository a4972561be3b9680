internal import Git
internal import History
public import Membership
public import Notebook
internal import State
internal import System

/// A notebook's list of members, and the places where its members can be reached. With these a device can
/// return to the notebook after its folder is lost. Each notebook has a file in
/// `$XDG_DATA_HOME/notes/memberships`; a copy of the device key also includes it. notes-device(1).
public struct KeptMembership: Sendable {
  /// The notebook's ID and its name.
  public let id, name: String
  /// The device that is the member, and its name in the notebook.
  public let device, deviceName: String
  /// The hubs of the notebook.
  public let hubs: [Hub]

  private let branch: String
  private let addresses: [String: Address]
  private let members: MemberList

  private static let (folder, form) = ("memberships", "notes-membership")
  /// The largest text of a membership that is read, in bytes.
  private static let limit = 4 << 20

  /// A notebook's present membership; nil if this device is not a member.
  private init?(of notebook: Notebook, for context: SessionContext) throws {
    let membership = context.membership
    guard let own = membership.member(ofDevice: context.key.deviceID), !own.isRemoved else {
      return nil
    }
    (id, name) = (membership.notebookID, membership.notebookName)
    (device, deviceName) = (own.deviceID, own.deviceName)
    hubs = try notebook.hubs()
    branch = try notebook.repository.head().branch ?? "main"
    addresses = PeerAddresses(stateFolder: notebook.stateFolder).all()
    members = MemberList(of: membership)
  }

  // MARK: The text

  /// The text; it includes the list of members, in the form of notes-hub(7).
  private var text: [UInt8] {
    var lines = StateLines([
      Self.form: 1, "notebook": id, "name": name, "device": device, "device-name": deviceName,
      "branch": branch,
    ])
    for hub in hubs { lines.append("hub", "\(hub.name) \(hub.url)") }
    for (device, address) in addresses.sorted(by: { $0.key < $1.key }) {
      lines.append("address", "\(device) \(address)")
    }
    return lines.bytes + members.text
  }

  private init?(parsing text: [UInt8]) throws {
    let lines = StateLines(parsing: text)
    guard lines[Self.form] == "1", let id = lines["notebook"], let name = lines["name"],
      let device = lines["device"], let deviceName = lines["device-name"],
      let branch = lines["branch"], let members = MemberList(parsing: text),
      try members.notebookID == id
    else { return nil }
    (self.id, self.name, self.device, self.deviceName) = (id, name, device, deviceName)
    (self.branch, self.members) = (branch, members)
    func pairs(_ key: String) -> [(String, String)] {
      lines.values(of: key).compactMap { value in
        let words = value.split(separator: " ", maxSplits: 1).map(String.init)
        return words.count == 2 ? (words[0], words[1]) : nil
      }
    }
    hubs = pairs("hub").map { Hub(name: $0.0, url: $0.1) }
    addresses = Dictionary(
      pairs("address").compactMap { device, text in Address(parsing: text).map { (device, $0) } }
    ) { first, _ in first }
  }

  // MARK: In the data folder

  /// The stored memberships, sorted by the notebooks' names. An unreadable one is skipped: the notebook itself
  /// has the same data.
  public static func all(in dataFolder: String) throws -> [KeptMembership] {
    let folder = "\(dataFolder)/\(folder)"
    return try Disk.namesIfAny(in: folder).compactMap { name in
      guard let text = Disk.contentIfAny("\(folder)/\(name)", limit: limit) else { return nil }
      return try KeptMembership(parsing: text)
    }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  /// Stores a notebook's membership in place of the old one. Removes it if this device is not a member.
  public static func update(
    of notebook: Notebook, for context: SessionContext, in dataFolder: String
  ) throws {
    var over = try context.membership.formerIDs()
    if let kept = try KeptMembership(of: notebook, for: context) {
      kept.keep(in: dataFolder)
    } else {
      over.insert(context.membership.notebookID)
    }
    for id in over { Disk.removeTree(path(of: id, in: dataFolder)) }
  }

  private static func path(of id: String, in dataFolder: String) -> String {
    "\(dataFolder)/\(folder)/\(id)"
  }

  /// Stores the membership, replacing an earlier one of the notebook.
  public func keep(in dataFolder: String) {
    let path = Self.path(of: id, in: dataFolder)
    let text = text
    if Disk.contentIfAny(path, limit: Self.limit) != text { Disk.keep(text, at: path) }
  }

  // MARK: After a copy of the device key

  /// The text of several memberships, signed with the device's key, because others may be able to
  /// write to the copy of the key.
  public static func exported(_ all: [KeptMembership], by key: DeviceKey) throws -> [UInt8] {
    var text: [UInt8] = []
    for one in all.map(\.text) where text.count + one.count < DeviceKey.largestMemberships {
      text += one
    }
    return text.isEmpty ? [] : try key.signedMemberships(text)
  }

  /// The memberships in a file, which follow a copy of this key; nil if others have changed them, or if the end
  /// is missing.
  public static func imported(_ file: [UInt8], by key: DeviceKey) throws -> [KeptMembership]? {
    guard let text = try key.verifiedMemberships(in: file) else { return nil }
    let first = Array((form + " ").utf8)
    let starts = text.indices.filter {
      text[$0...].starts(with: first) && ($0 == 0 || text[$0 - 1] == UInt8(ascii: "\n"))
    }
    return try zip(starts, starts.dropFirst() + [text.count]).compactMap {
      try KeptMembership(parsing: Array(text[$0..<$1]))
    }.filter { $0.device == key.deviceID }
  }

  // MARK: Making the notebook again

  /// Makes the notebook in a folder, without versions: the next sync receives them.
  ///
  /// - Throws: `MembershipError` if this device is not in the list of members.
  public func make(at folder: String, for key: DeviceKey) throws -> Notebook {
    let notebook = try Notebook.make(at: folder, branch: branch) { state in
      let membership = try MembershipStore.install(
        in: MembershipStore.folder(ofNotebookAt: state), root: members.root,
        certificates: members.certificates, revocations: members.revocations)
      guard membership.role(ofDevice: key.deviceID) != nil else {
        throw MembershipError.notAMember(device: key.deviceID)
      }
      return NotebookIdentity(
        id: id, name: membership.notebookName,
        device: DeviceIdentity(name: deviceName, deviceID: key.deviceID))
    }
    for hub in hubs { try notebook.add(hub) }
    let known = PeerAddresses(stateFolder: notebook.stateFolder)
    for (device, address) in addresses { try known.remember(address, of: device) }
    return notebook
  }
}
