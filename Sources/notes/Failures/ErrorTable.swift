internal import ArgumentParser
internal import Channel
internal import Merge
internal import Notebook
internal import Sync
internal import System
internal import WorkTree

/// What an error means beyond its own words: how the command ends, its name for programs, and what to
/// do about it.
struct ErrorMeaning {
  let exit: Exit
  let kind: String
  let hint: String?

  init(_ exit: Exit, _ kind: String, _ hint: String?) {
    self.exit = exit
    self.kind = kind
    self.hint = hint
  }
}

/// An error of a module, which tells what happened, and here what that means.
protocol ExplainedError: Error, CustomStringConvertible {
  var meaning: ErrorMeaning { get }
}

extension Failure {
  init(describing error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case ChannelError.cancelled, SyncError.stopped: self = .interrupted
    case NotebookError.noSuchNote(let name), NotebookError.ambiguousNote(let name, _):
      self.init(explaining: error, name: name)
    case let error as MergeError:
      self.init(
        .failed, "merge_failed", Visible.name("the merge failed: \(error)"), hint: Self.examine)
    case let error as SystemCallError: self = .system(error.call, errno: error.errno)
    default: self.init(explaining: error)
    }
  }

  private init(explaining error: any Error, name: String? = nil) {
    guard let error = error as? any ExplainedError else {
      self.init(parsing: error)
      return
    }
    let meaning = error.meaning
    self.init(
      meaning.exit, meaning.kind, Visible.name(error.description), hint: meaning.hint, name: name)
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
