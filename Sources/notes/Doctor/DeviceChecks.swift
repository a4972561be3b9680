internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import System
internal import Watch

extension Check {
  static let deviceKey = Check(
    name: "device_key", title: "device key", remedy: "restore the key from a backup"
  ) { context in
    let folder = Visible.name(try context.dataFolder)
    // Throws if other users may read the key.
    guard let key = try DeviceKey.load(in: try context.dataFolder) else {
      return .problem(
        "there is no device key in \(folder)",
        remedy: "restore it from a backup, or set XDG_DATA_HOME to the folder that has it")
    }
    var findings: [Finding] = []
    if key.deviceID != context.ownDevice,
      try DeviceKey.load(context.ownDevice, in: try context.dataFolder) != nil
    {
      findings += .advice(
        "no admin has certified this device's new key yet",
        remedy: "run 'notes sync', then \(OwnMembership(of: context.notebook).certifying)")
    } else if key.deviceID != context.ownDevice {
      findings += .problem(
        "the key in \(folder) is not the one this notebook was made or joined with",
        remedy: "set XDG_DATA_HOME to the folder with that key, or restore the key")
    }
    var status = stat()
    if Counted.stat(try context.dataFolder, &status) == 0, status.st_mode & 0o022 != 0 {
      findings += .problem(
        "other users may replace the device key: they can write in \(folder)",
        remedy: "chmod go-w \(folder)")
    }
    if let sharing = KeySharing(stateFolder: context.notebook.stateFolder)
      .notice(of: context.ownDevice, now: context.now)
    {
      findings += .problem(
        OwnMembership.keyMessage(sharing.witness) + ", "
          + TimeText.relative(sharing.time, now: context.now),
        remedy: OwnMembership.keyRemedy)
    }
    return findings.isEmpty ? .good("\(key.deviceID.prefix(8)), readable by you only") : findings
  }

  static let agreement = Check(
    name: "agreement", title: "agreement", remedy: "update notes on all devices"
  ) { context in
    // The list is only used for names; another check reports an unreadable one.
    let members = (try? context.notebook.membership())?.members() ?? []
    let findings = context.notebook.tipDifferences().flatMap { difference -> [Finding] in
      let member = members.first { $0.deviceID == difference.device }
      // A removed device does not connect again.
      if member?.isRemoved == true { return [] }
      let name = Visible.name(member?.name ?? difference.device)
      let theirs = difference.peerRules.map { "by rules \($0)" } ?? "by unknown rules"
      // If a device follows older rules, its program is older.
      let older = difference.peerRules ?? 0
      let outdated =
        older < difference.rules ? name : older > difference.rules ? "this device" : "both devices"
      return .problem(
        "\(name) merges the same versions differently: it shows \(difference.peerTip.short) "
          + "\(theirs), this device \(difference.tip.short) by rules \(difference.rules)",
        remedy: "update notes on \(outdated); after the next edit of a note both show one version")
    }
    let hubs = try HubDifferenceNotice.all(in: context.notebook).flatMap {
      [Finding].problem($0.message, remedy: HubDifferenceNotice.remedy)
    }
    return findings.isEmpty && hubs.isEmpty
      ? .good("no device merges the same versions differently") : findings + hubs
  }

  static let held = Check(
    name: "held", title: "held back", remedy: "'notes status' lists it"
  ) { context in
    let findings = RefusalNotice.all(in: context.notebook).flatMap {
      [Finding].problem($0.message, remedy: $0.remedy)
    }
    return findings.isEmpty ? .good("nothing is held back") : findings
  }

  private static let setClock = "set the clock: timedatectl set-ntp true"

  /// Checks the clock, which matters only for the dates that people see and for the order of
  /// conflicting sides.
  static let clock = Check(name: "clock", title: "clock", remedy: setClock) { context in
    let today = TimeText.local(context.now)
    // 2025-01-01 and 2100-01-01: notes did not exist before, and will not run later.
    guard (1_735_689_600..<4_102_444_800).contains(context.now)
    else { return .problem("the clock says \(today)", remedy: setClock) }
    let day: Int64 = 86_400
    var newest: (time: Int64, what: String) = (0, "the newest version")
    if let tip = try context.notebook.state().tip {
      let commit = try context.notebook.repository.commit(tip)
      newest.time = max(commit.author.time, commit.committer.time)
    }
    // Another check reports an unreadable list.
    let issued = (try? context.notebook.membership())?.members().map(\.issuedAt).max() ?? 0
    if issued > newest.time { newest = (issued, "the newest certificate") }
    if newest.time > context.now + day {
      return .problem(
        "\(newest.what) is from \(TimeText.local(newest.time)), but the clock says \(today)",
        remedy:
          "\(setClock); if this clock is right, the clock of the device that made it was ahead")
    }
    return .good(today)
  }

