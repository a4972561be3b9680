internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System

/// A folder that will become a notebook: where that is allowed, and the questions before its files
/// are added (notes-init(1), notes-join(1)).
struct NotebookPlace {
  let folder: String

  /// Throws for folders that nobody wants to share, and for folders of another notebook.
  func check() throws {
    let real = Self.resolved(folder)
    let shown = Visible.name(folder)
    func holds(_ other: String) -> Bool {
      let other = Self.resolved(other)
      return other == real || real == "/" || other.hasPrefix(real + "/")
    }
    let hint = "make a folder for notes, for instance: notes init ~/notes"
    let home = Environment.process["HOME"].map(Self.resolved)
    if real == "/" || real == home {
      let what = real == "/" ? "the whole system" : "the home folder"
      throw Failure(
        .failed, "unfit_folder",
        "\(shown) is \(what), and a notebook here would share everything in it", hint: hint)
    }
    let folders = UserFolders()
    for own in [try folders.data, try folders.config, folders.runtime].compactMap({ $0 })
    where holds(own) {
      throw Failure(
        .failed, "unfit_folder",
        "\(shown) contains this program's own files, in \(Visible.name(own))", hint: hint)
    }
    // Outside of any notebook there is nothing more to check.
    guard let outer = try? Notebook.find(from: Self.nearest(above: real)), outer != real
    else { return }
    let sibling = Visible.word(Self.sibling(of: outer, named: real))
    throw Failure(
      .failed, "already_a_notebook",
      "\(shown) is inside the notebook \(Visible.name(outer)): a notebook cannot contain another",
      hint: Counted.access(real, F_OK) == 0
        ? "move the folder out of that notebook: mv \(Visible.word(real)) \(sibling)"
        : "choose a folder beside that notebook: \(sibling)")
  }

  /// The path of a folder beside a notebook, with the last name of another path.
  private static func sibling(of notebook: String, named path: String) -> String {
    let parent = Disk.parent(of: notebook)
    let name = path.split(separator: "/").last ?? "notes"
    let beside = (parent == "/" ? "" : parent) + "/" + name
    return Counted.access(beside, F_OK) == 0 ? beside + " 2" : beside
  }

  /// The path without links, as far as it exists.
  private static func resolved(_ path: String) -> String {
    if let real = realPath(of: path) { return real }
    let parent = Disk.parent(of: path)
    guard parent != path, let name = path.split(separator: "/").last else { return path }
    let above = resolved(parent)
    return (above == "/" ? "" : above) + "/" + name
  }

  private static func nearest(above path: String) -> String {
    var parent = Disk.parent(of: path)
    while Counted.access(parent, F_OK) != 0, parent != "/" { parent = Disk.parent(of: parent) }
    return parent
  }

  /// The number of files or bytes from which the user is asked.
  private static let (manyFiles, manyBytes) = (1_000, 100_000_000)

  /// Asks before keys, many files, or uncommitted changes of a repository are added. Nothing has
  /// changed by then.
  func demandConsent(yes: Bool, includesSecrets: Bool) throws {
    let preview = try FolderPreview(of: folder)
    let shown = Visible.name(folder)
    if !includesSecrets { try Self.demandConsent(toSecrets: preview.secrets) }
    let count = preview.notes + preview.files
    let isMuch = count > Self.manyFiles || preview.bytes > Self.manyBytes
    guard !yes, isMuch || preview.head != nil && count + preview.deleted > 0 else { return }
    var what = preview.words
    if let head = preview.head {
      let branch = head.branch.map { "branch \(Visible.name($0))" } ?? "a detached HEAD"
      what += ", on \(branch) of the git repository"
    }
    try Console.demandConsent(
      to: "taking \(what) in \(shown)", "The first version contains \(what). Continue?",
      otherwise: "nothing was made")
  }

  /// Asks before keys and credentials are added.
  static func demandConsent(toSecrets secrets: [TreePath]) throws {
    if secrets.isEmpty { return }
    let more = secrets.count > 5 ? ["\(Phrase.number(secrets.count - 5)) more"] : []
    let names = Phrase.list(secrets.prefix(5).map { Visible.name($0) } + more)
    let verb =
      secrets.count == 1 ? "looks like a key or a credential" : "look like keys or credentials"
    let message =
      "\(names) \(verb), and every device of the notebook would get "
      + (secrets.count == 1 ? "it" : "them")
    guard Console.canAsk, try Console.confirm("\(message).\nTake them?", byDefault: false) else {
      throw Failure(
        .failed, "secret_files", message,
        hint: "move them out, or name them in .gitignore; --include adds them")
    }
  }
}

extension FolderPreview {
  /// The number and size of the files, in one line.
  var words: String {
    let others = files > 0 ? [Phrase.count(files, "other file")] : []
    let gone = deleted > 0 ? ", and deletes \(Phrase.count(deleted, "file"))" : ""
    return Phrase.list([Phrase.count(notes, "note")] + others) + " (\(Phrase.bytes(bytes)))" + gone
  }
}
