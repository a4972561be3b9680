internal import Git
internal import History
internal import Merge
internal import Notebook

/// The hub's branch for a notebook, as far as this device knows it. notes-hub(7), "The branch".
struct HubBranch {
  /// The branch's name at the hub: the notebook's branch, or the twin name.
  private(set) var name: String
  private(set) var tip: ObjectID?
  /// The tip of the twin, if both branches exist: it is merged, and moved together with the other.
  private(set) var twinTip: ObjectID?

  private let hub: Hub
  private let notebook: Notebook
  private let transfer: Transfer

  private var repository: Repository { notebook.repository }

  // git's default branch is called main or master, depending on its version and settings.
  private static let twins = ["main": "master", "master": "main"]
  /// The name that is kept if a hub has both.
  private static let kept = "main"

  /// Throws `HubError.noBranch`.
  init(at hub: Hub, of notebook: Notebook, by transfer: Transfer) throws {
    guard let branch = try notebook.repository.head().branch else { throw HubError.noBranch }
    (name, self.hub, self.notebook, self.transfer) = (branch, hub, notebook, transfer)
  }

  /// The twin's name, if the name has one.
  var twin: String? { Self.twins[name] }
  var isTwinBehind: Bool { twinTip.map { $0 != tip } ?? false }
  /// The tips by the names of their branches.
  var tips: [String: ObjectID] {
    var tips: [String: ObjectID] = [:]
    tips[name] = tip
    if let twin { tips[twin] = twinTip }
    return tips
  }

  /// The versions that the hub shows with its branch.
  var shown: Shown {
    get throws {
      guard let tip else { return Shown(tip: nil, heads: []) }
      // If the tip is not here yet, it is unknown whether it is a merge.
      var heads =
        try repository.contains(tip) ? DerivedMerge.advertisedHeads(of: tip, in: repository) : [tip]
      if let twinTip, twinTip != tip, !heads.contains(twinTip) { heads.append(twinTip) }
      return Shown(tip: tip, heads: heads.sorted())
    }
  }

  // MARK: The recorded state

  /// The branch's commit at the last visit.
  var former: ObjectID? { get throws { try repository.reference(remembered(name)) } }

  /// Whether the hub had both branches at the last visit.
  var hadTwin: Bool {
    get throws { try twin.map { try repository.reference(remembered($0)) != nil } ?? false }
  }

  private func remembered(_ branch: String) -> String { "refs/remotes/\(hub.name)/\(branch)" }

  // MARK: The state at the hub now

  /// Fetches the present commit, and the references below these folders. The known commits are here with all
  /// their history.
  ///
  /// - Returns: the names of both branches if devices began with different names and neither branch contains the
  ///   other.
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

  /// Decides which of two fetched branches is the notebook's. Returns the branch to keep and the one to merge
  /// into it, if both have versions and these differ; otherwise nil.
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
    // If one contains the other, this is no split: a push without a fetch moves only one branch.
    if try isAncestor(joined, of: tip) || isAncestor(tip, of: joined) { return nil }
    return (name, Self.twins[name] ?? "")
  }

  /// Records for the next visit whether the hub has both branches, by a reference for the twin. The replica records the
  /// commit of the notebook's branch.
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
    // If the descendant's history is complete here, its ancestors are here.
    return try repository.contains(ancestor) && repository.isAncestor(ancestor, of: descendant)
  }

  // MARK: Pushing

  /// Records that this version was pushed.
  mutating func moved(to version: ObjectID) {
    tip = version
    if twinTip != nil { twinTip = version }
  }

  /// Records that the branch has not moved since the last visit.
  mutating func stayed(at former: ObjectID) { tip = former }

  /// Makes sure that a clone of the hub gets the first pushed version. If the hub's HEAD names another
  /// branch and cannot be changed, the version is pushed under both names.
  mutating func offerToClone(_ version: ObjectID) throws {
    // A failure matters only to later clones: the hub already has the notes.
    let isShown = try? HubVisit.talking { try transfer.show(name, at: hub.url) }
    guard isShown == false, let twin else { return }
    _ = try HubVisit.talking { try transfer.push(version, to: twin, at: hub.url) }
    twinTip = version
  }
}