  static let membership = Check(
    name: "membership", title: "members", remedy: "ask an admin for an invitation and join again"
  ) { context in
    let store = try context.notebook.membership()
    let folder = Visible.name(context.notebook.stateFolder[.membership])
    if store.notebookID != context.notebook.identity.id {
      return .problem(
        "the certificates belong to another notebook",
        remedy: "restore \(folder) from a backup, or join again in a new folder")
    }
    guard let role = store.role(ofDevice: context.ownDevice) else {
      let own = OwnMembership(of: context.notebook)
      if let message = own.guestMessage { return .problem(message, remedy: own.guestAdvice) }
      let wasMember = store.members().contains { $0.deviceID == context.ownDevice }
      return .problem(
        wasMember
          ? "this device has been removed from the notebook" : "this device is not a member",
        remedy: "the notes here stay; to sync again, ask an admin for an invitation")
    }
    let twice = try HandedOverTwice.all(in: store).flatMap {
      $0.isRemoved
        ? [Finding].advice($0.message, remedy: $0.remedy)
        : .problem($0.message, remedy: $0.remedy)
    }
    if twice.contains(where: { $0.level == .problem }) { return twice }
    let claims = try ClaimNotice.all(in: store, for: context.ownDevice).flatMap { notice in
      notice.isContested
        ? [Finding].problem(notice.message, remedy: notice.remedy)
        : notice.isOpen ? .advice(notice.message, remedy: notice.remedy) : []
    }
    if !claims.isEmpty { return claims }
    let ownMembership = OwnMembership(of: context.notebook)
    if let message = ownMembership.startedOverMessage {
      return .problem(message, remedy: ownMembership.startedOverRemedy)
    }
    if let message = ownMembership.readerMessage {
      return .advice(message, remedy: ownMembership.readerRemedy)
    }
    let present = store.members().filter { !$0.isRemoved }
    let admins = present.filter { $0.role == .admin }
    if admins.count < 2, present.count > 1 {
      guard let name = admins.first.map({ Visible.name($0.name) }) else {
        return .advice(
          "no admin is left, so nobody can invite or remove devices",
          remedy: "run 'notes members reset' here, then invite the others: 'notes invite'")
      }
      return .advice(
        "only \(name) is an admin: if it is lost, nobody can invite or remove devices",
        remedy: "on \(name), make another device an admin: 'notes members role NAME admin'")
    }
    let findings =
      try twice + oneName(among: present) + (founderUnseen(among: present, in: context) ?? [])
    return !findings.isEmpty
      ? findings
      : .good("\(Phrase.count(present.count, "device")); this one is \(role.withArticle)")
  }

  /// Devices with the same name: two admins may have invited at the same time.
  private static func oneName(among members: [Member]) -> [Finding] {
    Dictionary(grouping: members) { $0.name.lowercased() }.values.filter { $0.count > 1 }
      .map { $0.sorted { $0.deviceID < $1.deviceID } }.sorted { $0[0].name < $1[0].name }
      .flatMap { devices -> [Finding] in
        let ids = devices.map { String($0.deviceID.prefix(8)) }
        return .advice(
          "\(Phrase.count(devices.count, "device")) are called \(Visible.name(devices[0].name)) "
            + "(\(Phrase.list(ids))): in conflict markers, only the times distinguish them",
          remedy: "an admin can rename one of them: 'notes members rename \(ids[1]) NAME'")
      }
  }

  /// How many days the founder's device may be away without a remark.
  private static let longAway: Int64 = 90

