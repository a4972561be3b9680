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
      """, version: "notes " + ProgramVersion.shown, groupedSubcommands: Commands.groups)

  /// The folders of `-C`, declared only for help and completions: `Invocation` has already read them.
  /// `FolderOption` would not do: the parser would use its value as that of the command.
  @Option(
    name: .customShort("C"), help: .named("dir", "Run as if started in this folder."),
    completion: .directory)
  var folders: [String] = []
}

enum Commands {
  static var groups: [CommandGroup] {
    [
      group(
        "Notebooks and notes", InitCommand.self, CloneCommand.self, NotebooksCommand.self,
        StatusCommand.self, SaveCommand.self, NewCommand.self, AddCommand.self, EditCommand.self,
        ListCommand.self,
        ShowCommand.self, SearchCommand.self,
        BrowseCommand.self, WebCommand.self, MoveCommand.self, RemoveCommand.self),
      group(
        "History", LogCommand.self, DiffCommand.self, BlameCommand.self, RestoreCommand.self,
        UndoCommand.self, RedoCommand.self, ForgetCommand.self),
      group("Conflicts", ConflictsCommand.self, ResolveCommand.self),
      group(
        "Other devices", InviteCommand.self, InvitationsCommand.self, JoinCommand.self,
        SyncCommand.self, PullCommand.self, PushCommand.self, RemoteCommand.self,
        BundleCommand.self, WatchCommand.self, ServeCommand.self, PeersCommand.self,
        MembersCommand.self, DeviceCommand.self),
      group(
        "Upkeep", ExportCommand.self, ImportCommand.self, ConfigCommand.self, DoctorCommand.self,
        GarbageCommand.self),
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

  /// Whether only the overview is requested.
  static func isHelp(_ arguments: [String]) -> Bool {
    arguments.isEmpty || [["help"], ["--help"], ["-h"]].contains(arguments)
  }

  /// The everyday commands, on one screen.
  static let daily = """
    notes: plain text notes with history, in sync between nearby devices

      notes init [FOLDER]     make a folder of text files a notebook
      notes status            show what changed, and what is in conflict
      notes save              save the changes in the folder as a version
      notes new, edit NOTE    write a note, and make a version of it
      notes list, search      find notes by title, by text
      notes log, diff [NOTE]  show who changed what, and when
      notes restore, undo     bring back what was: notes restore NOTE@yesterday
      notes conflicts, resolve        list conflicts, settle one

      notes invite            show a code that lets another device join
      notes join CODE         join a notebook by such a code
      notes sync              exchange versions with the devices that are there
      notes watch             save and sync by itself, until it is stopped
      notes doctor            look for what is wrong

    All commands: notes help --all. One of them: notes help COMMAND.

    """

  /// The names of the groups as headings; the parser writes "CONFLICTS SUBCOMMANDS".
  static func headed(_ help: String) -> String {
    groups.reduce(help) { text, group in
      text.replacing("\n\(group.name.uppercased()) SUBCOMMANDS:", with: "\n\(group.name):")
    }
  }

  private static let synonyms = [
    "annotate": "blame", "append": "add", "cat": "show", "checkout": "restore",
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
      hint: guess ?? "'notes help --all' lists the commands")
  }
}
