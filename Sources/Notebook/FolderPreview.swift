public import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// The files that the first save of a folder would add: notes-init(1).
public struct FolderPreview: Sendable {
  /// The number of notes.
  public private(set) var notes = 0
  /// The number of other files.
  public private(set) var files = 0
  /// The total size of the files in bytes.
  public private(set) var bytes = 0
  /// How many files of the repository's last version the save would delete.
  public private(set) var deleted = 0
  /// Files that look like keys or credentials, by path.
  public private(set) var secrets: [TreePath] = []
  /// The branch and commit of the folder's repository; nil if the folder is not a repository.
  public let head: Head?

  /// Scans a folder, which need not exist. Without a repository, `.gitignore` files still apply.
  public init(of folder: String) throws {
    let hasRepository = Counted.access(folder + "/.git/HEAD", F_OK) == 0
    let repository = hasRepository ? try Repository.open(at: folder) : nil
    try repository?.checkForm()
    head = try repository?.head()
    guard Counted.access(folder, F_OK) == 0 else { return }
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    if let repository {
      let workTree = WorkTree(folder: folder, repository: repository)
      let (changed, gone) = try Self.differences(of: workTree, from: head)
      deleted = gone
      for path in changed { add(path, root: root, limit: workTree.sizeLimit) }
    } else {
      let listing = try FolderListing(folder: folder) { path, _ in SkipRules.isHidden(path) }
      for path in listing.files.sorted()
      where !SkipRules.isHidden(path) && !WorkTree.isDebris(path) {
        add(path, root: root, limit: SkipRules.defaultSizeLimit)
      }
    }
  }

  /// The differences of the folder and the index from the last version, and the number of files that they
  /// lack.
  private static func differences(
    of workTree: WorkTree, from head: Head?
  ) throws -> (changed: [TreePath], gone: Int) {
    let repository = workTree.repository
    let tree = try head?.commit.map { try repository.commit($0).tree }
    let known = Dictionary(
      try tree.map { try repository.files(in: $0) }?.map { ($0.path, $0.entry.id) } ?? []
    ) { first, _ in first }
    let staged = try workTree.indexFile().entries
    let unsaved = try workTree.changes().changes
    let removed = Set(unsaved.filter { $0.kind == .deleted }.map(\.path))
    let present = Set(staged.map(\.path)).subtracting(removed)
    let changed =
      staged.filter { known[$0.path] != $0.id && !removed.contains($0.path) }.map(\.path)
      + unsaved.filter { $0.kind != .deleted }.map(\.path)
    return (Set(changed).sorted(), known.keys.count { !present.contains($0) })
  }

  private mutating func add(_ path: TreePath, root: Int32, limit: Int) {
    var status = stat()
    guard Counted.fstatat(root, path.cString, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
    else { return }
    if path.isNote { notes += 1 } else { files += 1 }
    bytes += Int(status.st_size)
    if Self.isSecret(path, size: Int(status.st_size), root: root) { secrets.append(path) }
  }

  // MARK: Keys and credentials

  private static let secretNames: Set<String> = [
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", "credentials.json", "secrets.json",
    "wallet.dat", ".netrc", ".pgpass", ".htpasswd",
  ]
  private static let secretSuffixes = [
    ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".ovpn",
  ]
  private static let secretBeginnings = ["-----BEGIN ", "PuTTY-User-Key-File", "SSH PRIVATE KEY"]

  /// Whether a file has a name that keys and credentials usually have.
  static func hasSecretName(_ path: TreePath) -> Bool {
    let name = path.name.description.lowercased()
    return secretNames.contains(name)
      || secretSuffixes.contains { name.hasSuffix($0) && name != $0 }
  }

  /// Whether a file has a name that keys and credentials usually have, or is text that begins like a
  /// private key.
  static func isSecret(_ path: TreePath, size: Int, root: Int32) -> Bool {
    if hasSecretName(path) { return true }
    guard !path.isNote, (40...(1 << 16)).contains(size) else { return false }
    let file = Counted.openat(root, path.cString, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: 64)
    let count = read(file, &start, start.count)
    guard count > 0 else { return false }
    let text = String(decoding: start.prefix(count), as: UTF8.self)
    return secretBeginnings.contains(where: text.hasPrefix)
      && (!text.hasPrefix("-----") || text.contains("PRIVATE KEY"))
  }
}