  /// The finding that the founder's device was away for long. A device that only shares a hub does not connect, so its
  /// newest version counts as well.
  private static func founderUnseen(
    among members: [Member], in context: CheckContext
  ) throws -> [Finding]? {
    guard let founder = members.first(where: \.isFounder), founder.deviceID != context.ownDevice
    else { return nil }
    func isAway(since time: Int64?) -> Bool {
      context.now - max(time ?? 0, founder.issuedAt) > longAway * 86_400
    }
    let seen = PeerSightings(stateFolder: context.notebook.stateFolder).last(of: founder.deviceID)
    guard isAway(since: seen) else { return nil }
    let newest = try context.notebook.newestVersions(of: [founder.deviceID])[founder.deviceID]
    let written = newest?.author.time
    guard isAway(since: written) else { return nil }
    func ago(_ time: Int64) -> String { TimeText.relative(time, now: context.now) }
    let sign =
      if let written, written > seen ?? 0 {
        "wrote its newest version here \(ago(written))"
      } else {
        seen.map { "last connected \(ago($0))" } ?? "never connected"
      }
    return .advice(
      "\(Visible.name(founder.name)), the founder's device, \(sign)",
      remedy:
        "on that device, run 'notes members handover NEW-FOUNDER'; if it is lost, run 'notes members "
        + "handover FOUNDER' on an admin's device; if it was stolen, 'notes members reset'"
    )
  }

  static let discovery = Check(
    name: "discovery", title: "discovery", remedy: "name a device: 'notes sync --at HOST:PORT'"
  ) { context in
    guard let discovery = context.discovery else { return .good("not checked (--no-discovery)") }
    let all = try NearbyDevices.look(with: discovery, seconds: 2)
    let here = Set(all.filter { $0.notebookID == context.notebook.identity.id }.map(\.deviceID))
    let near = here.subtracting([context.ownDevice])
    let others = Set(all.map(\.deviceID)).subtracting(here)
    // Another check reports an unreadable list.
    let elsewhere = ((try? context.notebook.membership())?.members() ?? [])
      .filter { !$0.isRemoved && others.contains($0.deviceID) && $0.deviceID != context.ownDevice }
    if near.isEmpty, !elsewhere.isEmpty {
      return .advice(
        "no device of the notebook is near; "
          + OwnMembership.elsewhereMessage(elsewhere.map { Visible.name($0.name) }),
        remedy: OwnMembership.elsewhereRemedy)
    }
    return .good("Avahi answers; \(Phrase.count(near.count, "device")) of the notebook near")
  }

  /// Checks multicast, without which no device is found.
  static let multicast = Check(
    name: "multicast", title: "multicast", remedy: "name a device: 'notes sync --at HOST:PORT'"
  ) { context in
    guard context.discovery != nil else { return .good("not checked (--no-discovery)") }
    let heard = try MulticastProbe.run(seconds: 1.5)
    if heard.interfaces.isEmpty {
      return .advice(
        "no network interface supports multicast, so devices cannot find each other",
        remedy: "connect to a network, or name a device: 'notes sync --at HOST:PORT'")
    }
    let interfaces = Phrase.list(heard.interfaces.map { Visible.name($0) })
    if heard.others.isEmpty {
      return .advice(
        "no other machine answered on \(interfaces) within 1.5 seconds",
        remedy: "if other machines are on, the network may block multicast, as guest networks do; "
          + "then run 'notes sync --at HOST:PORT'")
    }
    let count = Phrase.count(heard.others.count, "other machine")
    let few = heard.others.prefix(5).joined(separator: ", ")
    let more = heard.others.count > 5 ? ", …" : ""
    return .good("\(count) heard on \(interfaces): \(few)\(more)")
  }

  static let port = Check(
    name: "port", title: "port", remedy: "choose another address with --listen"
  ) { context in
    let listener = try Listener(at: context.listen)
    let blocked = MulticastProbe.ownHosts().filter { host in
      context.listen.host == Address.anyHost
        && !Listener.isReachable(Address(host: host, port: listener.port))
    }
    if !blocked.isEmpty {
      return .problem(
        "a connection to this device's own address \(Phrase.list(blocked)) is blocked",
        remedy: "let the firewall here accept connections to the port that --listen names")
    }
    let what =
      context.listen.port == 0
      ? "any free port" : "\(Visible.name(listener.address.description)) is free"
    return .good("\(what); reachable from here, but a firewall may block others")
  }
}
