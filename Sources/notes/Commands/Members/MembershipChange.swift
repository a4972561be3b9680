internal import Exchange
internal import Git
internal import Membership
internal import Notebook

/// The current notebook, this device's key, and the members that a name means: a device, or a person's devices.
struct MembershipChange {
  let notebook: Notebook
  let context: SessionContext
  var membership: MembershipStore { context.membership }
  var key: DeviceKey { context.key }
  /// The members that the name means; never empty.
  let members: [Member]
  /// Whether the name is a person's.
  let isPerson: Bool

  init(of name: String) throws {
    notebook = try NotebookLocator.notebook()
    context = try notebook.sessionContext()
    let all = context.membership.members()
    members = try all.devices(named: name)
    isPerson = members.allSatisfy { $0.person.isCalled(name) }
  }

  /// The person's or the device's name for output.
  var shown: String { isPerson ? Visible.name(members[0].person.name) : names[0] }

  /// The devices' names for output.
  var names: [String] { members.map(name(of:)) }

  /// A device's name for output. If the person keeps another device, the name also includes the device's own.
  func name(of member: Member) -> String {
    let keepsOther = membership.members().contains { other in
      !other.isRemoved && other.person.id == member.person.id
        && !members.contains { $0.deviceID == other.deviceID }
    }
    let isPersons = keepsOther && member.person.isCalled(member.name)
    return Visible.name(
      isPersons ? "\(member.person.name) (\(member.deviceName))" : member.name)
  }

  /// Called before any question. The membership itself checks this again.
  func check() throws {
    try membership.demandAdmin(key.deviceID)
    if members.contains(where: { $0.isFounder && $0.deviceID != key.deviceID }) {
      throw MembershipError.founderIsPermanent
    }
  }

  /// The device that the name means: if the person has several, the one with the person's name. Throws if none
  /// has it.
  func device() throws(Failure) -> Member {
    let person = members[0].person
    let found = members.count == 1 ? members : members.filter { person.isCalled($0.deviceName) }
    guard found.count == 1 else { throw members.ambiguous(person.name) }
    return found[0]
  }

  func setBlocked(_ blocks: Bool, _ options: CommonOptions, words: (String) -> String) throws {
    for member in members {
      try membership.setBlocked(blocks, device: member.deviceID, by: key)
    }
    report(blocks ? "blocked" : "unblocked", options, words(shown))
  }

  func report(_ type: String, _ options: CommonOptions, _ text: String, more: JSON = [:]) {
    if members.contains(where: { $0.deviceID == key.deviceID }) { context.recordKnownRole() }
    let present = membership.members()
    let lines = members.compactMap { member in
      present.first { $0.deviceID == member.deviceID }.map { now in
        [
          "type": type, "name": now.name, "device": now.deviceID, "role": now.role.rawValue,
          "state": now.isRemoved ? "removed" : now.isBlocked ? "blocked" : "member",
        ] as JSON + more
      }
    }
    options.write(lines) { _ in text + "\n" }
  }
}

extension SessionContext {
  /// Visits the hubs as a sync does: before a removal, to accept what was made as a member; after a change, so that
  /// the devices that only share a hub learn of it. A hub that is not reached is reported, and no error.
  ///
  /// - Parameter unreached: the names of hubs to leave out.
  /// - Returns: the names of the hubs that were not reached or refused the visit.
  @discardableResult
  func visitHubs(
    _ options: CommonOptions, besides unreached: Set<String> = []
  ) throws -> Set<String> {
    let hubs = try notebook().hubs().filter { !unreached.contains($0.name) }
    var visit = HubRun(context: self, hubs: hubs)
    if hubs.isEmpty { return [] }
    visit.program.mayAsk = Console.canAsk
    let report = EventReport(json: options.json, concludes: true)
    defer { report.finish() }
    var outcome = SyncOutcome()
    try visit.run(addingTo: &outcome, cancellation: Interruption.token()) { report.write($0) }
    report.tellFailures()
    return Set(outcome.failures.filter { $0.error is HubError }.compactMap { $0.peer?.name })
  }
}

extension MembershipStore {
  /// Throws, and names the admins, if a device is not an admin's.
  func demandAdmin(_ device: String) throws(Failure) {
    if role(ofDevice: device) == .admin { return }
    let admins = members().filter { !$0.isRemoved && $0.role == .admin }
    throw Failure(
      .failed, "not_an_admin", "only an admin of the notebook may do this",
      hint: admins.isEmpty
        ? "this device knows of no admin; 'notes sync' asks the other devices"
        : "run the command on \(Phrase.list(admins.map { Visible.name($0.name) }, "or"))")
  }
}

