internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import Synchronization
internal import System

@main enum Entry {
  static func main() {
    // Large notebooks make large arrays, one after another; freed blocks must return to the system
    // at once.
    notes_return_blocks_from(1 << 20)
    // A file over the limit (ulimit -f) is an error like a full disk, and must not end the process.
    signal(SIGXFSZ, SIG_IGN)
    // With a small stack (ulimit -s), the process would crash in the middle of something.
    if ThreadStack.isSmall, (try? ThreadStack.withRoom { run() }) != nil { return }
    run()
  }

  private static func run() {
    let exit = Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run()
    // This must not be exit(3): its handlers would tear down the C libraries while other threads
    // still use them, such as one that waits for a device.
    fflush(nil)
    _exit(exit.rawValue)
  }
}

/// A command of `notes`. It reads options, makes one call into the modules, and writes one report. `run()`
/// throws a `Failure`, an error of a module, which the error table explains, or an `Exit` if the command
/// succeeds with a special exit code.
protocol Command: ParsableCommand {
  associatedtype Options: FolderChoice
  var options: Options { get }
  /// Reports the counters, if requested: `--stats`.
  func tellCounters()
}

extension Command {
  func tellCounters() {}
}

struct Invocation {
  let arguments: [String]

  func run() -> Exit {
    do {
      let exit = try runCommand()
      try Output.standard.finish()
      Output.errors.flush()
      return exit
    } catch let request where NotesCommand.exitCode(for: request) == .success {
      // Help is thrown like an error, but it is a success.
      let text = Commands.headed(LiveCompletion.adapted(NotesCommand.fullMessage(for: request)))
      Output.standard.write(text.hasSuffix("\n") ? text : text + "\n")
      Output.standard.flush()
      return .done
    } catch {
      let failure = Failure(describing: error).withNearNames().withAdmins().withUsage(of: arguments)
      failure.report(json: arguments.contains("--json"))
      return failure.exit
    }
  }

  private func runCommand() throws -> Exit {
    var rest = arguments[...]
    while rest.first == "-C", let folder = rest.dropFirst().first {
      try FolderOption.enter(folder)
      rest = rest.dropFirst(2)
    }
    if Commands.isHelp(Array(rest)) {
      Output.standard.write(Commands.daily)
      return .done
    }
    if rest.first == "--version", ProgramVersion.tell(Array(rest.dropFirst())) { return .done }
    do {
      if try runPlain(rest) { return .done }
      var command = try parse(Array(rest))
      let own = command as? any Command
      try own?.options.enterFolder()
      // Reports the counters even if the command fails, or ends with a special exit code.
      defer { own?.tellCounters() }
      try command.run()
      return .done
    } catch let exit as Exit {
      return exit
    }
  }

  /// Runs the most frequent commands without options directly; returns false for all others. The argument
  /// parser's reflection would take three quarters of the time of `notes list`.
  private func runPlain(_ words: ArraySlice<String>) throws -> Bool {
    let rest = words.dropFirst()
    guard !rest.contains(where: { $0.hasPrefix("-") }) else { return false }
    switch words.first {
    case "status" where rest.isEmpty: try StatusCommand.show()
    case "save": try SaveCommand.save(Array(rest))
    case "list" where rest.isEmpty: try ListCommand.list(in: NotebookLocator.notebook())
    case "log" where rest.isEmpty: try LogCommand.show()
    case "show" where rest.count == 1: try ShowCommand.show(rest[rest.startIndex])
    default: return false
    }
    return true
  }

  /// The command that the arguments name. Its own type parses them. Only for help, or if that fails, the whole
  /// tree of commands parses them and writes the message.
  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first, let type = Commands.type(named: name),
      // The complete parser below reports an error.
      let command = try? type.parseAsRoot(Array(arguments.dropFirst())), command is any Command
    {
      return command
    }
    if arguments == ["help", "--all"] { return try NotesCommand.parseAsRoot(["help"]) }
    let asked = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
    if let name = asked, !name.hasPrefix("-"), name != "help", Commands.type(named: name) == nil {
      throw Commands.unknown(name)
    }
    return try NotesCommand.parseAsRoot(arguments)
  }
}

/// Ctrl-C and requests to terminate, for commands that wait. The first signal ends the wait and lets the
/// command finish its current work; the second ends the process.
enum Interruption {
  /// The descriptor that the signal handler writes to; -1 while there is nothing to end.
  private static let descriptor = Atomic<Int32>(-1)
  private static let received = Atomic<Int32>(0)

  /// A token that the first signal cancels. A command calls this once.
  static func token() throws -> CancellationToken {
    let token = try CancellationToken()
    // The handler may run until the process ends, so its descriptor must stay open.
    _ = Unmanaged.passRetained(token)
    descriptor.store(token.descriptor, ordering: .sequentiallyConsistent)
    for signal in [SIGINT, SIGTERM, SIGHUP] { install(signal) }
    return token
  }

  static var hasCome: Bool { received.load(ordering: .sequentiallyConsistent) != 0 }

  /// The exit of a service: a success after SIGTERM, an interruption after Ctrl-C.
  static var exit: Exit {
    received.load(ordering: .sequentiallyConsistent) == SIGTERM ? .done : .interrupted
  }

  private static func install(_ signal: Int32) {
    var former = sigaction()
    sigaction(signal, nil, &former)
    // A program that was started with the signal ignored (nohup) continues to ignore it. SIG_IGN, a
    // function in Swift, is 1.
    if unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == 1 { return }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { @Sendable signal in
      let number = errno
      Interruption.received.store(signal, ordering: .sequentiallyConsistent)
      WakeUp.signal(Interruption.descriptor.load(ordering: .sequentiallyConsistent))
      errno = number
    }
    // The handler runs only once, and a read that waits for an answer returns.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(signal, &action, nil)
  }
}
