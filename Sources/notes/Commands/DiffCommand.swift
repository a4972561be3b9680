internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct DiffCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Show what changed, word by word.",
    discussion: """
      Without VERSIONS it compares the folder with the last version; with V, the folder with that \
      version; with V..W, version V with version W (notes-versions(7)). Removed and added words are \
      coloured, or in [-…-] and {+…+}. --unified makes a diff that patch(1) understands.

      Examples:
        notes diff
        notes diff Shopping ~2
        notes diff 'last week..yesterday'
        notes diff --unified > changes.patch
      """)

  @Argument(
    help: .named("note|versions", "Only this note; and the versions to compare, V or V..W."),
    completion: LiveCompletion.notes)
  var subjects: [String] = []

  @Flag(name: .shortAndLong, help: "Show changed lines, as diff(1) does.") var unified = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if subjects.count > 2 { throw ValidationError("Too many arguments: one note, one V or V..W.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let comparison = try Comparison(subjects, in: notebook)
    let files = try comparison.files(in: notebook)
    if options.json { return Output.standard.lines(files.map(\.json)) }
    paging.page {
      // A patch without changes is empty.
      if files.isEmpty, !unified { Output.standard.line("No differences.") }
      for (position, file) in files.enumerated() {
        if unified {
          Output.standard.write(bytes: file.unified(for: Console.output))
        } else {
          if position > 0 { Output.standard.line() }
          Output.standard.write(file.words(for: Console.output))
        }
      }
    }
  }
}

struct Comparison {
  private let path: TreePath?
  /// The name of the old version; empty for the last version.
  private let old: Substring
  /// The name of the new version; nil for the folder.
  private let new: Substring?

  /// Reads the arguments: a note, versions, or both in this order. A single argument is a note if a
  /// note has that name, and otherwise a version or two.
  init(_ subjects: [String], in notebook: Notebook) throws {
    let versions: String
    (path, versions) = try Self.noteAndVersions(subjects, in: notebook)
    let dots = versions.firstRange(of: "..")
    old = versions[..<(dots?.lowerBound ?? versions.endIndex)]
    new = dots.map { versions[$0.upperBound...] }
  }

  private static func noteAndVersions(
    _ subjects: [String], in notebook: Notebook
  ) throws -> (TreePath?, String) {
    func note(_ name: String) throws -> TreePath {
      try NotebookLocator.note(name, in: notebook, among: .former)
    }
    guard let subject = subjects.first else { return (nil, "") }
    if subjects.count == 2 { return (try note(subject), subjects[1]) }
    // `NOTE@VERSION`, as in other commands. If the name before the @ is a note's own, no note with an @
    // in its name is searched.
    let at = subject.lastIndex(of: "@").flatMap { $0 == subject.startIndex ? nil : $0 }
    func noteAndVersion(_ at: String.Index) throws -> (TreePath?, String) {
      (try note(String(subject[..<at])), String(subject[subject.index(after: at)...]))
    }
    let history = notebook.history
    if let at, try history.note(spelled: String(subject[..<at])) != nil,
      try history.note(spelled: subject) == nil
    {
      return try noteAndVersion(at)
    }
    do {
      let path =
        try NotebookLocator.path(ofFile: subject, in: notebook)
        ?? history.note(exactly: subject, among: .deleted) ?? history.note(named: subject)
      return (path, "")
    } catch WorkTreeError.noSuchNote {
      let isRange = subject.contains("..") && !subject.contains("@")
      // A word that is not the name of a version counts as a note.
      if isRange || (try? history.version(named: subject)) != nil { return (nil, subject) }
      guard let at else { return (try note(subject), "") }
      return try noteAndVersion(at)
    }
  }

  func files(in notebook: Notebook) throws -> [FileDiff] {
    if let path { return try oneFile(path, in: notebook) }
    let before = try tree(old, in: notebook)
    guard let new else { return try againstFolder(before, in: notebook) }
    return try notebook.history.changes(from: before, to: tree(new, in: notebook)).map {
      try FileDiff($0, in: notebook)
    }
  }

  private func tree(_ name: Substring, in notebook: Notebook) throws -> ObjectID? {
    if !name.isEmpty { return try notebook.history.version(named: String(name)).tree }
    return try notebook.repository.head().commit.map { try notebook.repository.commit($0).tree }
  }

  // MARK: One note, with its name on either side

  private func oneFile(_ path: TreePath, in notebook: Notebook) throws -> [FileDiff] {
    let before = try side(old, of: path, in: notebook)
    let after = try side(new, of: path, in: notebook)
    let isRenamed = before.text != nil && after.text != nil && before.path != after.path
    if before.text == after.text, !isRenamed { return [] }
    return [
      FileDiff(
        path: after.text == nil ? before.path : after.path,
        formerPath: isRenamed ? before.path : nil, old: before.text, new: after.text)
    ]
  }

  private func side(
    _ name: Substring?, of path: TreePath, in notebook: Notebook
  ) throws -> (path: TreePath, text: [UInt8]?) {
    guard let name else { return (path, try Self.text(of: path, in: notebook)) }
    let tip = try notebook.repository.head().commit
    guard let name = name.isEmpty ? tip?.hex : String(name)
    else { throw HistoryError.noSuchVersion("~0") }
    do {
      let version = try notebook.history.noteVersion(named: name, of: path)
      return (version.path, try notebook.history.text(of: version))
    } catch HistoryError.notInVersion {
      return (path, nil)
    }
  }

  private static func text(of path: TreePath, in notebook: Notebook) throws -> [UInt8]? {
    do { return try notebook.workTree.text(of: path) } catch WorkTreeError.noSuchNote { return nil }
  }

  // MARK: The folder

  /// The folder differs from a version only in files that differ between the folder and the last version, or
  /// between the last version and that version.
  private func againstFolder(_ old: ObjectID?, in notebook: Notebook) throws -> [FileDiff] {
    let repository = notebook.repository
    let inHistory = try repository.changes(from: old, to: tree("", in: notebook))
    let paths = Set(try notebook.status().changes.map(\.path) + inHistory.map(\.path))
    let files = try paths.sorted().compactMap { path -> FileDiff? in
      let before = try old.flatMap { try repository.file(at: path, in: $0) }
      let after = try Self.text(of: path, in: notebook)
      return before == after ? nil : FileDiff(path: path, old: before, new: after)
    }
    return Self.pairedByText(files)
  }

  /// A deleted file and a new file with the same text count as a rename.
  private static func pairedByText(_ files: [FileDiff]) -> [FileDiff] {
    var gone: [[UInt8]: TreePath] = [:]
    for file in files where file.new == nil {
      if let old = file.old, !old.isEmpty { gone[old] = file.path }
    }
    var moved: Set<TreePath> = []
    let found = files.map { file -> FileDiff in
      guard file.old == nil, let new = file.new, let former = gone.removeValue(forKey: new)
      else { return file }
      moved.insert(former)
      return FileDiff(path: file.path, formerPath: former, old: new, new: new)
    }
    return found.filter { !(moved.contains($0.path) && $0.new == nil) }
  }
}

extension Repository {
  /// The content of a file in a version's tree; nil if the tree has no such file.
  func file(at path: TreePath, in tree: ObjectID) throws -> [UInt8]? {
    guard let entry = try entry(at: path, in: tree), entry.mode.isFile else { return nil }
    return try blob(entry.id)
  }
}
