internal import Glibc
internal import Synchronization
public import System

/// A notebook's membership on disk: the root, and the growing set of certificates and revocation lists. Each
/// has a file, named by its SHA-256. Files are never changed, so parallel processes do not interfere. All
/// functions may be called from any thread.
public final class MembershipStore: Sendable {
  /// The folder, usually `.git/notes/membership`.
  public let folder: String
  /// 52 lower-case characters; also a host name for TLS.
  public let notebookID: String
  /// The notebook's name, given by its admins.
  public var notebookName: String { state.withLock { $0.set.notebookName } }
  /// The root certificate in DER.
  public let root: [UInt8]

  let state: Mutex<State>
  /// Held while the set is changed, for the time of verification and storage. `state` is held only
  /// for moments: a question about members does not wait for items from a peer.
  let changing = Mutex(())
  /// Held while a device is admitted by an invitation.
  let admitting = Mutex(())

  struct State: Sendable {
    var set: CertificateSet
    /// How many peers' sets are being merged, or wait for that.
    var merges = 0
    var known: Set<String> = []
    /// Devices that this one has blocked.
    var blocked: Set<String> = []
    /// This device's ID, if a member said that it was removed.
    var refused: Set<String> = []
  }

  private init(folder: String, set: CertificateSet) {
    self.folder = folder
    notebookID = set.notebookID
    root = set.root.der
    state = Mutex(State(set: set))
  }

  /// Founds a notebook: makes the root with this device's key and the founder's own certificate,
  /// and stores both. `now` is in seconds since 1970. If a notebook's membership is started over,
  /// the root names that notebook.
  public static func found(
    in folder: String, notebookName: String, deviceName: String, key: DeviceKey,
    continuing old: MembershipStore? = nil, now: Int64 = WallClock.now()
  ) throws -> MembershipStore {
    try refuse {
      try Certificate.checkName(notebookName)
      try Certificate.checkName(deviceName)
    }
    let root = try Certificate.root(
      notebookName: notebookName, key: key, continuing: old?.state.withLock { $0.set.root },
      now: now)
    let own = try Certificate.member(
      name: deviceName, role: .admin, publicKey: key.publicKey, issuer: root, signedWith: key,
      now: now)
    return try install(in: folder, root: root.der, certificates: [own.der], revocations: [])
  }

  /// Stores the items that a joining device received, after verifying them. If the folder already
  /// has the same notebook, the sets are merged. Throws `certificateRefused` for an invalid root,
  /// and `membershipExists` if another notebook is stored.
  public static func install(
    in folder: String, root: [UInt8], certificates: [[UInt8]], revocations: [[UInt8]]
  ) throws -> MembershipStore {
    var set = try CertificateSet(root: root)
    if Counted.access(folder, F_OK) == 0 {
      let store = try open(in: folder)
      if store.root != root { throw MembershipError.membershipExists(notebookID: store.notebookID) }
      _ = try store.merge(certificates: certificates, revocations: revocations)
      return store
    }
    _ = try set.insert(certificates: certificates, revocationLists: revocations)
    try StoreFolder.create(folder, set: set)
    let store = try open(in: folder, knowing: set)
    store.keepAllowedSigners()
    return store
  }

  /// Reads and verifies the stored membership, except for what this process has verified. Throws `membershipMissing`
  /// if there is none.
  public static func open(in folder: String) throws -> MembershipStore {
    let root = try StoreFolder.root(in: folder)
    let live = opened.withLock { $0[folder]?.store }
    let known = live.flatMap { $0.root == root ? $0.state.withLock(\.set) : nil }
    return try open(in: folder, knowing: known ?? CertificateSet(root: root))
  }

  /// The store that this process last opened for each folder.
  private static let opened = Mutex<[String: Opened]>([:])

  private struct Opened: Sendable { weak var store: MembershipStore? }

  /// Reads the stored membership without verifying items that are in `set`.
  private static func open(in folder: String, knowing set: CertificateSet) throws -> MembershipStore
  {
    let store = MembershipStore(folder: folder, set: set)
    try store.refresh()
    try store.finishReplacing()
    opened.withLock { opened in
      opened = opened.filter { $0.value.store != nil }
      opened[folder] = Opened(store: store)
    }
    // The membership was stored by a program version without signatures.
    if Counted.access(AllowedSigners.path(beside: folder), F_OK) != 0 {
      store.keepAllowedSigners()
    }
    return store
  }

  /// The ID of the notebook with this root. Throws `certificateRefused` if the root is invalid.
  public static func notebookID(ofRoot root: [UInt8]) throws -> String {
    try CertificateSet(root: root).notebookID
  }

  /// Merges the items that other processes have stored since. Throws `begunAnew` if another membership has
  /// replaced this one: with the old one, this process would accept devices that the new one excludes.
  public func refresh() throws { try changing.withLock { _ in try readChanges() } }

  /// Like `refresh`, but while a peer's set is being merged, it reads only this device's own decisions.
  func refreshUnlessMerging() throws {
    if state.withLock({ $0.merges > 0 }) { return try readOwnChoices() }
    try refresh()
  }

