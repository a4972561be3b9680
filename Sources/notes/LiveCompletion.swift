internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook

/// Completions beyond the words of the command line's own grammar: the notes, versions and devices of the
/// current notebook. If anything fails, it offers nothing.
struct LiveCompletion {
  private typealias Offer = (word: String, about: String)

  private let notebook: Notebook
  /// The typed part of the word, without the shell's quotes.
  private let typed: String

  private static func kind(
    _ offers: @escaping @Sendable (LiveCompletion) throws -> [Offer]
  ) -> CompletionKind {
    .custom { words, _, prefix in
      let words = words.map(unquoted)
      for (option, folder) in zip(words, words.dropFirst()) where option == "-C" {
        guard chdir(folder) == 0 else { return [] }
      }
      // If a completion fails, offer nothing.
      guard let notebook = try? NotebookLocator.notebook(),
        let found = try? offers(LiveCompletion(notebook: notebook, typed: unquoted(prefix)))
      else { return [] }
      return found.filter { !$0.word.contains(where: \.isNewline) }.map(written)
    }
  }

  private static func words(_ words: some Sequence<String>) -> [Offer] { words.map { ($0, "") } }

  // MARK: Notes

  private func notes() throws -> [String] {
    let paths = try notebook.history.presentNotes().map(\.path)
    return typed.contains("/") ? paths.map(\.description) : Self.names(of: paths, among: paths)
  }

  private func deletedNotes() throws -> [String] {
    let paths = try notebook.history.deletedFiles().map(\.path).filter(\.isNote)
    return Self.names(of: paths, among: try notebook.history.presentNotes().map(\.path) + paths)
  }

  private func folders() throws -> [String] {
    let notes = try notebook.history.presentNotes().map(\.path)
    return TreePath.folders(of: notes).map { $0.description + "/" }
  }

  /// Titles that only one note has, otherwise paths.
  private static func names(of paths: [TreePath], among all: [TreePath]) -> [String] {
    let counts = Dictionary(grouping: all, by: \.noteTitle)
    return paths.map { counts[$0.noteTitle]?.count == 1 ? $0.noteTitle : $0.description }
  }

  /// The versions of the note before the `@`; nil if there is no `@` yet.
  private func versions() throws -> [Offer]? {
    guard let at = typed.lastIndex(of: "@"), at != typed.startIndex else { return nil }
    let name = String(typed[..<at])
    let path = try NotebookLocator.note(name, in: notebook, among: .former)
    var offers: [Offer] = []
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    try notebook.history.forEachVersion(of: path) { version in
      let author = SharedNames().shown(try proofs.author(of: version.commit))
      let when = TimeText.relative(version.commit.author.time, now: TimeText.now)
      offers.append(("\(name)@\(version.commit.id.short)", "\(when), \(author)"))
      return offers.count < Self.most
    }
    return offers
  }

  private static let most = 30

  // MARK: The shells

  /// The word that the user means, from the text as typed in the shell.
  private static func unquoted(_ word: String) -> String {
    var text = ""
    var quote: Character?
    var characters = word.makeIterator()
    while let character = characters.next() {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
      } else if character == "\\", quote != "'" {
        if let next = characters.next() { text.append(next) }
      } else {
        text.append(character)
      }
    }
    return text
  }

  private static func written(_ offer: Offer) -> String {
    func escaped(_ isSpecial: (Character) -> Bool) -> String {
      offer.word.map { isSpecial($0) ? "\\\($0)" : "\($0)" }.joined()
    }
    switch CompletionShell.requesting {
    case .bash?:
      // The script expands the words: the text of a title must not be run.
      return escaped { $0.isASCII && !$0.isLetter && !$0.isNumber }
    case .zsh?:
      let word = escaped { $0 == ":" || $0 == "\\" }
      return offer.about.isEmpty ? word : "\(word):\(offer.about)"
    default: return offer.about.isEmpty ? offer.word : "\(offer.word)\t\(offer.about)"
    }
  }

  /// A completion script adapted to the shell; other texts are unchanged.
  ///
  /// bash would end a word at the `@` of NOTE@VERSION to complete a host name. fish 3 knows the cursor's
  /// position only at a prompt, not in `complete -C`. There the length of the word up to the cursor is the same
  /// number.
  static func adapted(_ text: String) -> String {
    let bash = "#!/bin/bash\n"
    if text.hasPrefix(bash) {
      return bash + "\nshopt -u hostcomplete\n" + text.dropFirst(bash.count)
    }
    guard text.contains("\ncomplete -c 'notes' -f\n") else { return text }
    return text.replacing("(__notes_tokens -tC)", with: #"(string length -- "$(commandline -ct)")"#)
  }

  static var notes: CompletionKind { kind { try words($0.notes()) } }
  static var notesAndFolders: CompletionKind { kind { try words($0.notes() + $0.folders()) } }

  static var conflicts: CompletionKind {
    kind { try words($0.notebook.history.conflicts().map(\.path.noteTitle)) }
  }

  /// Each note's name, also with an `@`, which keeps the shell from adding a space; after the `@`, versions.
  static var noteVersions: CompletionKind {
    kind { try $0.versions() ?? words($0.notes().flatMap { [$0, $0 + "@"] }) }
  }

  static var restorable: CompletionKind {
    kind { try $0.versions() ?? words($0.deletedNotes() + $0.notes().map { $0 + "@" }) }
  }

  static var undoable: CompletionKind {
    kind { live in
      let operations = try live.notebook.history.operations().lazy
        .filter { !$0.isUndone && $0.kind != .undo }
        // If git has pruned an operation's versions, it counts as one that changed something.
        .filter { (try? live.notebook.history.hasEffect($0)) ?? true }.prefix(most)
      return operations.map { ($0.after.short, "\($0.kind.rawValue): \(Visible.name($0.summary))") }
        + (try words(live.notes()))
    }
  }

  static var hubs: CompletionKind { kind { try words($0.notebook.hubs().map(\.name)) } }

  static var guests: CompletionKind {
    kind { try words(GuestBook(stateFolder: $0.notebook.stateFolder).guests().map(\.name)) }
  }

  /// The possible arguments of a sync: the other devices, and the hubs.
  static var peers: CompletionKind {
    kind { live in
      let own = live.notebook.identity.device.deviceID
      let members = try live.notebook.membership().members().others(besides: own)
      return words(members.calledNames + (try live.notebook.hubs().map(\.name)))
    }
  }

  static var members: CompletionKind {
    kind { live in
      let own = live.notebook.identity.device.deviceID
      return words(try live.notebook.membership().members().others(besides: own).calledNames)
    }
  }

  static var authors: CompletionKind {
    kind { try words(Set($0.notebook.membership().members().map(\.name)).sorted()) }
  }
}

extension CompletionKind {
  static var times: CompletionKind {
    .list(["today", "yesterday", "monday", "last week", "last month"])
  }

  static var roles: CompletionKind { .list(["reader", "writer", "admin"]) }
}
