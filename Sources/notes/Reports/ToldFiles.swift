internal import Git
internal import State
internal import System
internal import WorkTree

/// The links and repositories in a notebook's folder that a person was told are not versioned.
/// `notes status` always lists them; a save mentions each only once.
struct ToldFiles {
  private let path: String

  init(stateFolder: StateFolder) { path = stateFolder[.told] }

  /// The excluded files that a save must report; of links and repositories, only new ones.
  func news(among files: [SkippedFile]) -> [SkippedFile] {
    let lasting = files.filter(\.reason.isLasting).map { String(hexadecimal: $0.path.bytes) }
    if lasting.isEmpty { return files }
    let text = Disk.contentIfAny(path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let told = Set(text.split(separator: "\n").map(String.init))
    if !told.isSuperset(of: lasting) {
      // If the record cannot be written, the next save reports these files again.
      Disk.keep(Array(lasting.sorted().map { $0 + "\n" }.joined().utf8), at: path)
    }
    return files.filter {
      !$0.reason.isLasting || !told.contains(String(hexadecimal: $0.path.bytes))
    }
  }
}

extension SkipReason {
  fileprivate var isLasting: Bool {
    switch self {
    case .symbolicLink, .specialFile, .nestedRepository: true
    default: false
    }
  }
}
