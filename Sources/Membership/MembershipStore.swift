internal import Glibc
internal import Synchronization
public import System

/// A notebook's membership on disk: the root, and the growing set of certificates and revocation
/// lists, a file each, named by its SHA-256. No file is changed, so processes that write at the same
/// time do not disturb each other; all calls may come from any thread.
public final class MembershipStore: Sendable {
  /// The folder, usually `.git/notes/membership`.
  public let folder: String
  /// 52 lower-case characters; also a host name for TLS.
  public let notebookID: String
  /// The notebook's name, as its admins call it.
  public var notebookName: String { state.withLock { $0.set.notebookName } }
  /// The root certificate in DER.
  public let root: [UInt8]

  let state: Mutex<State>
  /// Held by whoever changes the set, for as long as it takes to verify and to store. `state` is held
  /// for moments: who asks who is a member does not wait for what a peer sent.
  let changing = Mutex(())

  struct State: Sendable {
    var set: CertificateSet
    /// How many peers' sets are being taken in, or wait for that.
    var merges = 0
    var known: Set<String> = []
    /// Devices that this one exchanges nothing with.
    var blocked: Set<String> = []
    /// This device, if a member said that it is removed.
    var refused: Set<String> = []
  }

  private init(folder: String, set: CertificateSet) {
    self.folder = folder
    notebookID = set.notebookID
    root = set.root.der
    state = Mutex(State(set: set))
  }

  /// Founds a notebook: makes the root with this device's key and the founder's own certificate,
  /// and stores both. `now` is in seconds since 1970. Where the membership of a notebook is begun
  /// anew, the root says of which.
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

  /// Stores what a joining device received, after verifying it. Where the folder holds the same
  /// notebook already, the sets are merged. Throws `certificateRefused` for a bad root, and
  /// `membershipExists` where another notebook is stored.
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

  /// Reads and verifies what is stored. Throws `membershipMissing` where nothing is.
  public static func open(in folder: String) throws -> MembershipStore {
    try open(in: folder, knowing: CertificateSet(root: StoreFolder.root(in: folder)))
  }

  /// Reads what is stored, but verifies nothing that is in `set`.
  private static func open(in folder: String, knowing set: CertificateSet) throws -> MembershipStore
  {
    let store = MembershipStore(folder: folder, set: set)
    try store.refresh()
    try store.finishReplacing()
    // One that a program stored which knew of no signatures.
    if Counted.access(AllowedSigners.path(beside: folder), F_OK) != 0 {
      store.keepAllowedSigners()
    }
    return store
  }

  /// The ID of the notebook whose root this is. Throws `certificateRefused` for what is none.
  public static func notebookID(ofRoot root: [UInt8]) throws -> String {
    try CertificateSet(root: root).notebookID
  }

  /// Takes in what other processes have stored since. Throws `begunAnew` where another membership
  /// has taken the place of this one: whoever goes on with the old one would let in whom the new
  /// one is to keep out.
  public func refresh() throws { try changing.withLock { _ in try readChanges() } }

  /// The same; while a peer's set is being taken in, what was stored meanwhile waits for that.
  func refreshUnlessMerging() throws {
    if state.withLock({ $0.merges > 0 }) { return try readOwnChoices() }
    try refresh()
  }

  /// Reads the decisions of this device alone.
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

  /// Takes in what other processes have stored since. Called with `changing` held.
  func readChanges() throws {
    try readOwnChoices()
    var (set, known) = state.withLock { ($0.set, $0.known) }
    let files = try StoreFolder.files(in: folder).subtracting(known)
    if files.isEmpty { return }
    _ = try set.insert(
      certificates: StoreFolder.read(.certificate, among: files, in: folder),
      revocationLists: StoreFolder.read(.revocationList, among: files, in: folder))
    state.withLock { state in
      state.set = set
      state.known.formUnion(files)
    }
  }

  /// All certificates but the root, in DER, sorted.
  public var certificates: [[UInt8]] { sorted(state.withLock { $0.set.issued.map(\.der) }) }

  /// All revocation lists in DER, sorted.
  public var revocations: [[UInt8]] { sorted(state.withLock { $0.set.revocationLists.map(\.der) }) }

  /// SHA-256 over everything known: two devices with equal digests have nothing to tell each other.
  public func digest() throws -> [UInt8] {
    let encodings = state.withLock { $0.set.encodings }
    return try OpenSSL.sha256(sorted(encodings.map(OpenSSL.sha256)).flatMap { $0 })
  }

  /// How many certificates of members and how many revoked serial numbers that are known here are among these. A set
  /// only grows, so an older one has no more of them; nil where more than half is known of what a set may have, as
  /// a part is kept of a larger one.
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

  /// Adds what verifies of a peer's set, passes over the rest, and stores it before it returns.
  /// True when something was new.
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
      return isNew
    }
  }

  /// Stores what `set` has more than the present one, certificates first: a role change cut in
  /// half leaves the device with the new role, not without any. Called with `changing` held.
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
