public import Git
internal import Glibc
internal import System

/// The reason why a note cannot be put into its place in the folder: notes-merge(7), "Notes that are
/// left out of the folder". Whatever the reason, only that note waits.
public struct Obstacle: Hashable, Codable, Sendable {
  /// The kind of thing in the way.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case symbolicLink, folder, repository, file
    /// A socket, a pipe or a device.
    case special
    /// A file that this device keeps back because of an ignore file or `.git/info/exclude`.
    case ignored
    /// A hidden file, or a file in a hidden folder, if hidden files are not versioned.
    case hidden
    /// A file that an editor or a desktop made for itself.
    case debris
    /// A file above the size limit.
    case tooLarge
    /// git converts the file, so the folder would need other bytes than the version has.
    case converted
    /// The file cannot be read, so its content could be lost.
    case unreadable
    /// The system refuses to replace or make the file.
    case refused
  }

  /// The path of the obstacle: the note's own, or that of a folder above it.
  public let path: TreePath
  /// The kind of obstacle.
  public let kind: Kind
  /// The system's error number, if that is the reason.
  public let errno: Int32?

  package init(path: TreePath, kind: Kind, errno: Int32? = nil) {
    self.path = path
    self.kind = kind
    self.errno = errno
  }

  /// The obstacle that a skipped file is for a note; nil for a plain file.
  init?(_ skipped: SkippedFile) {
    switch skipped.reason {
    case .symbolicLink: self.init(path: skipped.path, kind: .symbolicLink)
    case .specialFile: self.init(path: skipped.path, kind: .special)
    case .nestedRepository: self.init(path: skipped.path, kind: .repository)
    default: return nil
    }
  }

  /// Whether an error with this number concerns only one file or folder, so that work on the others can
  /// continue.
  package static func isOfOneFile(_ number: Int32) -> Bool {
    [EPERM, EACCES, EROFS, EBUSY, EXDEV, ETXTBSY, ELOOP].contains(number)
  }

  /// Whether the problem is the note's own file, not something else in its place.
  package var isOfFile: Bool {
    switch kind {
    case .ignored, .hidden, .debris, .tooLarge, .converted, .unreadable, .refused: true
    default: false
    }
  }

  /// Whether only a trial can show that the obstacle is gone.
  package var isToBeTried: Bool { kind == .refused || kind == .unreadable }
}

/// Thrown in a checkout if a note must wait.
struct NoteWaits: Error {
  let obstacle: Obstacle
}

/// The files that this device keeps back, and the reasons.
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

  /// The obstacle that keeps a note out of its place whatever file is there.
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

  /// The reason why a file in the folder that has no version here is not saved. Nil if the next save would save
  /// it.
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
