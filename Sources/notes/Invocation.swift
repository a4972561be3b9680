internal import ArgumentParser

struct Invocation {
  let arguments: [String]

  func run() -> Exit {
    do {
      let exit = try runCommand()
      try Output.standard.finish()
      Output.errors.flush()
      return exit
    } catch let request where NotesCommand.exitCode(for: request) == .success {
      // Help is thrown like an error, but it is what was asked for.
      let text = Commands.headed(
        LiveCompletion.adapted(NotesCommand.fullMessage(for: request)))
      Output.standard.write(text.hasSuffix("\n") ? text : text + "\n")
      Output.standard.flush()
      return .done
    } catch {
      let failure = Failure(describing: error).withNearNames().withUsage(of: arguments)
      failure.report(json: arguments.contains("--json"))
      return failure.exit
    }
  }

  private func runCommand() throws -> Exit {
    var rest = arguments[...]
    // `-C DIR` may stand before the command too.
    while rest.first == "-C", let folder = rest.dropFirst().first {
      try FolderOption.enter(folder)
      rest = rest.dropFirst(2)
    }
    if rest == ["--version"] {
      Output.standard.line("notes " + ProgramVersion.current)
      return .done
    }
    do {
      if try runPlain(rest) { return .done }
      var command = try parse(Array(rest))
      try (command as? any Command)?.options.enterFolder()
      try command.run()
      return .done
    } catch let exit as Exit {
      return exit
    }
  }

  /// Runs a command that can do without the argument parser; false where it is needed.
  private func runPlain(_ words: ArraySlice<String>) throws -> Bool {
    guard let type = Commands.plain.first(where: { $0._commandName == words.first }),
      !words.contains(where: { $0.hasPrefix("-") })
    else { return false }
    return try type.run(on: words.dropFirst())
  }

  /// The command the arguments ask for. Its own type parses them; only where that fails, or for
  /// help, is the whole tree of commands asked, which knows how to say it.
  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first, let type = Commands.type(named: name),
      let command = try? type.parseAsRoot(Array(arguments.dropFirst())), command is any Command
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
