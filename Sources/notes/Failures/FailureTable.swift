internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Git
internal import Membership
internal import Notebook
internal import Sync
internal import Watch

extension Failure {
  /// What any error means to the user. Every module's errors are explained in one place; what is
  /// not known here is told as it describes itself.
  init(describing error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as NotebookError: self.init(error)
    case let error as GitError: self.init(error)
    case let error as MergeError:
      self.init(.failed, "merge_failed", Visible.name("the merge failed: \(error)"))
    case let error as PackError:
      self.init(.failed, "pack_refused", Visible.name(error.description))
    case let error as MembershipError: self.init(error)
    case let defect as NameDefect: self.init(defect)
    case let error as ChannelError: self.init(error)
    case let error as SyncError: self.init(error)
    case let error as DiscoveryError: self.init(error)
    case let error as WatchError: self.init(error)
    default: self.init(parsing: error)
    }
  }

  /// A mistake in the command line, as the argument parser found it.
  private init(parsing error: any Error) {
    guard NotesCommand.exitCode(for: error) == .validationFailure else {
      self.init(.failed, "internal", Visible.name("\(error)"))
      return
    }
    var words = NotesCommand.message(for: error)
    var hint = "'notes help' lists the commands"
    if let suggestion = words.firstRange(of: ". Did you mean") {
      hint = "did you mean" + words[suggestion.upperBound...]
      words = String(words[..<suggestion.lowerBound])
    } else if let name = CommandLine.arguments.dropFirst().first(where: {
      Commands.type(named: $0) != nil
    }) {
      hint = "'notes \(name) --help' shows how to use it"
    }
    // The parser's sentences become our form: lower case, one line, no full stop.
    words = words.split(whereSeparator: \.isNewline).joined(separator: "; ")
    if words.hasSuffix(".") { words.removeLast() }
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
