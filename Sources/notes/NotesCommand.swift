internal import ArgumentParser

struct NotesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes",
    abstract: "Plain text notes with history, in sync between nearby devices.",
    discussion: """
      A notebook is a folder of text files. notes keeps every version of every file and exchanges \
      versions with the devices you invited, over the local network and without a server.

      Start with 'notes init' in a folder, then 'notes invite' here and 'notes join' on the other \
      device. notes(1) describes the files, the environment and the exit codes.
      """, version: "notes " + ProgramVersion.current, groupedSubcommands: Commands.groups)

  /// For help and completions: `Invocation` has read it by then. Not `FolderOption`: the parser would
  /// take its value for that of the command.
  @Option(
    name: .customShort("C"), help: .named("dir", "Run as if started in this folder."),
    completion: .directory)
  var folders: [String] = []
}

enum Commands {
  static var groups: [CommandGroup] {
    [
      group(
        "Notebooks and notes", InitCommand.self, StatusCommand.self, SaveCommand.self,
        NewCommand.self, EditCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self,
        BrowseCommand.self, MoveCommand.self, RemoveCommand.self),
      group(
        "History", LogCommand.self, DiffCommand.self, BlameCommand.self, RestoreCommand.self,
        UndoCommand.self, RedoCommand.self),
      group("Conflicts", ConflictsCommand.self, ResolveCommand.self),
      group(
        "Other devices", InviteCommand.self, InvitationsCommand.self, JoinCommand.self,
        SyncCommand.self, PullCommand.self, PushCommand.self, WatchCommand.self, ServeCommand.self,
        PeersCommand.self, MembersCommand.self, DeviceCommand.self),
      group("Upkeep", ConfigCommand.self, DoctorCommand.self, GarbageCommand.self),
    ]
  }

  private static func group(
    _ name: String, _ commands: any ParsableCommand.Type...
  ) -> CommandGroup {
    CommandGroup(name: name, subcommands: commands)
  }

  static var all: [any ParsableCommand.Type] { groups.flatMap(\.subcommands) }

  static func type(named name: String) -> (any ParsableCommand.Type)? {
    all.first { $0._commandName == name }
  }

  /// The names of the groups as headings; the parser writes "CONFLICTS SUBCOMMANDS".
  static func headed(_ help: String) -> String {
    groups.reduce(help) { text, group in
      text.replacing("\n\(group.name.uppercased()) SUBCOMMANDS:", with: "\n\(group.name):")
    }
  }

  private static let synonyms = [
    "add": "save", "annotate": "blame", "cat": "show", "checkout": "restore", "clone": "join",
    "commit": "save", "copy": "restore", "cp": "restore", "create": "new", "delete": "rm",
    "fetch": "pull", "find": "search", "grep": "search", "history": "log", "ls": "list",
    "move": "mv", "open": "edit", "print": "show", "remove": "rm", "rename": "mv",
    "revert": "undo", "st": "status", "touch": "new", "version": "--version", "view": "show",
    "write": "edit",
  ]

  static func unknown(_ name: String) -> Failure {
    let names = all.map { $0._commandName } + ["help"]
    let guess = synonyms[name].map { "did you mean '\($0)'?" } ?? Failure.guess(name, among: names)
    return .usage(
      "there is no command '\(Visible.name(name))'",
      hint: guess ?? "'notes help' lists the commands")
  }
}
