internal import CLibgit2
internal import Glibc
package import State
internal import System

/// A git repository with its work tree. libgit2 is loaded at the first call that needs it. An
/// instance belongs to one thread at a time; other threads open their own.
public final class Repository {
  /// The work tree's folder.
  public let folder: String
  /// The folder of the repository itself, `.git` in the work tree.
  public let gitFolder: String
  /// The folder of this device's state for the notebook; it may not exist.
  package var stateFolder: StateFolder { StateFolder(ofRepository: gitFolder) }

  private(set) var opened: Handles?
  /// The folder whose ignore files are read in place of the work tree's.
  private var ignoreFolder: String?
  /// The settings for questions to libgit2 about ignore and attributes files.
  private var questionSettings: QuestionSettings?
  private var questions: QuestionConfiguration?
  let loose: LooseObjects
  /// The objects that are being stored while `withBatchedWrites` runs.
  var pending: PendingObjects?
  /// The objects written while `withPackedWrites` runs.
  var packed: PackedWrites?
  /// The objects written while `withScratchWrites` runs, kept in memory to be read.
  var scratch = ScratchObjects()
  /// Objects that are stored, but whose names may not be on the disk yet.
  var unsynced: PendingObjects?
  /// The quarantines of packs that no reference leads to yet.
  var unreferenced: [QuarantineFolder] = []
  /// Whether `keepingPacks` runs.
  var keepsPacks = false
  var packReader: PackReader?
  var packNames: [String] = []
  /// The objects that were read last, except commits.
  var cache = newCache
  /// The four commits that were read last: a command reads the same few a dozen times.
  var recentCommits: [Commit] = []
  /// The times and parents of commits, for questions about ancestry; they never change.
  var ancestries: [ObjectID: (time: Int64, parents: [ObjectID])] = [:]
  var folderIndexes = FolderIndexes()
  /// The sizes of measured trees.
  lazy var extents = TreeExtents.remembered

  /// The cache is small, because each of a service's notebooks has one.
  private static var newCache: ContentCache<ObjectID> {
    ContentCache(capacity: 4 << 20, limit: 24 << 20)
  }

  var packFolder: String { loose.folder + "/pack" }

  private init(folder: String, gitFolder: String? = nil) {
    self.folder = folder
    self.gitFolder = gitFolder ?? folder + "/.git"
    loose = LooseObjects(folder: self.gitFolder + "/objects")
  }

  deinit { opened?.free() }

