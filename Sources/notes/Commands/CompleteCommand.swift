internal import ArgumentParser
internal import Git
internal import History
internal import Membership
internal import Notebook

/// What the shells' completions ask; not for people. Whatever goes wrong, it offers nothing.
struct CompleteCommand: Verb {
  enum Kind: String, ExpressibleByArgument {
    case commands, notes, deleted, versions, members, authors, operations
  }

  static let configuration = CommandConfiguration(
    commandName: "complete-words", abstract: "Print words for a shell's completion.",
    shouldDisplay: false)

  @Argument var kind: Kind
  @Argument var note: String?
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let words =
      switch kind {
      case .commands:
        Commands.all.map { "\($0._commandName)\t\($0.configuration.abstract)" }
          + ["help\tShow how to use a command."]
      case .notes: (try? notes()) ?? []
      case .deleted: (try? Self.deleted()) ?? []
      case .versions: (try? versions()) ?? []
      case .members: (try? Self.members()) ?? []
      case .authors: (try? Self.authors()) ?? []
      case .operations: (try? Self.operations()) ?? []
      }
    for word in words where !word.contains(where: \.isNewline) { Output.standard.line(word) }
    return .done
  }

  /// Titles, or paths where one is typed.
  private func notes() throws -> [String] {
    let paths = try Place.notebook().history.presentNotes().map(\.path)
    guard note?.contains("/") == true else { return Self.names(of: paths, among: paths) }
    return paths.map(\.description)
  }

  private static func deleted() throws -> [String] {
    let notebook = try Place.notebook()
    let paths = try notebook.history.deletedFiles().map(\.path).filter(\.isNote)
    return names(of: paths, among: try notebook.history.presentNotes().map(\.path) + paths)
  }

  /// Titles where one note alone has it, else paths.
  private static func names(of paths: [TreePath], among all: [TreePath]) -> [String] {
    let counts = Dictionary(grouping: all, by: \.noteTitle)
    return paths.map { counts[$0.noteTitle]?.count == 1 ? $0.noteTitle : $0.description }
  }

  private func versions() throws -> [String] {
    let notebook = try Place.notebook()
    let path = try Place.note(note ?? "", in: notebook, among: .former)
    var words: [String] = []
    try notebook.history.forEachVersion(of: path) { version in
      let when = TimeText.relative(version.commit.author.time, now: TimeText.now)
      words.append(
        "\(version.commit.id.short)\t\(when), \(Visible.name(version.commit.author.name))")
      return words.count < 30
    }
    return words
  }

  /// What can be taken back.
  private static func operations() throws -> [String] {
    try Place.notebook().history.operations().lazy.filter { !$0.isUndone && $0.kind != .undo }
      .prefix(30)
      .map { "\($0.after.short)\t\($0.kind.rawValue): \(Visible.name($0.summary))" }
  }

  /// Who may have made versions.
  private static func authors() throws -> [String] {
    Set(try OwnDevice.membership(of: Place.notebook()).members().map(\.name)).sorted()
  }

  private static func members() throws -> [String] {
    let notebook = try Place.notebook()
    return try OwnDevice.membership(of: notebook).members()
      .filter { !$0.isRemoved && $0.deviceID != notebook.identity.device.deviceID }.map(\.name)
  }
}
