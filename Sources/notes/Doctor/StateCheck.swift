internal import Notebook
internal import State
internal import System
internal import WorkTree

extension Check {
  /// Checks that the files of this device's state are readable, and that none was damaged.
  static let state = Check(
    name: "state", title: "state", remedy: "FILES in notes(1) says whether the file may be removed"
  ) { context in
    let folder = context.notebook.stateFolder
    var found: [Finding] = []
    for file in StateFolder.File.allCases where !file.isCheckedElsewhere {
      do {
        _ = try Disk.readIfThere(folder[file])
      } catch {
        let failure = Failure(describing: error)
        found += .problem(
          failure.message,
          remedy:
            "make \(Visible.name(folder[file])) a file that you can read; FILES in notes(1) says "
            + "whether it may be removed")
      }
    }
    let folders = [folder.path] + StateFolder.Folder.allCases.map { folder[$0] }
    for folder in folders {
      for name in Disk.namesIfAny(in: folder).sorted() where name.hasSuffix(StateDamage.suffix) {
        let path = "\(folder)/\(name)"
        found += .advice(
          "\(Visible.name(path)) is a damaged file of this device's state, and no longer used",
          remedy: "remove it: rm \(Visible.word(path))")
      }
    }
    return found.isEmpty ? .good("all files can be read") : found
  }
}

extension StateFolder.File {
  /// Whether another check covers the file, or notes never reads its content.
  fileprivate var isCheckedElsewhere: Bool {
    switch self {
    case .lock, .watch, .gcLock, .guestsLock, .guests, .webLink, .webAddress: true
    default: false
    }
  }
}
