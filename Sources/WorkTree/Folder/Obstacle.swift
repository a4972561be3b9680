public import Git
internal import Glibc
internal import System

/// Why a note cannot come to its place in the folder: notes-merge(7), "Notes that are left out of the
/// folder". Whatever it is, that note waits, and all others go on.
public struct Obstacle: Hashable, Codable, Sendable {
  /// The kind of thing in the way.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case symbolicLink, folder, repository, file
    /// A socket, a pipe or a device.
    case special
    /// A file that this device keeps back, by what an ignore file or `.git/info/exclude` says.
    case ignored
    /// A hidden file, or one in a hidden folder, where these are not versioned.
    case hidden
    /// A file that an editor or a desktop left behind.
    case debris
    /// A file above the size limit.
    case tooLarge
    /// Git converts the file, so that what comes is not what the folder has to hold.
    case converted
    /// The file cannot be read, so it is not known what would be replaced.
    case unreadable
    /// The system does not let the file be replaced or made.
    case refused
  }

  /// The path of the obstacle: the note's own, or that of a folder which the note is in.
  public let path: TreePath
  /// The kind of obstacle.
  public let kind: Kind
  /// The error number that the system gave, if that is the reason.
  public let errno: Int32?

  package init(path: TreePath, kind: Kind, errno: Int32? = nil) {
    self.path = path
    self.kind = kind
    self.errno = errno
  }

  /// The obstacle that a skipped file is to a note; nil for a file.
  init?(_ skipped: SkippedFile) {
    switch skipped.reason {
    case .symbolicLink: self.init(path: skipped.path, kind: .symbolicLink)
    case .specialFile: self.init(path: skipped.path, kind: .special)
    case .nestedRepository: self.init(path: skipped.path, kind: .repository)
    default: return nil
    }
  }

  /// Whether the system says so of one file or folder, not of all: the others can go on.
  package static func isOfOneFile(_ number: Int32) -> Bool {
    [EPERM, EACCES, EROFS, EBUSY, EXDEV, ETXTBSY, ELOOP].contains(number)
  }

  /// Whether the place itself is free for a file, and it is this file that cannot come.
  package var isOfFile: Bool {
    switch kind {
    case .ignored, .hidden, .debris, .tooLarge, .converted, .unreadable, .refused: true
    default: false
    }
  }

  /// Whether only a trial tells that it is gone.
  package var isToBeTried: Bool { kind == .refused || kind == .unreadable }
}

/// Thrown in a checkout where a note has to wait.
struct NoteWaits: Error {
  let obstacle: Obstacle
}

/// Which files this device keeps back, and why.
final class KeptBackFiles {
  private let workTree: WorkTree
  private let index: IndexFile
  private var ignoreRules: IgnoreRules?
  private var conversions: ConversionRules?
  private var repositories: [TreePath: TreePath?] = [:]
  private let access: FolderAccess

  init(of workTree: WorkTree, index: IndexFile, _ access: FolderAccess) {
    (self.workTree, self.index, self.access) = (workTree, index, access)
  }

  /// The reason that keeps a note out of its place whatever stands there.
  func obstacle(onTheWayTo path: TreePath) throws -> Obstacle? {
    if let repository = repository(around: path) {
      return Obstacle(path: repository, kind: .repository)
    }
    let conversions = try self.conversions ?? ConversionRules(of: workTree, index: index)
    self.conversions = conversions
    let conversion = try conversions.conversion(of: path) {
      guard
        case .read(let present) = try FileContent.read(
          path, in: workTree.folder, sizeLimit: workTree.sizeLimit)
      else { return nil }
      return present.bytes
    }
    return conversion == nil ? nil : Obstacle(path: path, kind: .converted)
  }

  /// Why a file in the folder that is in no version here stays so; nil if the next save would take it.
  func obstacle(by status: stat, at path: TreePath) throws -> Obstacle? {
    if let obstacle = try obstacle(onTheWayTo: path) { return obstacle }
    if let kind = try kind(at: path, size: Int(status.st_size)) {
      return Obstacle(path: path, kind: kind)
    }
    return nil
  }

  private func kind(at path: TreePath, size: Int) throws -> Obstacle.Kind? {
    if size > workTree.sizeLimit { return .tooLarge }
    if SkipRules.isDebris(path.name.bytes) { return .debris }
    if workTree.isHidden(path) { return .hidden }
    let hasIgnoreFile = IgnoreRules.hasFile(above: path, in: workTree.folder)
    let ignoreRules = try ignoreRules ?? IgnoreRules(of: workTree, index: index)
    self.ignoreRules = ignoreRules
    let isIgnored =
      try ignoreRules.mayExclude(hasIgnoreFile) && ignoreRules.isIgnored(path, isFolder: false)
    return isIgnored ? .ignored : nil
  }

  private func repository(around path: TreePath) -> TreePath? {
    guard let parent = path.parent else { return nil }
    if let known = repositories[parent] { return known }
    let found = access.repository(around: path)
    repositories[parent] = .some(found)
    return found
  }
}
