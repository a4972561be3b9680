internal import CLinux
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import Synchronization
internal import System
internal import WorkTree

/// The thread of a watched notebook: the only one that saves and merges. An instance belongs to it.
final class NotebookLoop {
  private let owner: WatchedNotebook
  private var notebook: Notebook?
  private var events: FolderEvents?
  private var unsettled = UnsettledPaths()
  private var pace = VersionPace()
  private var nextLook = Instant.now
  private var isStopped = false
  private var isDeletionRefused: Bool {
    get { owner.isDeletionRefused.load(ordering: .relaxed) }
    set { owner.isDeletionRefused.store(newValue, ordering: .relaxed) }
  }
  /// Whether it was reported that a git operation is in progress.
  private var isWaitingForGit = false
  private var openNotes = OpenNotes()
  private var changesUntilGC = 0
  /// The claims of the founder's place at the last look, without their days; nil before the first.
  private var claims: Set<[String]>?

  /// Seconds between scans of the whole folder, which happen even without events.
  static let net = 600.0
  static let netWithoutWatches = 20.0
  /// How often a removed folder is looked for, in seconds.
  static let absence = 2.0
  /// How long after a failure to try again, in seconds.
  static let retry = 5.0
  static let versionsBetweenGC = 50
  /// The number of paths from which the whole folder is scanned instead.
  static let manyPaths = 2_000

  init(_ owner: WatchedNotebook) { self.owner = owner }

  func run() {
    while !isStopped {
      if events == nil { begin() }
      work()
      if isStopped { return }
      Poll.wait(
        for: [owner.jobs.bell.descriptor] + (events.map { [$0.descriptor] } ?? []), until: nextWake)
    }
  }

  private var nextWake: Instant {
    guard events != nil, let due = unsettled.next else { return nextLook }
    return min(nextLook, max(due, pace.earliest(.now)))
  }

  // MARK: The folder

  private func begin() {
    guard nextLook.hasPassed else { return }
    do {
      let notebook = try owner.context.notebook()
      let events = try FolderEvents(of: notebook)
      notebook.earlyNotice = { [owner] version in
        owner.sessions.show(early: version)
      }
      notebook.saveNotice = { [owner] news in
        owner.emit(.saveNews(notebook: owner.notebookID, news: news))
      }
      notebook.workTree.toldReading = { [weak self] in self?.events?.reading(of: $0) }
      let wasAway = self.notebook != nil
      if claims == nil { try reportClaims() }
      self.notebook = notebook
      self.events = events
      nextLook = .now
      if wasAway { owner.emit(.folder(notebook: owner.notebookID, isThere: true)) }
      if events.isIncomplete {
        owner.emit(.watchLimit(notebook: owner.notebookID, interval: Self.netWithoutWatches))
      }
    } catch {
      if notebook == nil || !(error is NotebookError || error is WorkTreeError) {
        owner.emit(.notebookFailed(notebook: owner.notebookID, cause: Cause(error)))
      }
      nextLook = .now + Self.absence
    }
  }

  /// Events were lost, so the paths of the watches may be wrong: a folder may have been renamed.
  private func watchAnew() {
    nextLook = .now
    events = nil
    do {
      events = try notebook.map(FolderEvents.init(of:))
    } catch {
      leave()
    }
  }

  private func leave() {
    events = nil
    unsettled.removeAll()
    nextLook = .now + Self.absence
    owner.emit(.folder(notebook: owner.notebookID, isThere: false))
  }

  // MARK: Work

  private func work() {
    readEvents()
    for job in owner.jobs.takeAll() { carryOut(job) }
    guard events != nil else { return }
    let now = Instant.now
    if now >= nextLook {
      lookAtEverything()
    } else if now >= pace.earliest(now) {
      let ready = unsettled.ready(now).filter { pace.earliest(for: $0, now) <= now }
      if !ready.isEmpty { save(ready) }
      // Paths that were saved too recently wait.
      for path in unsettled.ready(now) {
        let earliest = pace.earliest(for: path, now)
        if earliest > now { unsettled.postpone([path], until: earliest) }
      }
    }
  }

  private func readEvents() {
    guard let events else { return }
    let now = Instant.now
    for event in events.read() {
      switch event {
      case .written(let path): unsettled.complete(path, now)
      case .writing(let path): unsettled.writing(path, now)
      case .gone(let path): unsettled.gone(path, now)
      case .renamed(let former, let path):
        unsettled.complete(former, now)
        unsettled.complete(path, now)
      case .folder(let path): unsettled.folder(path, now)
      case .editorLock(let path, let isThere):
        openNotes.setLock(on: path, isThere)
        tellEditing()
      case .history:
        rewritePortably()
        owner.sessions.look()
      case .membership: membershipChanged()
      case .addresses: owner.emit(.addressesChanged(notebook: owner.notebookID))
      case .everything: return watchAnew()
      case .away: return leave()
      }
    }
  }

  // MARK: Requests from other threads

  private func carryOut(_ job: WatchedNotebook.Job) {
    switch job {
    case .stop: isStopped = true
    case .rest: notebook?.repository.close()
    case .look: nextLook = .now
    case .setEdited(let paths, let isOpen):
      openNotes.setEdited(paths, isOpen)
      tellEditing()
    case .currentState(let reply): reply.put(Result { try currentState() })
    case .merge(let heads, let peer, let reply):
      reply.put(Result { try merge(heads, from: peer) })
    }
  }

  private func currentState() throws -> NotebookState {
    let notebook = try open()
    saveAllSettled()
    rewritePortably()
    return try notebook.state()
  }

  private func open() throws -> Notebook {
    guard let notebook, events != nil else { throw WatchError.folderAway(owner.context.folder) }
    return notebook
  }

