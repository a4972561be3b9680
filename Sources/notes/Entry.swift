internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import Synchronization
internal import System

@main enum Entry {
  static func main() {
    // Large notebooks make large arrays, one after another; each is to be there once.
    notes_return_blocks_from(1 << 20)
    // A file that would get too large (ulimit -f) is an error like a full disk, not the end.
    signal(SIGXFSZ, SIG_IGN)
    // A small stack (ulimit -s) would end in the middle of something, without a word.
    if ThreadStack.isSmall, (try? ThreadStack.withRoom { run() }) != nil { return }
    run()
  }

  private static func run() {
    let exit = Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run()
    // Not exit(3): its handlers take the C libraries apart below threads that still use them, such as
    // one that waits for a device which did not answer.
    fflush(nil)
    _exit(exit.rawValue)
  }
}

/// A command of `notes`: options in, one call into the modules, one report out.
/// `run()` throws a `Failure`, any module's error, which the error table explains, or an `Exit` where
/// the command ends well with a code of its own.
protocol Command: ParsableCommand {
  associatedtype Options: FolderChoice
  var options: Options { get }
  /// Tells what it counted, where that is asked for: `--stats`.
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
      // Help is thrown like an error, but it is what was asked for.
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
      // Also where it fails, or ends with a code of its own.
      defer { own?.tellCounters() }
      try command.run()
      return .done
    } catch let exit as Exit {
      return exit
    }
  }

  /// Runs, where no option is given, what people wait for so often that the argument parser, whose
  /// reflection takes three quarters of `notes list`, is passed by; false for all else.
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

  /// The command the arguments ask for. Its own type parses them; only where that fails, or for
  /// help, is the whole tree of commands asked, which knows how to say it.
  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first, let type = Commands.type(named: name),
      // An error is told by the whole parser, below.
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

/// Ctrl-C and requests to terminate, for commands that wait: the first ends the waiting and lets
/// the command finish what it is in the middle of, the second ends the process.
enum Interruption {
  /// The descriptor that the signal handler writes to; -1 before there is anything to end.
  private static let descriptor = Atomic<Int32>(-1)
  private static let received = Atomic<Int32>(0)

  /// A token that the first signal cancels. A command asks for it once.
  static func token() throws -> CancellationToken {
    let token = try CancellationToken()
    // The handler may run until the process ends, and so must what it writes to.
    _ = Unmanaged.passRetained(token)
    descriptor.store(token.descriptor, ordering: .sequentiallyConsistent)
    for signal in [SIGINT, SIGTERM, SIGHUP] { install(signal) }
    return token
  }

  static var hasCome: Bool { received.load(ordering: .sequentiallyConsistent) != 0 }

  /// A request to terminate is how services are ended; Ctrl-C is told as what it is.
  static var exit: Exit {
    received.load(ordering: .sequentiallyConsistent) == SIGTERM ? .done : .interrupted
  }

  private static func install(_ signal: Int32) {
    var former = sigaction()
    sigaction(signal, nil, &former)
    // A program that was started to ignore it (nohup) goes on ignoring it. SIG_IGN, a function to Swift, is
    // 1.
    if unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == 1 { return }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { @Sendable signal in
      let number = errno
      Interruption.received.store(signal, ordering: .sequentiallyConsistent)
      WakeUp.signal(Interruption.descriptor.load(ordering: .sequentiallyConsistent))
      errno = number
    }
    // Once only; and a read that waits for an answer returns.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(signal, &action, nil)
  }
}