  /// The device and inode of `.git`. They change when another repository replaces this one.
  public var identityOnDisk: [UInt64] {
    var status = stat()
    guard Counted.lstat(gitFolder, &status) == 0 else { return [] }
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  /// Closes all files, including packs that other programs have removed, and empties the caches; the next
  /// call opens them again. No object of this instance, such as a walk, may be in use.
  public func close() {
    opened?.free()
    opened = nil
    packReader = nil
    cache = Self.newCache
    recentCommits = []
    ancestries = [:]
    extents = .remembered
    folderIndexes = FolderIndexes()
  }

  /// Empties the cache of objects and closes the packs: the next read opens them again.
  public func forgetObjects() {
    cache = Self.newCache
    packReader = nil
  }

  /// The repository whose work tree is exactly `folder`; parent folders are not searched. Throws
  /// `GitError.unsupportedExtension` if notes does not support its format.
  public static func open(at folder: String) throws -> Repository {
    let repository = Repository(folder: folder)
    var status = stat()
    guard Counted.stat(repository.gitFolder + "/HEAD", &status) == 0 else {
      // A repository without HEAD is damaged, not an empty folder.
      guard errno == ENOENT, Counted.access(repository.gitFolder + "/objects", F_OK) == 0 else {
        throw GitError.notARepository(folder)
      }
      throw GitError.brokenReference("HEAD")
    }
    // git refuses repositories of other users, because their configuration names programs to run. notes runs
    // none of these, but the owner could replace notes while they are read.
    guard status.st_uid == geteuid() || geteuid() == 0 else {
      throw GitError.foreignOwner(folder: folder)
    }
    try RepositoryExtensions(of: repository.gitFolder).check()
    if Counted.access(repository.gitFolder + "/commondir", F_OK) == 0 {
      throw GitError.unsupported("the files of another repository (commondir)")
    }
    return repository
  }

  /// The same repository, with the ignore and attributes files of another folder instead of the work tree's. Use it
  /// only for questions about these files; it reads them again.
  public func readingIgnoreFiles(in folder: String, by settings: QuestionSettings) -> Repository {
    let other = Repository(folder: self.folder)
    (other.ignoreFolder, other.questionSettings) = (folder, settings)
    return other
  }

  /// The unfinished repository at `place` that will replace this one.
  func replacement(at place: String) -> Repository { Repository(folder: folder, gitFolder: place) }

  struct Handles {
    let library: Libgit2
    let repository: OpaquePointer
    let database: OpaquePointer
    var api: libgit2 { library.api }

    /// Returns a status of 0 or more; throws the library's error for a negative one.
    @discardableResult
    func check(_ call: String, _ status: Int32) throws -> Int32 { try library.check(call, status) }

    fileprivate func free() {
      library.api.git_odb_free(database)
      library.api.git_repository_free(repository)
    }
  }

  func handles() throws -> Handles {
    if let opened { return opened }
    let library = try Libgit2.shared.get()
    var repository: OpaquePointer?
    func open() -> Int32 {
      library.api.git_repository_open_ext(
        &repository, folder, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil)
    }
    var status = open()
    if status == GIT_ENOTFOUND.rawValue, restoreReferenceFolder() { status = open() }
    guard status == 0, let repository else {
      throw library.error("git_repository_open_ext", status)
    }
    if let ignoreFolder {
      let status = library.api.git_repository_set_workdir(repository, ignoreFolder, 0)
      guard status == 0 else {
        library.api.git_repository_free(repository)
        throw library.error("git_repository_set_workdir", status)
      }
      if ignoreFolder != folder { leaveIndexOut(of: repository, library) }
      do {
        questions = try questionSettings.map { try QuestionConfiguration($0) }
        try questions?.apply(to: repository, library)
      } catch {
        library.api.git_repository_free(repository)
        throw error
      }
    }
    var database: OpaquePointer?
    let databaseStatus = library.api.git_repository_odb(&database, repository)
    guard databaseStatus == 0, let database else {
      library.api.git_repository_free(repository)
      throw library.error("git_repository_odb", databaseStatus)
    }
    let handles = Handles(library: library, repository: repository, database: database)
    opened = handles
    return handles
  }

  /// Makes the folder of references again if all references are packed: the folder is empty then, and
  /// programs that copy files may skip empty folders.
  private func restoreReferenceFolder() -> Bool {
    Counted.access(gitFolder + "/packed-refs", F_OK) == 0 && mkdir(gitFolder + "/refs", 0o777) == 0
  }

  /// Throws `unsupported` if notes cannot work with the repository's format, and `incomplete`.
  public func checkForm() throws {
    try checkIsComplete()
    try checkShowsItsOwn()
    _ = try handles()
    // With a sparse checkout, git itself keeps files out of the folder.
    if isSparse { throw GitError.unsupported("a sparse checkout (core.sparseCheckout)") }
    // The attributes file in the folder may differ from the one that git would version.
    let attributes = Disk.contentIfAny(folder + "/.gitattributes") ?? []
    if String(decoding: attributes, as: UTF8.self).contains("filter=lfs") {
      throw GitError.unsupported("Git LFS (filter=lfs in .gitattributes)")
    }
  }

  /// Whether git keeps some of the files out of the folder: git-sparse-checkout(1).
  private var isSparse: Bool {
    ["config", "config.worktree"].contains { name in
      let content = Disk.contentIfAny(gitFolder + "/" + name) ?? []
      return String(decoding: content, as: UTF8.self).lowercased().split(separator: "\n").contains {
        // git-config(1) allows several ways to write true, with or without a comment after it.
        let words = $0.split { "=#; \t\r".contains($0) }
        return words.first == "sparsecheckout"
          && (words.count == 1 || ["true", "yes", "on", "1"].contains(words[1]))
      }
    }
  }

  /// Removes the folder beside this repository that a killed or failed `create` or replacement left: an
  /// unfinished repository, or the former one. Call it with the writer lock, like `create` and a replacement.
  public func removeHalfMade() throws {
    let place = folder + "/.git.new"
    guard Counted.access(place, F_OK) == 0 else { return }
    // The former repository is removed only when the swap is on the disk.
    try Disk.sync(folder: folder)
    Disk.removeTree(place)
  }

  /// The name and address for the reflog; if nil, they are unknown.
  public var identity: (name: String, email: String)?
}