  private func merge(_ heads: [ObjectID], from peer: PeerIdentity) throws -> MergeOutcome {
    let notebook = try open()
    readEvents()
    // Edits until now are saved first; if a file is still being written, the checkout compares it
    // during the swap.
    let scope = SaveScope.only(unsettled.ready(.now))
    let before = notebook.repository.identityOnDisk
    var options = MergeOptions(scope: scope)
    options.bringsOver = peer.isHub
    let result = try notebook.merge(heads, options: options)
    // The watches are on the repository from before a forgetting.
    if notebook.repository.identityOnDisk != before { watchAnew() }
    if case .only(let paths) = scope { unsettled.remove(paths) }
    events?.hold(result.changes.lazy.filter { $0.kind == .modified }.map(\.path))
    owner.sessions.lookAtMerged()
    countTowardsGC()
    return result
  }

  private func tellEditing() { owner.sessions.send(editing: openNotes.paths) }

  // MARK: Saving

  /// Saves everything that is ready, regardless of the pace, for a session that begins.
  private func saveAllSettled() {
    readEvents()
    if Instant.now >= nextLook { return lookAtEverything() }
    let ready = unsettled.ready(.now)
    if !ready.isEmpty { save(ready) }
  }

  private func save(_ paths: Set<TreePath>) {
    if paths.count > Self.manyPaths { return lookAtEverything() }
    if save(.only(paths)) { pace.saved(paths, .now) }
  }

  private func lookAtEverything() {
    let ready = unsettled.ready(.now)
    nextLook = .now + (events?.isIncomplete == true ? Self.netWithoutWatches : Self.net)
    if notebook?.awaitsVersions == true { nextLook = .now + Self.retry }
    let unsettled = unsettled.all.subtracting(ready)
    if save(unsettled.isEmpty ? .everything : .allBut(unsettled)) { pace.saved(ready, .now) }
    self.unsettled.remove(ready)
  }

  /// Saves; returns true if that made a version. Notes that a power cut damaged are restored at once.
  private func save(_ scope: SaveScope) -> Bool {
    guard let notebook else { return false }
    let paths: Set<TreePath> = if case .only(let paths) = scope { paths } else { [] }
    unsettled.remove(paths)
    // A version that was announced early is on the branch now, or was dropped.
    defer { owner.sessions.look() }
    do {
      guard let result = try notebook.autosave(scope) else { return false }
      (isDeletionRefused, isWaitingForGit) = (false, false)
      events?.release(result.changes.map(\.path))
      events?.hold(result.mergedPaths)
      let cut = result.skipped.filter(\.reason.isPowerLoss).map(\.path)
      if !cut.isEmpty, let (files, version) = try notebook.restoreDamagedFiles(cut) {
        owner.emit(.broughtBack(notebook: owner.notebookID, files: files, version: version))
      }
      guard result.version != nil else { return false }
      owner.emit(.version(notebook: owner.notebookID, saved: result))
      countTowardsGC()
      return true
    } catch NotebookError.massDeletion(let deleted, let total) {
      if !isDeletionRefused {
        owner.emit(.held(notebook: owner.notebookID, deleted: deleted, of: total))
      }
      isDeletionRefused = true
    } catch let error as NotebookError where error.waitsForGit {
      let cause = Cause(error)
      if !isWaitingForGit { owner.emit(.notebookFailed(notebook: owner.notebookID, cause: cause)) }
      isWaitingForGit = true
      nextLook = .now + Self.retry
    } catch {
      owner.emit(.notebookFailed(notebook: owner.notebookID, cause: Cause(error)))
      if Counted.access(StateFolder(ofNotebookIn: owner.context.folder)[.notebook], F_OK) != 0 {
        leave()
      } else if paths.isEmpty {
        nextLook = .now + Self.retry
      } else {
        unsettled.postpone(paths, until: .now + Self.retry)
      }
    }
    return false
  }

  /// Rewrites foreign commits on the branch before any device receives them.
  private func rewritePortably() {
    if isWaitingForGit { return }
    do {
      if let plain = try notebook?.rewritePortably() {
        owner.emit(.replaced(plain, notebook: owner.notebookID))
      }
    } catch {
      owner.emit(.notebookFailed(notebook: owner.notebookID, cause: Cause(error)))
    }
  }

  private func membershipChanged() {
    do {
      try owner.context.membership.refresh()
      owner.sessions.endOutdated()
      owner.sessions.endAll(.done) { !owner.exchanges(with: $0) }
      try reportClaims()
    } catch {
      // A device that cannot read the membership must not exchange with any other.
      owner.sessions.endAll(.done)
      owner.emit(.notebookFailed(notebook: owner.notebookID, cause: Cause(error)))
    }
    owner.emit(.membersChanged(notebook: owner.notebookID))
  }

  /// Reports the claims that are new, or in another state; not those that were there when the watch began.
  private func reportClaims() throws {
    let (membership, own) = (owner.context.membership, owner.context.key.deviceID)
    let present = try ClaimNews.all(in: membership, for: own)
    if let claims {
      for news in present where !claims.contains(news.key) {
        owner.emit(.claim(news, notebook: owner.notebookID))
      }
    }
    claims = Set(present.map(\.key))
  }

  private func countTowardsGC() {
    changesUntilGC -= 1
    guard changesUntilGC <= 0, let notebook else { return }
    changesUntilGC = Self.versionsBetweenGC
    notebook.repository.close()
    malloc_trim(0)  // Frees gaps: 10 MiB after 2,000 versions.
    if notebook.isGarbageCollectionDue {
      owner.emit(.gcDue(notebook: owner.notebookID, folder: notebook.folder))
    }
  }
}