extension Person {
  /// Whether a name on a command line is the person's.
  func isCalled(_ name: String) -> Bool { self.name.lowercased() == name.lowercased() }
}

extension Member {
  /// The names by which people may mean the device, the person's included.
  fileprivate var names: [String] {
    [person.name, name, deviceName, "\(person.name) (\(deviceName))"]
  }

  /// Whether a text is the name of the device or of its person.
  func isCalled(_ name: String) -> Bool {
    names.contains { $0.lowercased() == name.lowercased() }
  }
}

/// A name on a command line is a person's name, which means all of the person's devices; `PERSON (DEVICE)`, or a
/// device's own name; or the beginning of its ID.
extension [Member] {
  /// A name with exactly this spelling has priority over one that differs by case.
  func matches(of name: String) -> [Member] {
    let exact = filter { $0.names.contains(name) }
    if !exact.isEmpty { return exact }
    let folded = name.lowercased()
    return filter {
      $0.isCalled(name) || (folded.utf8.count >= 4 && $0.deviceID.lowercased().hasPrefix(folded))
    }
  }

  /// The names of these devices and of their persons, each once.
  var calledNames: [String] {
    var seen: Set<String> = []
    return flatMap { [$0.name, $0.person.name] }.filter { seen.insert($0).inserted }
  }

  func others(besides device: String) -> [Member] {
    filter { !$0.isRemoved && $0.deviceID != device }
  }

  /// The devices of other persons.
  func others(than person: Person) -> [Member] {
    filter { !$0.isRemoved && $0.person.id != person.id }
  }

  /// Another member's device that already has the name that this one would get; nil if there is none.
  func taking(_ new: String, from member: Member) -> Member? {
    let isAlone = !contains { $0.person.id == member.person.id && $0.deviceID != member.deviceID }
    let label = isAlone ? new : member.person.name(withDevice: new)
    return others(besides: member.deviceID).first { $0.name.lowercased() == label.lowercased() }
  }

  /// The devices of the person, or the one device, that a name means.
  func devices(named name: String) throws(Failure) -> [Member] {
    let found = try members(named: name)
    let isPerson =
      Set(found.map(\.person.id)).count == 1 && found.allSatisfy { $0.person.isCalled(name) }
    if found.count > 1, !isPerson { throw found.ambiguous(name) }
    return found
  }

  func member(named name: String) throws(Failure) -> Member {
    let found = try members(named: name)
    guard found.count == 1 else { throw found.ambiguous(name) }
    return found[0]
  }

  /// The failure that a command needs one device; its hint lists them, by their names if these differ.
  func ambiguous(_ name: String) -> Failure {
    let labels = map { "\($0.person.name) (\($0.deviceName))" }
    let differ = Set(labels.map { $0.lowercased() }).count == count
    let choices =
      differ
      ? labels.prefix(5).map { Visible.word($0) }
      : prefix(5).map { "\($0.deviceID.prefix(8)) (\($0.role.rawValue))" }
    return Failure(
      .failed, "ambiguous_member", "several devices match '\(Visible.name(name))'",
      hint: (differ ? "name one of them: " : "write the beginning of a device ID: ")
        + Phrase.list(choices, "or"))
  }

  /// - Parameter own: this device's ID, if the command cannot apply to itself.
  func members(named name: String, besides own: String? = nil) throws(Failure) -> [Member] {
    let others = filter { $0.deviceID != own }
    if others.matches(of: name).isEmpty, !matches(of: name).isEmpty {
      throw Failure(
        .failed, "own_device", "'\(Visible.name(name))' is this device itself",
        hint: "name another device: 'notes members' lists them")
    }
    let present = others.filter { !$0.isRemoved }
    let found = present.matches(of: name)
    if !found.isEmpty { return found }
    if let removed = others.matches(of: name).first {
      throw Failure(
        .failed, "already_removed", "\(Visible.name(removed.name)) was already removed",
        hint: "'notes invite' lets it join again")
    }
    throw Failure(
      .failed, "no_such_member", "no member is called '\(Visible.name(name))'",
      hint: Failure.guess(name, among: present.calledNames) ?? "'notes members' lists them")
  }
}
