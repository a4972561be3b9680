internal import Watch

extension Failure {
  /// What an error of a watcher means to the user.
  init(_ error: WatchError) {
    switch error {
    case .system(let call, let path, let number):
      let place = path.isEmpty ? "" : " \(Visible.name(path))"
      self.init(
        .failed, "system_failed", "\(call)\(place): \(Self.reason(number))",
        hint: Self.remedy(number) ?? Self.examine)
    case .folderAway(let folder):
      self.init(
        .failed, "folder_away", "the folder \(Visible.name(folder)) is not there",
        hint: "is it unmounted, or was it moved?")
    case .watchedAlready(let folder, let process):
      self.init(
        .failed, "watched_already",
        "\(Visible.name(folder)) is watched already, by process \(process)",
        hint: "'notes peers' shows who is connected to it")
    case .watcherGone:
      self.init(
        .failed, "watcher_gone", "the watcher of the notebook has stopped",
        hint: "run the command again; it works without a watcher, too")
    case .watcherRefused(let reason):
      self.init(
        .failed, "watcher_refused", "the watcher refused: \(Visible.name(reason))",
        hint: "'notes watch --pause' and '--resume' say whether it connects; its log tells more")
    case .notAnswering(let folder):
      self.init(
        .failed, "not_answering", "the watcher of \(Visible.name(folder)) does not answer",
        hint: "try again")
    }
  }
}
