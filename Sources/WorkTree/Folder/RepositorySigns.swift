internal import Git
internal import Glibc
internal import System

/// What a folder holds that tells a repository, whatever the folder is called: a bare one of git, as a hub
/// or a backup is, has no `.git` (gitrepository-layout(5)). Such a repository changes with every version,
/// so a notebook that versioned it would never come to rest. The files of other systems' repositories are
/// theirs as well.
struct RepositorySigns: OptionSet {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  static let head = Self(rawValue: 1)
  static let objects = Self(rawValue: 2)
  static let references = Self(rawValue: 4)
  static let configuration = Self(rawValue: 8)
  static let hooks = Self(rawValue: 16)
  static let information = Self(rawValue: 32)
  static let description = Self(rawValue: 64)
  /// `.git`, what that is called until it is whole, or what another system has in a working folder.
  static let workingFolder = Self(rawValue: 128)

  private static let names: [(name: TreePath, sign: Self)] = [
    ("HEAD", .head), ("objects", .objects), ("refs", .references), ("config", .configuration),
    ("packed-refs", .configuration), ("hooks", .hooks), ("info", .information),
    ("description", .description), (".git", .workingFolder), (".git.new", .workingFolder),
    // Jujutsu, Mercurial, Subversion, Bazaar, Pijul, Darcs, Fossil (two names).
    (".jj", .workingFolder), (".hg", .workingFolder), (".svn", .workingFolder),
    (".bzr", .workingFolder),
    (".pijul", .workingFolder), ("_darcs", .workingFolder), (".fslckout", .workingFolder),
    ("_FOSSIL_", .workingFolder),
  ]

  /// The sign that a name in the folder is; none for any other.
  init(name: ArraySlice<UInt8>) {
    let isShort = name.count <= Self.longestName
    let known = isShort ? Self.names.first { name.elementsEqual($0.name.bytes) } : nil
    self = known?.sign ?? []
  }

  private static let longestName = 11

  /// Looks for the signs in a folder, as seen from an open one above it.
  init(of folder: TreePath, at root: Int32) {
    self.init()
    for (name, sign) in Self.names where !contains(sign) {
      let path = folder.appending(name).cString
      if Counted.faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { insert(sign) }
    }
  }

  /// Whether the folder is a repository, or is about to become one, or is being removed: git makes and
  /// removes the parts one after the other.
  var isRepository: Bool {
    if contains(.workingFolder) || isSuperset(of: [.hooks, .information, .description]) {
      return true
    }
    switch intersection([.head, .objects, .references]).rawValue.nonzeroBitCount {
    case 3: return true
    case 2: return !isDisjoint(with: [.configuration, .hooks])
    default: return false
    }
  }
}
