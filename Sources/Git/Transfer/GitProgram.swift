internal import Glibc
public import System

/// The git program, which talks to other people's repositories: it has everybody's ssh configuration,
/// agents, known hosts, credential helpers and proxies.
public struct GitProgram: Sendable {
  /// Whether it, or what it starts, may ask for passwords on this process's terminal. Else it fails
  /// where it would ask.
  public var mayAsk = false
  /// Ends a run.
  public var cancellation: CancellationToken?
  /// How many seconds a run goes on in which nothing moves: git says nothing, and neither it nor what it
  /// started reads or writes a byte.
  public var patience = 60.0
  /// How many bytes of memory each of its programs may have.
  public var memoryBytes = 192 << 20
  /// Its name, which is looked up in $PATH, or its path.
  public var name = "git"

  /// One that asks nobody anything, and waits a minute for something to move.
  public init() {}

  /// The result of a run.
  struct Ending {
    let status: Int32
    let output: [UInt8]
    let progress: GitProgress
  }

  // How often `onTick` is called, and how long a run that is to end may take for it, in seconds.
  private static let (tick, farewell) = (0.1, 2.0)
  /// How much of its output is kept.
  private static let outputBytes = 1 << 20

  /// Runs it, with `GIT_DIR` the folder and the objects of other repositories beside that one's.
  ///
  /// - Parameters:
  ///   - input: a file that is its standard input; nothing when nil.
  ///   - onTick: called again and again while it runs; what it throws ends the run.
  /// - Throws: `TransferError.programMissing`, `.silent` and `.stopped`; a status other than 0 is the
  ///   caller's to judge.
  func run(
    _ arguments: [String], in gitFolder: String, objects: [String] = [],
    onTick: (GitProgress) throws -> Void = { _ in }
  ) throws -> Ending {
    guard isThere else { throw TransferError.programMissing(name) }
    var output = try Pipe()
    var errors = try Pipe()
    output.setNonBlocking()
    errors.setNonBlocking()
    let child: ChildProcess
    let (program, words) = limited
    do {
      child = try ChildProcess(
        program, arguments: (words + configuration + arguments).map { Array($0.utf8) },
        variables: variables(gitFolder, objects).map { Array($0.utf8) },
        withoutVariables: Self.foreignVariables, input: mayAsk ? .inherited : .null,
        output: .descriptor(output.writeEnd), errors: .descriptor(errors.writeEnd), group: group)
    } catch {
      throw error.errno == ENOENT ? TransferError.programMissing(name) : error
    }
    output.closeWriteEnd()
    errors.closeWriteEnd()
    var (text, progress) = ([UInt8](), GitProgress())
    let ending: ChildProcess.Ending?
    do {
      ending = try follow(child, output, errors, &text, &progress, onTick)
    } catch {
      end(child)
      throw error
    }
    // A process that ssh leaves behind may hold the stream open, so that its end is not waited for.
    while let piece = errors.read(), !piece.isEmpty { progress.read(piece) }
    progress.finish()
    if ending != .exited(0), Self.isOutOfMemory(progress.complaint) {
      throw TransferError.excessive("\(memoryBytes >> 20) MiB of memory")
    }
    guard case .exited(let status)? = ending else {
      if cancellation?.isCancelled == true { throw TransferError.stopped }
      return Ending(status: -1, output: text, progress: progress)
    }
    return Ending(status: status, output: text, progress: progress)
  }

  /// Reads what it writes until it has ended. Most close their standard output by ending, but one may close it
  /// and go on.
  ///
  /// - Returns: how it ended; nil where the system doesn't tell, as when this process was started with SIGCHLD
  ///   ignored.
  private func follow(
    _ child: ChildProcess, _ output: borrowing Pipe, _ errors: borrowing Pipe,
    _ text: inout [UInt8],
    _ progress: inout GitProgress, _ onTick: (GitProgress) throws -> Void
  ) throws -> ChildProcess.Ending? {
    var stillness = Stillness(of: child, patience: patience)
    var (outputEnd, errorEnd) = (output.readEnd, errors.readEnd)
    var written = 0
    while true {
      if written > Self.mostOutput {
        throw TransferError.excessive("\(Self.mostOutput >> 20) MiB of messages")
      }
      let stop = cancellation?.descriptor ?? -1
      let ready = Poll.wait(for: [outputEnd, errorEnd, stop], until: .now + Self.tick)
      if ready.contains(stop) { throw TransferError.stopped }
      if !ready.isEmpty { stillness.end() }
      if ready.contains(errorEnd) {
        if let piece = errors.read(), !piece.isEmpty {
          progress.read(piece)
          written += piece.count
        } else {
          errorEnd = -1
        }
      }
      if ready.contains(outputEnd) {
        if let piece = output.read(), !piece.isEmpty {
          text += piece.prefix(max(Self.outputBytes - text.count, 0))
          written += piece.count
        } else {
          outputEnd = -1
        }
      }
      // A program that it started may have the pipe for ever.
      if ready.isEmpty, outputEnd >= 0, let ending = child.wait(until: .now) { return ending }
      if outputEnd < 0 {
        if let ending = child.wait(until: errorEnd < 0 ? .now + Self.tick : .now) { return ending }
        if child.isGone { return nil }
      }
      try onTick(progress)
      if stillness.isTooLong { throw TransferError.silent(seconds: Int(patience)) }
    }
  }

  private var group: ChildProcess.Group { mayAsk ? .inherited : .session }

  private func end(_ child: ChildProcess) {
    child.signal(SIGTERM, group: group)
    if child.wait(until: .now + Self.farewell) != nil { return }
    child.signal(SIGKILL, group: group)
    child.wait()
  }
}

/// For how long nothing has moved. git says nothing while a server names its references, or works at what
/// it was given and sends only signs of life: what git and its programs read and write shows it.
private struct Stillness {
  private let child: ChildProcess
  private let patience: Double
  private var since = Instant.now
  private var traffic: Int
  private var looked = Instant.now

  init(of child: ChildProcess, patience: Double) {
    (self.child, self.patience) = (child, patience)
    traffic = child.traffic
  }

  mutating func end() { since = .now }

  var isTooLong: Bool {
    mutating get {
      let now = Instant.now
      if now - looked > patience / 20 {
        let present = child.traffic
        if present != traffic { since = now }
        (traffic, looked) = (present, now)
      }
      return now - since > patience
    }
  }
}
