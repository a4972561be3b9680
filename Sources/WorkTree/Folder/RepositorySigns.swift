internal import Git
internal import Glibc
internal import System

/// The names in a folder that show that it is a repository, whatever its own name is. A bare git repository,
/// such as a hub or a backup, has no `.git` (gitrepository-layout(5)). It changes with every version, so a
/// notebook that versioned it would never stop saving. Repositories of other version control systems and of
/// backup programs are also excluded.
struct RepositorySigns: OptionSet {
  let rawValue: UInt16

  init(rawValue: UInt16) { self.rawValue = rawValue }

  static let head = Self(rawValue: 1)
  static let objects = Self(rawValue: 2)
  static let references = Self(rawValue: 4)
  static let configuration = Self(rawValue: 8)
  static let hooks = Self(rawValue: 16)
  static let information = Self(rawValue: 32)
  static let description = Self(rawValue: 64)
  /// `.git`, its temporary name, or a name that only another version control system's repository
  /// has.
  static let repository = Self(rawValue: 128)
  static let data = Self(rawValue: 256)
  static let keys = Self(rawValue: 512)
  static let snapshots = Self(rawValue: 1024)
  static let index = Self(rawValue: 2048)
  static let archives = Self(rawValue: 4096)
  static let readMe = Self(rawValue: 8192)
  static let locks = Self(rawValue: 16384)

  private static let names: [(name: TreePath, sign: Self)] = [
    ("HEAD", .head), ("objects", .objects), ("refs", .references), ("config", .configuration),
    ("packed-refs", .configuration), ("hooks", .hooks), ("info", .information),
    ("description", .description), (".git", .repository), (".git.new", .repository),
    // Jujutsu, Mercurial, Subversion, Bazaar, Pijul, Darcs, Fossil (two names).
    (".jj", .repository), (".hg", .repository), (".svn", .repository), (".bzr", .repository),
    (".pijul", .repository), ("_darcs", .repository), (".fslckout", .repository),
    ("_FOSSIL_", .repository),
    // Kopia, rdiff-backup.
    ("kopia.repository.f", .repository), ("rdiff-backup-data", .repository), ("data", .data),
  ]
  /// The names that a backup repository of restic or Borg has beside `data`.
  private static let namesBesideData: [(name: TreePath, sign: Self)] = [
    ("keys", .keys), ("snapshots", .snapshots), ("index", .index), ("archives", .archives),
    ("README", .readMe), ("locks", .locks),
  ]

  /// The sign that a name in the folder is; empty for any other name.
  init(name: ArraySlice<UInt8>) {
    let alike = name.first.flatMap { Self.namesByFirstByte[$0] } ?? []
    self = alike.first { name.elementsEqual($0.name.bytes) }?.sign ?? []
  }

  private static let namesByFirstByte = Dictionary(
    grouping: names + namesBesideData, by: { $0.name.bytes.first ?? 0 })

  /// Looks for the signs in a folder, relative to an open one above it.
  init(of folder: TreePath, at root: Int32) {
    self.init()
    look(for: Self.names, in: folder, at: root)
    if contains(.data) { look(for: Self.namesBesideData, in: folder, at: root) }
  }

  private mutating func look(
    for names: [(name: TreePath, sign: Self)], in folder: TreePath, at root: Int32
  ) {
    for (name, sign) in names where !contains(sign) {
      let path = folder.appending(name).cString
      if Counted.faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { insert(sign) }
    }
  }

  /// Whether the folder is a repository, or is about to become one, or is being removed: git makes and
  /// removes the parts one by one.
  private var isRepository: Bool {
    if contains(.repository) || isSuperset(of: [.hooks, .information, .description]) {
      return true
    }
    // A backup by restic, or by Borg since version 2.
    if isSuperset(of: [.data, .keys]),
      isSuperset(of: [.index, .snapshots]) || isSuperset(of: [.archives, .configuration, .locks])
    {
      return true
    }
    switch intersection([.head, .objects, .references]).rawValue.nonzeroBitCount {
    case 3: return true
    case 2: return !isDisjoint(with: [.configuration, .hooks])
    default: return false
    }
  }

  /// Whether a folder, relative to an open one above it, is a repository. If its names could also be in a
  /// folder of notes, the content of `config` decides: Borg before version 2.
  func tellRepository(_ folder: TreePath, at root: Int32) -> Bool {
    if isRepository { return true }
    guard isSuperset(of: [.data, .readMe, .configuration]) else { return false }
    let descriptor = Counted.openat(
      root, folder.appending("config").cString, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.borg.count)
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes == Self.borg
  }

  /// The first bytes of the file `config` in a Borg repository.
  private static let borg = Array("[repository]".utf8)
}
