internal import ArgumentParser

/// The whole tree of commands, for help.
struct NotesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes",
    abstract: "Plain text notes with history, in sync between nearby devices.",
    discussion: """
      A notebook is a folder of text files. notes keeps every version of every file and exchanges \
      versions with the devices you invited, over the local network and without a server.

      Start with 'notes init' in a folder, then 'notes invite' here and 'notes join' on the other \
      device. notes(1) describes the files, the environment and the exit codes.
      """,
    version: "notes " + ProgramVersion.current,
    subcommands: Commands.hidden,
    groupedSubcommands: Commands.groups)
}

/// Which commands there are.
enum Commands {
  /// The commands by purpose, as help lists them.
  static var groups: [CommandGroup] {
    [
      CommandGroup(
        name: "Notebooks and notes",
        subcommands: [
          InitCommand.self, StatusCommand.self, SaveCommand.self, NewCommand.self,
          EditCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self,
          BrowseCommand.self, MoveCommand.self, RemoveCommand.self,
        ]),
      CommandGroup(
        name: "History",
        subcommands: [
          LogCommand.self, DiffCommand.self, BlameCommand.self, RestoreCommand.self,
          UndoCommand.self, RedoCommand.self,
        ]),
      CommandGroup(
        name: "Conflicts",
        subcommands: [ConflictsCommand.self, ResolveCommand.self]),
      CommandGroup(
        name: "Other devices",
        subcommands: [
          InviteCommand.self, InvitationsCommand.self, JoinCommand.self, SyncCommand.self,
          PullCommand.self, PushCommand.self, WatchCommand.self, ServeCommand.self,
          PeersCommand.self, MembersCommand.self, DeviceCommand.self,
        ]),
      CommandGroup(
        name: "Upkeep",
        subcommands: [ConfigCommand.self, DoctorCommand.self, GarbageCommand.self]),
    ]
  }

  /// Commands that other programs call.
  static var hidden: [any ParsableCommand.Type] { [CompleteCommand.self] }

  /// The commands that help lists.
  static var all: [any ParsableCommand.Type] { groups.flatMap(\.subcommands) }

  /// The command of that name, or nil.
  static func type(named name: String) -> (any ParsableCommand.Type)? {
    switch name {
    case "init": InitCommand.self
    case "status": StatusCommand.self
    case "save": SaveCommand.self
    case "new": NewCommand.self
    case "edit": EditCommand.self
    case "list": ListCommand.self
    case "show": ShowCommand.self
    case "search": SearchCommand.self
    case "browse": BrowseCommand.self
    case "mv": MoveCommand.self
    case "rm": RemoveCommand.self
    case "log": LogCommand.self
    case "diff": DiffCommand.self
    case "blame": BlameCommand.self
    case "restore": RestoreCommand.self
    case "conflicts": ConflictsCommand.self
    case "resolve": ResolveCommand.self
    case "undo": UndoCommand.self
    case "redo": RedoCommand.self
    case "invite": InviteCommand.self
    case "invitations": InvitationsCommand.self
    case "join": JoinCommand.self
    case "sync": SyncCommand.self
    case "pull": PullCommand.self
    case "push": PushCommand.self
    case "watch": WatchCommand.self
    case "serve": ServeCommand.self
    case "peers": PeersCommand.self
    case "members": MembersCommand.self
    case "device": DeviceCommand.self
    case "config": ConfigCommand.self
    case "doctor": DoctorCommand.self
    case "gc": GarbageCommand.self
    case "complete-words": CompleteCommand.self
    default: nil
    }
  }

  /// What commands are called elsewhere.
  private static let synonyms = [
    "add": "save", "annotate": "blame", "cat": "show", "checkout": "restore", "clone": "join",
    "commit": "save", "copy": "restore", "cp": "restore", "create": "new", "delete": "rm",
    "fetch": "pull", "find": "search", "grep": "search", "history": "log", "ls": "list",
    "move": "mv", "open": "edit", "print": "show", "remove": "rm", "rename": "mv",
    "revert": "undo", "st": "status", "touch": "new", "version": "--version", "view": "show",
    "write": "edit",
  ]

  /// The mistake of asking for a command that is not there.
  static func unknown(_ name: String) -> Failure {
    let names = all.map { $0._commandName } + ["help"]
    let guess =
      synonyms[name].map { "did you mean '\($0)'?" } ?? Failure.guess(name, among: names)
    return .usage(
      "there is no command '\(Visible.name(name))'",
      hint: guess ?? "'notes help' lists the commands")
  }
}