  /// Reads this device's own decisions.
  private func readOwnChoices() throws {
    let root = try StoreFolder.root(in: folder)
    if root != self.root {
      throw MembershipError.begunAnew(notebookID: try Self.notebookID(ofRoot: root))
    }
    try state.withLock { state in
      state.blocked = try DeviceList.blocked.read(in: folder)
      state.refused = try DeviceList.refused.read(in: folder)
    }
  }

  /// Merges the items that other processes have stored since. Called with `changing` held.
  func readChanges() throws {
    try readOwnChoices()
    var (set, known) = state.withLock { ($0.set, $0.known) }
    let files = try StoreFolder.files(in: folder).subtracting(known)
    if !files.isEmpty {
      _ = try set.insert(
        certificates: StoreFolder.read(.certificate, among: files, in: folder),
        revocationLists: StoreFolder.read(.revocationList, among: files, in: folder))
      state.withLock { state in
        state.set = set
        state.known.formUnion(files)
      }
    }
    try lookAtClaims(hears: false)
  }

  /// The time by which the wait of claims is counted.
  static func clock() -> Int64 { fixedTime ?? WallClock.now() }

  /// A time in place of the clock's, for tests.
  @TaskLocal static var fixedTime: Int64?

  /// All certificates except the root, in DER, sorted.
  public var certificates: [[UInt8]] { sorted(state.withLock { $0.set.issued.map(\.der) }) }

  /// All revocation lists in DER, sorted.
  public var revocations: [[UInt8]] { sorted(state.withLock { $0.set.revocationLists.map(\.der) }) }

  /// The SHA-256 of everything known: two devices with equal digests have nothing to exchange.
  public func digest() throws -> [UInt8] {
    let encodings = state.withLock { $0.set.encodings }
    return try OpenSSL.sha256(sorted(encodings.map(OpenSSL.sha256)).flatMap { $0 })
  }

  /// How many of the known certificates of members and revoked serial numbers are among these. A set only grows,
  /// so an older set never gives a higher number than a newer one. Nil if the known set is more than half of the
  /// limit, as only a part of a larger set is kept.
  public func extent(certificates: [[UInt8]], revocations: [[UInt8]]) throws -> Int? {
    let set = state.withLock { $0.set }
    guard set.certificates.count <= CertificateSet.maximumCertificates / 2,
      set.revocationLists.count <= CertificateSet.maximumRevocationLists / 2
    else { return nil }
    let known = Set(set.certificates.map(\.der))
    let lists = Dictionary(
      set.revocationLists.map { ($0.der, $0) }, uniquingKeysWith: { first, _ in first })
    let revoked = Set(set.revocationLists.flatMap(\.entries.keys))
    var serials: Set<[UInt8]> = []
    for der in revocations {
      let list = try lists[der] ?? CertificateSet.unlessRefused { try RevocationList(der: der) }
      serials.formUnion((list?.entries.keys).map { $0.filter(revoked.contains) } ?? [])
    }
    return certificates.count { known.contains($0) } + serials.count
  }

  private func sorted(_ values: [[UInt8]]) -> [[UInt8]] {
    values.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Adds the valid items of a peer's set, ignores the rest, and stores the additions before it
  /// returns. Returns true if something was new.
  public func merge(certificates: [[UInt8]], revocations: [[UInt8]]) throws -> Bool {
    let present = state.withLock { $0.set }
    if try present.unknown(certificates).isEmpty && present.unknown(revocations).isEmpty {
      try refreshUnlessMerging()
      return false
    }
    state.withLock { $0.merges += 1 }
    defer { state.withLock { $0.merges -= 1 } }
    return try changing.withLock { _ in
      try readChanges()
      var set = state.withLock { $0.set }
      let isNew = try set.insert(certificates: certificates, revocationLists: revocations)
      if isNew { try save(set) }
      try record(set.secondHandovers)
      if isNew { try lookAtClaims(hears: false) }
      return isNew
    }
  }

  /// Stores the items of `set` that are new, certificates first: if a role change is interrupted,
  /// the device has the new role, and not none. Called with `changing` held.
  func save(_ set: CertificateSet) throws {
    let before = state.withLock { $0.set }
    let certificates = set.issued.subtracting(before.issued).map(\.der)
    let lists = set.revocationLists.subtracting(before.revocationLists).map(\.der)
    let files =
      try StoreFolder.write(.certificate, certificates, in: folder)
      + StoreFolder.write(.revocationList, lists, in: folder)
    state.withLock { state in
      state.set = set
      state.known.formUnion(files)
    }
    for list in before.revocationLists.subtracting(set.revocationLists) {
      try StoreFolder.remove(.revocationList, list.der, in: folder)
    }
    for certificate in before.issued.subtracting(set.issued) {
      try StoreFolder.remove(.certificate, certificate.der, in: folder)
    }
    if !certificates.isEmpty { keepAllowedSigners() }
  }

  static func refuse<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch CertificateDefect.name(let defect) {
      throw MembershipError.nameRefused(defect)
    } catch let defect as CertificateDefect {
      throw MembershipError.certificateRefused(defect)
    }
  }
}
