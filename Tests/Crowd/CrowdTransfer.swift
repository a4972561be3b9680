import Exchange
import Git
import Glibc
import History
import Membership
import Notebook

/// How objects get from one device to another.
enum CrowdTransfer {
  /// One by one, as links to the same files: the least that could be done.
  case objects
  /// As a sync sends them: a thin pack through quarantine.
  case packs
}

extension CrowdDevice {
  /// Takes in what another device showed, in a session as a sync holds it.
  func receive(
    _ heads: [ObjectID], from other: CrowdDevice, by transfer: CrowdTransfer
  ) throws {
    if case .objects = transfer { try fetch(heads, from: other, by: transfer) }
    let name = "DEVICE\(other.number)"
    let replica = Replica(
      notebook, CrowdKeeper(self),
      with: PeerIdentity(name: name, deviceID: name, role: .writer, address: ""))
    try replica.begin(receives: true)
    _ = try Session.run(
      over: RepositoryLink(to: other, from: notebook.repository), replica,
      SessionTerms(
        theirs: Shown(tip: heads.first, heads: heads),
        exchange: SessionRules.Terms(gives: false, takes: true, owesAnswers: false, ends: true)))
  }

  /// Takes what these commits need from another device.
  func fetch(_ heads: [ObjectID], from other: CrowdDevice, by transfer: CrowdTransfer) throws {
    let lacking = try heads.filter { try !notebook.repository.contains($0) }
    if lacking.isEmpty { return }
    switch transfer {
    case .objects: try copy(lacking, from: other.served)
    case .packs: try receivePack(of: lacking, from: other.served)
    }
  }

  private func receivePack(of heads: [ObjectID], from theirs: Repository) throws {
    let known = try notebook.state().heads.filter { try theirs.contains($0) }
    let writer = try theirs.pack(wants: heads, haves: known)
    let quarantine = try notebook.repository.quarantine()
    while let piece = try writer.next() { try quarantine.append(piece) }
    try quarantine.join(promised: heads)
  }

  private func copy(_ heads: [ObjectID], from theirs: Repository) throws {
    var commits: [Commit] = []
    var waiting = heads
    var seen: Set<ObjectID> = []
    while let id = waiting.popLast() {
      guard seen.insert(id).inserted, !isLoose(id), try !notebook.repository.contains(id) else {
        continue
      }
      let commit = try theirs.commit(id)
      commits.append(commit)
      waiting += commit.parents
    }
    // Trees and blobs first: a commit that is there promises all below it.
    for commit in commits { try copyTree(commit.tree, from: theirs) }
    for commit in commits.reversed() { try copy(commit.id, from: theirs) }
  }

  private func copyTree(_ id: ObjectID, from theirs: Repository) throws {
    if isLoose(id) { return }
    for entry in try theirs.tree(id).entries {
      if entry.mode == .tree {
        try copyTree(entry.id, from: theirs)
      } else if !isLoose(entry.id) {
        try copy(entry.id, from: theirs)
      }
    }
    try copy(id, from: theirs)
  }

  /// Gives the file of an object a second name here, or writes the object when it has no file.
  private func copy(_ id: ObjectID, from theirs: Repository) throws {
    if id == .emptyTree { return }
    let path = Self.path(of: id)
    if link(theirs.gitFolder + path, folder + "/.git" + path) == 0 || errno == EEXIST { return }
    let object = try theirs.object(id)
    _ = try notebook.repository.write(object.kind, object.data)
  }

  private func isLoose(_ id: ObjectID) -> Bool {
    access(folder + "/.git" + Self.path(of: id), F_OK) == 0
  }

  private static func path(of id: ObjectID) -> String {
    let hex = id.hex
    return "/objects/\(hex.prefix(2))/\(hex.dropFirst(2))"
  }
}
