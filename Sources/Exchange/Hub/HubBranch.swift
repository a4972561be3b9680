internal import Git
internal import History
internal import Merge
internal import Notebook

/// The branch of a hub that a notebook meets others on: what it holds, as far as is known here.
/// notes-hub(7), "The branch".
struct HubBranch {
  /// Its name there: as in this notebook, or its twin's.
  private(set) var name: String
  private(set) var tip: ObjectID?
  /// The tip of the twin, if both are there: it is joined, and goes along with the other one.
  private(set) var twinTip: ObjectID?

  private let hub: Hub
  private let notebook: Notebook
  private let transfer: Transfer

  private var repository: Repository { notebook.repository }

  // A notebook is on one branch, which git calls by one name or by the other.
  private static let twins = ["main": "master", "master": "main"]
  /// The one that stays where a hub has both.
  private static let kept = "main"

  /// Throws `HubError.noBranch`.
  init(at hub: Hub, of notebook: Notebook, by transfer: Transfer) throws {
    guard let branch = try notebook.repository.head().branch else { throw HubError.noBranch }
    (name, self.hub, self.notebook, self.transfer) = (branch, hub, notebook, transfer)
  }

  /// The other name that it may have.
  var twin: String? { Self.twins[name] }
  var isTwinBehind: Bool { twinTip.map { $0 != tip } ?? false }
  /// The tips by the names of their branches.
  var tips: [String: ObjectID] {
    var tips: [String: ObjectID] = [:]
    tips[name] = tip
    if let twin { tips[twin] = twinTip }
    return tips
  }

  /// The versions that the hub shows by it.
  var shown: Shown {
    get throws {
      guard let tip else { return Shown(tip: nil, heads: []) }
      // Of one that is not here yet it shows when it has come whether it is a merge.
      var heads =
        try repository.contains(tip) ? DerivedMerge.advertisedHeads(of: tip, in: repository) : [tip]
      if let twinTip, twinTip != tip, !heads.contains(twinTip) { heads.append(twinTip) }
      return Shown(tip: tip, heads: heads.sorted())
    }
  }

  // MARK: The remembered state

  /// Its commit at the last visit.
  var former: ObjectID? { get throws { try repository.reference(remembered(name)) } }

  /// Whether the hub had both branches at the last visit.
  var hadTwin: Bool {
    get throws { try twin.map { try repository.reference(remembered($0)) != nil } ?? false }
  }

  private func remembered(_ branch: String) -> String { "refs/remotes/\(hub.name)/\(branch)" }

  // MARK: The state at the hub now

  /// Fetches what it holds now, and the references below these folders. The known commits are here with all their
  /// history.
  ///
  /// - Returns: the names of both branches where one device began on the one and another on the other,
  ///   and neither leads to the other.
  mutating func fetch(
    beside folders: [String], known: [ObjectID], limits: PackLimits,
    onProgress: (GitProgress) -> Void
  ) throws -> (kept: String, joined: String)? {
    let asked = name
    tip = try transfer.fetch(
      name, twin: twin, from: hub.url, known: known, beside: folders, limits: limits,
      onProgress: onProgress)
    let split = try settle()
    try rememberTwin(of: asked)
    return split
  }

  /// Which of two branches is the notebook's there: it has one history, and it goes where it is.
  private mutating func settle() throws -> (kept: String, joined: String)? {
    twinTip = nil
    guard let twin, let other = transfer.branch(named: twin) else { return nil }
    guard let present = tip else {
      (name, tip) = (twin, other)
      return nil
    }
    if name == Self.kept {
      twinTip = other
    } else {
      (name, tip, twinTip) = (twin, other, present)
    }
    guard let tip, let joined = twinTip, joined != tip else { return nil }
    // A push without a look moves one of them alone.
    if try isAncestor(joined, of: tip) || isAncestor(tip, of: joined) { return nil }
    return (name, Self.twins[name] ?? "")
  }

  /// Keeps whether the hub has both branches, for the next visit. The notebook's own is kept by the
  /// replica.
  private func rememberTwin(of asked: String) throws {
    guard let twin = Self.twins[asked] else { return }
    let reference = remembered(twin)
    if twinTip != nil, let tip, try repository.contains(tip) {
      try notebook.setDeviceReference(reference, to: tip, message: "notes: sync")
    } else if twinTip == nil, try repository.reference(reference) != nil {
      try notebook.forgetDeviceReference(reference)
    }
  }

  func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    guard try repository.contains(descendant) else {
      return try transfer.isAncestor(ancestor, of: descendant)
    }
    // The versions that it descends from are here.
    return try repository.contains(ancestor) && repository.isAncestor(ancestor, of: descendant)
  }

  // MARK: Pushing

  /// It holds this version now, which was pushed to it.
  mutating func moved(to version: ObjectID) {
    tip = version
    if twinTip != nil { twinTip = version }
  }

  /// It still holds what it held at the last visit.
  mutating func stayed(at former: ObjectID) { tip = former }

  /// Has whoever clones the hub get it, which nobody had pushed before. A hub that shows another one, and
  /// does not let that be changed, gets it under both names.
  mutating func offerToClone(_ version: ObjectID) throws {
    // For those who clone it later: the notes are there already.
    let isShown = try? HubVisit.talking { try transfer.show(name, at: hub.url) }
    guard isShown == false, let twin else { return }
    _ = try HubVisit.talking { try transfer.push(version, to: twin, at: hub.url) }
    twinTip = version
  }
}
