internal import Glibc
internal import System

/// An exchange with another repository. The git program runs in a temporary git folder that borrows the
/// notebook's objects but not its configuration, hooks and references. Received objects stay there until
/// a `Quarantine` has read and checked them.
///
/// An instance belongs to the repository's thread.
public final class Transfer {
  private let repository: Repository
  private(set) var folder: QuarantineFolder
  private let program: GitProgram
  /// The packs that a quarantine has already read.
  private var read: Set<String> = []

  private static let (others, tip) = ("refs/other", "refs/other/tip")

  /// Makes the git folder for an exchange of this repository.
  public init(_ repository: Repository, by program: GitProgram) throws {
    self.repository = repository
    self.program = program
    repository.removeQuarantineLeftovers()
    folder = try QuarantineFolder(for: repository)
    try prepare()
  }

  private func prepare() throws {
    let path = folder.path
    for name in ["refs", "objects/info"] { try Disk.makeFolder(path + "/" + name, mode: 0o700) }
    try put("HEAD", "ref: refs/heads/none\n")
    try put("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
  }

  func put(_ name: String, _ text: String) throws {
    try Disk.create(
      folder.path + "/" + name, Array(text.utf8), mode: 0o600, overLeftover: true, waits: false)
  }

  /// Makes the folder again if another repository has replaced this one: that removed the fetched objects.
  func renew() throws {
    if Counted.access(folder.path, F_OK) == 0 { return }
    folder = try QuarantineFolder(for: repository)
    try prepare()
  }

  func run(
    _ arguments: [String], onTick: (GitProgress) throws -> Void = { _ in }
  ) throws -> GitProgram.Ending {
    try program.run(
      arguments, in: folder.path, objects: [repository.gitFolder + "/objects"], onTick: onTick)
  }

  // MARK: Receiving

  /// Fetches the tip of a branch and the missing part of its history, and returns the tip; nil if the
  /// other repository has no such branch.
  ///
  /// - Parameters:
  ///   - url: a checked address, or the path of a repository or a bundle.
  ///   - twin: another branch to fetch if it exists; then the first one need not exist.
  ///     `branch(named:)` returns the commits of both.
  ///   - known: commits that are here with all their history.
  ///   - folders: the references below these are also fetched; `reference(named:)` and `references(in:)` return
  ///     them.
  ///   - limits: the fetch ends if it exceeds these, or half of the free disk space.
  public func fetch(
    _ branch: String?, twin: String? = nil, from url: String, known: [ObjectID],
    beside folders: [String] = [], limits: PackLimits = .standard,
    onProgress: (GitProgress) -> Void = { _ in }
  ) throws -> ObjectID? {
    try renew()
    // For git, a pattern without a match is not an error; a name without one is.
    let named = branch.map { name in
      twin.map { [Self.pattern(name), Self.pattern($0)] } ?? ["+refs/heads/\(name):\(Self.tip)"]
    }
    let references = known.enumerated().map { "\($1) refs/known/\(String(10_000 + $0))\n" }
    try put("packed-refs", "# pack-refs with: sorted \n" + references.joined())
    Disk.removeTree(self.folder.path + "/" + Self.others)
    let room = try Disk.freeBytes(at: self.folder.path) / 2
    let wanted =
      (named ?? [])
      + folders.map { "+\($0)/*:\(Self.others)/\($0)/*" }
    var most = 0
    let ending = try run(
      [
        "fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
        "--no-recurse-submodules",
      ] + (url.hasPrefix("/") ? ["--upload-pack=" + GitProgram.uploadPack] : [])
        + ["--end-of-options", url] + wanted
    ) { progress in
      var progress = progress
      let here = try arriving
      // git reports the bytes only now and then, and rounds them.
      most = max(most, progress.bytes, here.pack)
      progress.bytes = most
      onProgress(progress)
      guard here.all <= limits.packBytes else {
        throw PackError.overLimit("bytes in a pack", limit: limits.packBytes)
      }
      guard here.all <= room else { throw PackError.diskNearlyFull(room: room) }
    }
    if ending.status != 0 {
      let complaint = ending.progress.complaint
      if complaint.contains(where: { $0.contains("couldn't find remote ref refs/heads/") }) {
        return nil
      }
      throw TransferError.failed(status: ending.status, complaint)
    }
    // git skips a branch of a shallow clone, and reports success.
    if let line = ending.progress.complaint.first(where: {
      $0.contains("shallow roots are not allowed")
    }) {
      throw TransferError.failed(status: ending.status, [line])
    }
    guard let branch else { return nil }
    if twin != nil { return self.branch(named: branch) }
    guard let line = ReferenceFile.firstLine(of: self.folder.path + "/" + Self.tip),
      let id = ObjectID(hex: line)
    else { throw TransferError.failed(status: 0, ["git fetched nothing"]) }
    return id
  }

  private static func pattern(_ branch: String) -> String {
    let beginning = "heads/\(branch.dropLast())*"
    return "+refs/\(beginning):\(others)/\(beginning)"
  }

  /// The commit of a branch that was fetched with a twin; nil if there is no such branch.
  public func branch(named name: String) -> ObjectID? { reference(named: "heads/" + name) }

  /// The commit of a reference that was fetched beside the branch; nil if there is none.
  public func reference(named name: String) -> ObjectID? {
    ReferenceFile.firstLine(of: folder.path + "/\(Self.others)/" + name)
      .flatMap { ObjectID(hex: $0) }
  }

  /// The references that were fetched besides the branch, one level deep below `folder`: by the name of the
  /// inner folder, then by the name in it. Reads at most the first `limit` inner folders, and the first `limit`
  /// names of each, in the order of names.
  public func references(in folder: String, limit: Int) -> [String: [String: ObjectID]] {
    let place = self.folder.path + "/\(Self.others)/" + folder
    var found: [String: [String: ObjectID]] = [:]
    for inner in Disk.namesIfAny(in: place).sorted().prefix(limit) {
      for name in Disk.namesIfAny(in: "\(place)/\(inner)").sorted().prefix(limit) {
        found[inner, default: [:]][name] = reference(named: "\(folder)/\(inner)/\(name)")
      }
    }
    return found
  }

  /// Points another repository's HEAD at this branch, so that clones check it out. Does nothing if HEAD names
  /// an existing branch.
  ///
  /// - Returns: whether HEAD now names an existing branch.
  public func show(_ branch: String, at url: String) throws -> Bool {
    if try branches(of: url).contains(where: \.isHead) { return true }
    // HEAD can be changed only in a folder of this machine.
    guard url.hasPrefix("/"), Counted.access(url + "/HEAD", F_OK) == 0 else { return false }
    return try program.run(["symbolic-ref", "HEAD", "refs/heads/" + branch], in: url).status == 0
  }

  /// The branch that a clone of another repository checks out: the branch that HEAD names. If there is none, the only
  /// branch, or `main` or `master`. Nil if these do not exist.
  public func mainBranch(of url: String) throws -> String? {
    let all = try branches(of: url)
    if let named = all.first(where: \.isHead) { return named.name }
    return all.count == 1
      ? all[0].name : ["main", "master"].first { name in all.contains { $0.name == name } }
  }

  /// The other repository's branches; the one that HEAD names is also listed first.
  private func branches(of url: String) throws -> [(name: String, isHead: Bool)] {
    let ending = try run(
      ["ls-remote", "--symref", "--end-of-options", url, "HEAD", "refs/heads/*"])
    guard ending.status == 0 else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n")
      .map { $0.split(separator: "\t") }.filter { $0.count == 2 }
    let beginning = "ref: refs/heads/"
    let branches = lines.filter { $0[1].hasPrefix("refs/heads/") }
      .map { (name: String($0[1].dropFirst("refs/heads/".count)), isHead: false) }
    let named = lines.filter { $0[1] == "HEAD" && $0[0].hasPrefix(beginning) }
      .map { (name: String($0[0].dropFirst(beginning.count)), isHead: true) }
    return named.filter { name in branches.contains { $0.name == name.name } } + branches
  }

  /// The other repository's references, by name.
  public func references(of url: String) throws -> [String: ObjectID] {
    try renew()
    let ending = try run(["ls-remote", "--refs", "--end-of-options", url])
    guard ending.status == 0 else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n")
    let pairs = lines.compactMap { line -> (String, ObjectID)? in
      let words = line.split(separator: "\t")
      return words.count == 2 ? ObjectID(hex: words[0]).map { (String(words[1]), $0) } : nil
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The bytes received and not read yet: those of the pack, and those of all files.
  private var arriving: (pack: Int, all: Int) {
    get throws {
      try Disk.names(in: folder.packs).filter { !read.contains($0) }.reduce((pack: 0, all: 0)) {
        sum, name in
        var status = stat()
        guard Counted.lstat(folder.packs + "/" + name, &status) == 0 else { return sum }
        let size = Int(status.st_size)
        // For a moment the pack may have two names.
        let isPack = name.hasPrefix("tmp_pack") || name.hasSuffix(".pack")
        return (isPack ? max(sum.pack, size) : sum.pack, sum.all + size)
      }
    }
  }

  /// The pack received since the last call, in a quarantine that has read it, and its size in bytes. Nil if
  /// none was received.
  ///
  /// - Parameter grant: decides whether a pack may unpack to more than `limits`; nil if none may.
  public func received(
    limits: PackLimits = .standard, _ grant: UnpackingGrant? = nil
  ) throws -> (quarantine: Quarantine, bytes: Int)? {
    let packs = try Disk.names(in: folder.packs)
      .filter { $0.hasSuffix(".pack") && !read.contains($0) }
    guard let name = packs.first else { return nil }
    guard packs.count == 1 else { throw PackError.malformed("it came in several packs") }
    read.insert(name)
    let quarantine = try repository.quarantine(limits: limits, grant)
    let pack = try MappedFile(folder.packs + "/" + name)
    for start in stride(from: 0, to: pack.bytes.count, by: Self.piece) {
      try quarantine.append(Array(pack.bytes[start..<min(start + Self.piece, pack.bytes.count)]))
    }
    return (quarantine, pack.bytes.count)
  }

  private static let piece = 256 << 10

  // MARK: Reading the quarantine

  /// Whether `ancestor` is the other commit or one of its ancestors. Both may still be in quarantine.
  public func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    try answer(["merge-base", "--is-ancestor", ancestor.hex, descendant.hex])
  }

  /// Whether two commits have a common ancestor.
  public func areRelated(_ left: ObjectID, _ right: ObjectID) throws -> Bool {
    try answer(["merge-base", left.hex, right.hex])
  }

  private func answer(_ question: [String]) throws -> Bool {
    let ending = try run(question)
    guard ending.status == 0 || ending.status == 1 else {
      throw TransferError.failed(status: ending.status, ending.progress.complaint)
    }
    return ending.status == 0
  }
}
