public import Git
internal import System

/// The reason why a file in the folder is not versioned, or a versioned file is not in the folder.
public enum SkipReason: Hashable, Codable, Sendable {
  case symbolicLink
  /// A socket, a pipe or a device.
  case specialFile
  /// The file has this size in bytes, which is over the limit.
  case tooLarge(size: Int)
  /// The file could not be read, with this error number.
  case unreadable(errno: Int32)
  /// A folder with a separate repository.
  case nestedRepository
  /// Every device refuses the file's name, for this reason.
  case unfitName(why: String)
  /// git converts it, so the file in the folder differs from the blob that git would store.
  case converted(by: Conversion)
  /// The file kept changing while it was read; a later save includes it.
  case changing
  /// The file is versioned, but the file system refuses its name, or treats it as equal to another note's.
  case sparse
  /// The file is versioned, but this obstacle keeps it out of the folder.
  case obstructed(by: Obstacle)
  /// Another device deleted the file, but it cannot be removed from the folder.
  case deletedElsewhere(by: Obstacle)
  /// The file is versioned, but a power cut damaged it in the folder.
  case cut(DamageKind)
  /// The file is versioned and was left out of the folder. Nothing prevents it any longer: the next save writes
  /// it.
  case waiting

  /// Whether versions include the file, and only the folder lacks it.
  public var isVersioned: Bool {
    switch self {
    case .sparse, .obstructed, .waiting: true
    default: false
    }
  }

  /// Whether git converts the file.
  public var isConverted: Bool { if case .converted = self { true } else { false } }

  /// Whether a save would store the file's content if it could.
  public var isUnsaved: Bool {
    switch self {
    case .tooLarge, .unreadable, .unfitName, .changing, .converted, .cut: true
    case .obstructed(let obstacle): obstacle.kind == .tooLarge || obstacle.kind == .converted
    default: false
    }
  }

  /// Whether a power cut damaged the file.
  public var isPowerLoss: Bool { if case .cut = self { true } else { false } }
}

/// A file that is not versioned, or not in the folder, and why.
public struct SkippedFile: Hashable, Codable, Sendable {
  /// The file's path in the folder, or the path that it would have; a folder's path if everything in it
  /// is left out.
  public let path: TreePath
  /// The reason why the file is skipped.
  public let reason: SkipReason

  package init(path: TreePath, reason: SkipReason) {
    self.path = path
    self.reason = reason
  }
}

/// The rules for files that are never notes.
public enum SkipRules {
  /// The largest file that is versioned, in bytes: 50 MiB, the size up to which git hosts accept
  /// files without a warning.
  public static let defaultSizeLimit = 50 << 20

  /// Whether a name is one that editors and desktops leave behind: backups, swap and lock files,
  /// half-written files (notes-merge(7), "Files that are not versioned").
  package static func isDebris(_ name: [UInt8]) -> Bool {
    name.isEmpty || names.contains(name) || isSwapFile(name)
      || prefixes.contains { name.starts(with: $0) } || suffixes.contains { name.hasSuffix($0) }
      || frames.contains { name.starts(with: $0) && name.hasSuffix([UInt8(ascii: "#")]) }
  }

  /// Whether a file or folder is hidden, or in a hidden folder. Files that tell git how to treat others
  /// do not count as hidden.
  package static func isHidden(_ path: TreePath) -> Bool {
    let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
    let bytes = path.bytes
    let start = bytes.indices.first { bytes[$0] == dot && ($0 == 0 || bytes[$0 - 1] == slash) }
    guard let start else { return false }
    return !gitSettings.contains(Array(bytes[start...]))
  }

  private static let gitSettings = utf8(".gitignore", ".gitattributes", ".gitkeep", ".keep")
  // The file with which vim tests a folder's permissions, and the desktops' own files.
  private static let names = utf8("4913", ".DS_Store", "Thumbs.db", "desktop.ini")
  // Emacs' locks; half-written files of the desktop; deleted files that are still open, on FUSE and
  // NFS.
  private static let prefixes = utf8(".#", ".goutputstream-", ".fuse_hidden", ".nfs0")
  // Backups (vim, emacs, nano, gedit), and half-written files of tools that rename when done.
  private static let suffixes = utf8("~", ".tmp", ".part", ".crdownload")
  // Names that also end in `#`: emacs' autosaves, LibreOffice's locks.
  private static let frames = utf8("#", ".~lock.")

  private static func utf8(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  /// vim: `.NAME.swp` and its successors `.swo`, `.swx`, ...
  private static func isSwapFile(_ name: [UInt8]) -> Bool {
    guard name.count > 5, name[0] == UInt8(ascii: "."), let last = name.last else { return false }
    return name.dropLast().hasSuffix(Array(".sw".utf8))
      && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(last)
  }
}

extension BidirectionalCollection<UInt8> {
  fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
    reversed().starts(with: suffix.reversed())
  }
}
