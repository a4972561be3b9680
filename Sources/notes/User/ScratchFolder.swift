internal import Git
internal import Glibc
internal import History
internal import State
internal import System
internal import WorkTree

/// Files for a program that resolves conflicts, outside of the notebook's folder.
struct ScratchFolder {
  private let path: String
  private let written = Written()

  /// The texts of the files when they were made.
  private final class Written { var texts: [String: [UInt8]] = [:] }

  /// How long files with unsaved work of a program are kept, in seconds: 30 days.
  private static let keeping = 30 * 86_400

  /// Runs `body` with a folder that is removed afterwards. If `body` throws and a file in the folder has
  /// been changed, the folder stays, and the error names it.
  static func use<Result>(
    of state: StateFolder, _ body: (ScratchFolder) throws -> Result
  ) throws -> Result {
    let place = state.temporary(.resolve)
    for found in Disk.namesIfAny(in: state.path) {
      let old = "\(state.path)/\(found)"
      guard old.hasPrefix(place + ".") else { continue }
      var status = stat()
      if Counted.lstat(old, &status) == 0, WallClock.age(of: status) > keeping {
        Disk.removeTree(old)
      }
    }
    let folder = ScratchFolder(path: Disk.unique(beside: place))
    try Disk.makeFolders(folder.path, mode: 0o700)
    do {
      let result = try body(folder)
      Disk.removeTree(folder.path)
      return result
    } catch {
      guard let changed = folder.changedFile else {
        Disk.removeTree(folder.path)
        throw error
      }
      var failure = Failure(describing: error)
      failure.hint = "your text is in \(Visible.name(changed))"
      throw failure
    }
  }

  /// Makes a file named after a note, so that the program's user recognizes it.
  func file(_ role: String, of note: TreePath, _ text: [UInt8]) throws -> String {
    // The title may be as long as a name can be, and needs space for the role.
    let title = Visible.name(String(note.noteTitle.unicodeScalars.prefix(40)))
      .replacing("/", with: "-")
    let file = "\(path)/\(title)_\(role)\(note.noteSuffix)"
    try Disk.replace(file, with: text, mode: 0o600, waits: false)
    written.texts[file] = text
    return file
  }

  func read(_ file: String) throws -> [UInt8] { try Disk.read(file) }

  private var changedFile: String? {
    written.texts.sorted { $0.key < $1.key }
      .first { file, text in Disk.contentIfAny(file).map { $0 != text } ?? false }?.key
  }
}
