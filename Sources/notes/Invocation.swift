internal import ArgumentParser

/// One run of the program, from its arguments to its exit code.
///
/// What runs most often is reached without the argument parser, whose reflection over all commands
/// takes about a third of the time that `notes status` has.
struct Invocation {
  let arguments: [String]

  /// Runs the command and reports how it ended.
  func run() -> Exit {
    do {
      let exit = try perform()
      try Output.standard.finish()
      Output.errors.flush()
      return exit
    } catch let request where NotesCommand.exitCode(for: request) == .success {
      // Help is thrown like an error, but it is what was asked for.
      let text = NotesCommand.fullMessage(for: request)
      Output.standard.write(text.hasSuffix("\n") ? text : text + "\n")
      Output.standard.flush()
      return .done
    } catch {
      let failure = Failure(describing: error).withNearNames().withUsage(of: arguments)
      failure.report(json: arguments.contains("--json"))
      return failure.exit
    }
  }

  private func perform() throws -> Exit {
    var rest = arguments[...]
    // `-C DIR` may stand before the command too.
    while rest.first == "-C", let folder = rest.dropFirst().first {
      try PlaceOption.enter(folder)
      rest = rest.dropFirst(2)
    }
    if rest.first == "--version", rest.count == 1 {
      Output.standard.line("notes " + ProgramVersion.current)
      return .done
    }
    if rest.first == "status", let exit = try StatusCommand.runPlain(rest.dropFirst()) {
      return exit
    }
    if rest.first == "save", let exit = try SaveCommand.runPlain(rest.dropFirst()) { return exit }
    if rest.first == "restore", let exit = try RestoreCommand.runPlain(rest.dropFirst()) {
      return exit
    }
    return try perform(parse(Array(rest)))
  }

  private func perform(_ command: any ParsableCommand) throws -> Exit {
    if let verb = command as? any Verb {
      try verb.place.enter()
      return try verb.perform()
    }
    var command = command
    try command.run()
    return .done
  }

  /// The command the arguments ask for. Its own type parses them; only where that fails, or for
  /// help, is the whole tree of commands asked, which knows how to say it.
  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first, let type = Commands.type(named: name),
      let command = try? type.parseAsRoot(Array(arguments.dropFirst())), command is any Verb
    {
      return command
    }
    let asked = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
    if let name = asked, !name.hasPrefix("-"), name != "help", Commands.type(named: name) == nil {
      throw Commands.unknown(name)
    }
    return try NotesCommand.parseAsRoot(arguments)
  }
}
