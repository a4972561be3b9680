internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Git
internal import Membership
internal import Merge
internal import Notebook
internal import Sync
internal import System
internal import Watch
internal import WorkTree

extension Failure {
  /// What any error means to the user. Every module's errors are explained in one place; what is
  /// not known here is told as it describes itself.
  init(describing error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as NotebookError: self.init(error)
    case let error as GitError: self.init(error)
    case let error as MergeError:
      self.init(
        .failed, "merge_failed", Visible.name("the merge failed: \(error)"), hint: Self.examine)
    case let error as PackError:
      self.init(
        .failed, "pack_refused", Visible.name(error.description),
        hint: "nothing of it was kept; " + Self.examine)
    case let error as MembershipError: self.init(error)
    case let defect as NameDefect: self.init(defect)
    case let error as ChannelError: self.init(error)
    case let error as SyncError: self.init(error)
    case let error as DiscoveryError: self.init(error)
    case let error as WatchError: self.init(error)
    case let error as SystemCallError: self = .system(error.call, errno: error.errno)
    default: self.init(parsing: error)
    }
  }

  /// A mistake in the command line, as the argument parser found it.
  private init(parsing error: any Error) {
    guard NotesCommand.exitCode(for: error) == .validationFailure else {
      self.init(.failed, "internal", Visible.name("\(error)"), hint: Self.examine)
      return
    }
    var words = NotesCommand.message(for: error)
    var hint: String?
    if let suggestion = words.firstRange(of: ". Did you mean") {
      // What else the parser made of it is no help.
      hint = "did you mean" + words[suggestion.upperBound...].prefix { !$0.isNewline }
      words = String(words[..<suggestion.lowerBound])
    }
    // What it could be instead is a hint.
    if let choices = words.firstRange(of: ". Please provide one of ") {
      hint = "it is one of " + words[choices.upperBound...]
      words = String(words[..<choices.lowerBound])
    }
    // The parser's sentences become our form: lower case, one line, no full stop.
    words = words.split(whereSeparator: \.isNewline).joined(separator: "; ")
    if words.hasSuffix(".") { words.removeLast() }
    if hint?.hasSuffix(".") == true { hint?.removeLast() }
    self.init(
      .usage, "usage", Visible.name(words.prefix(1).lowercased() + words.dropFirst()), hint: hint)
  }
}

extension Failure {
  /// What an error of discovery means to the user.
  init(_ error: DiscoveryError) {
    let remedy =
      switch error {
      case .libraryMissing: "install it: apt install libavahi-client3; or name the peer: "
      case .noSystemBus: "start D-Bus, or name the peer: "
      case .daemonNotRunning, .daemonSilent:
        "start it: systemctl start avahi-daemon; or name the peer: "
      case .invalidRecord, .avahi, .stopped: "name the peer: "
      }
    self.init(
      .failed, "discovery_failed", "devices cannot be found: \(Visible.name(error.description))",
      hint: remedy + "--at HOST:PORT")
  }
}
