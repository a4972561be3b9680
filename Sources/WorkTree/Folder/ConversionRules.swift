package import Git
internal import Glibc
internal import System

/// The files that git converts (notes-merge(7), "Files that git converts"). Asks libgit2 only if there are
/// attributes.
///
/// The configuration of this device's user counts, and the `.gitattributes` files that this device agreed to.
/// Another writer's `.gitattributes` file counts only if it names a filter that is configured here. Otherwise
/// it could exclude everybody's notes from versions.
package final class ConversionRules {
  private let workTree: WorkTree
  private let index: IndexFile
  private let files: AgreedFiles
  /// Whether there are attributes other than those of files in the folder.
  private let hasOwnAttributes: Bool
  private let settings: Settings
  private let asTheyAre: Repository
  /// The repository with the agreed `.gitattributes` files; nil before any agreement.
  private let agreed: Repository?
  private let userAttributes: UserAttributes
  /// The repositories with only the attributes of the user and the system.
  private let ofUser: [RepositoryOfAttributes]
  /// Whether git looks for CRs in files without attributes.
  private let isAutomatic: Bool
  private var configured: [String: Bool] = [:]
  /// Whether a folder or one above it has a file of attributes, for the folders checked so far.
  private var attributed: [TreePath: Bool] = [:]

  package init(of workTree: WorkTree, index: IndexFile) throws {
    (self.workTree, self.index) = (workTree, index)
    settings = workTree.repository.settings()
    userAttributes = try UserAttributes(of: workTree, settings)
    let (repository, questions) = (workTree.repository, userAttributes.questions)
    let agreement = Agreement.toAttributesFiles(workTree.stateFolder)
    files = AgreedFiles(agreement, of: workTree, index: index)
    try IgnoreRules.checkIsReadable(Self.ownFile(of: repository))
    hasOwnAttributes =
      agreement.hasFiles || !userAttributes.content.isEmpty
      || !(Disk.contentIfAny(Self.ownFile(of: repository)) ?? []).isEmpty
    asTheyAre = repository.readingIgnoreFiles(in: workTree.folder, by: questions)
    agreed =
      agreement.isBegun
      ? repository.readingIgnoreFiles(in: agreement.folder, by: questions) : nil
    ofUser = try userAttributes.inPlaceOfFolder(of: repository)
    let automatic = try settings["core.autocrlf"] ?? "false"
    isAutomatic = automatic.lowercased() == "input" || ConfigurationFile.isTrue(automatic)
  }

  private static func ownFile(of repository: Repository) -> String {
    repository.gitFolder + "/info/attributes"
  }

  /// How git converts a file; nil if it does not.
  ///
  /// - Parameter bytes: the file's content, read only if the conversion depends on it.
  package func conversion(
    of path: TreePath, holding bytes: () throws -> [UInt8]?
  ) throws -> Conversion? {
    for attributes in try attributes(of: path) {
      if let conversion = try attributes.conversion(of: bytes, lastVersion: { try saved(path) }) {
        return conversion
      }
    }
    return nil
  }

  private func saved(_ path: TreePath) throws -> [UInt8]? {
    try index.position(of: path).map { try workTree.repository.blob(index.id(at: $0)) }
  }

  /// How git converts a file regardless of its content.
  package func conversion(of path: TreePath) throws -> Conversion? {
    try conversion(of: path) { nil }
  }

  /// All attributes of a path that apply.
  private func attributes(of path: TreePath) throws -> [ConversionAttributes] {
    func read(_ repository: Repository) throws -> ConversionAttributes {
      ConversionAttributes(
        try repository.attributes(ConversionAttributes.names, of: path), isAutomatic: isAutomatic)
    }
    let user = try ofUser.map { try read($0.repository) }
    guard try hasOwnAttributes || hasAttributes(in: path.parent ?? "") else {
      let unspecified = ConversionAttributes.names.map { _ in AttributeValue.unspecified }
      return user.isEmpty && isAutomatic
        ? [ConversionAttributes(unspecified, isAutomatic: true)] : user
    }
    if files.isBlocked(above: path) { return try (agreed.map { [try read($0)] } ?? []) + user }
    let present = try read(asTheyAre)
    guard let agreed else { return [present] + user }
    let origins = try (path.ancestors + [""]).map(files.origin)
    guard origins.contains(.fromElsewhere) else { return [present] + user }
    let counts = path.titleRange == nil || origins.contains(.writtenHere)
    return [try counts ? present : present.onlyFilter(isConfigured), try read(agreed)] + user
  }

  /// Whether a folder or one above it has a file of attributes.
  private func hasAttributes(in folder: TreePath) throws -> Bool {
    if let known = attributed[folder] { return known }
    let isAttributed =
      try files.content(in: folder) != nil
      || !folder.isEmpty && hasAttributes(in: folder.parent ?? "")
    attributed[folder] = isAttributed
    return isAttributed
  }

  /// Whether `.git/config` defines a filter.
  private func isConfigured(_ filter: String) throws -> Bool {
    if let known = configured[filter] { return known }
    let isConfigured = try ["clean", "smudge", "process", "required"].contains {
      try settings["filter.\(filter).\($0)"] != nil
    }
    configured[filter] = isConfigured
    return isConfigured
  }

  /// Whether a filter may apply regardless of content: then unchanged files are also reported.
  func mayFilter(_ attributesFolders: [TreePath]) throws -> Bool {
    func names(_ content: [UInt8]?) -> Bool {
      let text = String(decoding: content ?? [], as: UTF8.self)
      return text.contains("filter") || text.contains("encoding")
    }
    if try attributesFolders.contains(where: { names(try files.content(in: $0)) }) { return true }
    if names(userAttributes.content) || names(userAttributes.systemContent) { return true }
    if !userAttributes.conditional.isEmpty { return true }
    guard hasOwnAttributes else { return false }
    let copies =
      files.agreement.isBegun
      ? try FolderListing(folder: files.agreement.folder) { _, _ in false }.files : []
    let others = copies.map { "\(files.agreement.folder)/\($0)" }
    return ([Self.ownFile(of: workTree.repository)] + others).contains {
      names(Disk.contentIfAny($0))
    }
  }
}

extension WorkTree {
  /// Moves the files that git converts from the found changes to the excluded ones.
  ///
  /// - Parameter attributesFolders: the folders that have a `.gitattributes`. Nil to check only the found
  ///   changes.
  func excludeConverted(
    from changes: inout WorkingChanges, of index: IndexFile, attributesFolders: [TreePath]?
  ) throws {
    if changes.candidates.isEmpty, attributesFolders == nil { return }
    let rules = try ConversionRules(of: self, index: index)
    var converted: [TreePath: Conversion] = [:]
    for candidate in changes.candidates {
      let path = candidate.path
      converted[path] = try rules.conversion(of: path) {
        guard case .read(let content) = try FileContent.read(path, in: folder, sizeLimit: sizeLimit)
        else { return nil }
        return content.bytes
      }
    }
    if !converted.isEmpty { changes.candidates.removeAll { converted[$0.path] != nil } }
    if let attributesFolders, try rules.mayFilter(attributesFolders) {
      for position in 0..<index.count where index.mode(at: position).isFile {
        let path = index.path(at: position)
        if converted[path] == nil { converted[path] = try rules.conversion(of: path) }
      }
    }
    let known = Set(changes.skipped.map(\.path))
    changes.skipped += converted.filter { !known.contains($0.key) }.map {
      SkippedFile(path: $0.key, reason: .converted(by: $0.value))
    }
  }
}
