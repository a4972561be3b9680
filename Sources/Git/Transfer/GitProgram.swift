internal import Glibc
public import System

/// The git program, which connects to other repositories: it uses the user's ssh configuration, agents,
/// known hosts, credential helpers and proxies.
public struct GitProgram: Sendable {
  /// Whether git and its children may ask for passwords on this process's terminal. If not, they fail
  /// instead of asking.
  public var mayAsk = false
  /// Cancelling this token ends a run.
  public var cancellation: CancellationToken?
  /// A run ends after this many seconds without progress. Progress is output of git, or a byte that git or its children
  /// read or write.
  public var patience = 60.0
  /// The limit of memory for git and for each of its children, in bytes.
  public var memoryBytes = 192 << 20
  /// The program's name, which is looked up in $PATH, or its path.
  public var name = "git"

  /// A program that never asks for passwords, and ends after a minute without progress.
  public init() {}

  /// The result of a run.
  struct Ending {
    let status: Int32
    let output: [UInt8]
    let progress: GitProgress
  }

  // The seconds between calls of `onTick`, and the time for a cancelled run to end.
  private static let (tick, farewell) = (0.1, 2.0)
  /// How much of git's output is stored.
  private static let outputBytes = 1 << 20

  /// Runs git with the folder as `GIT_DIR`, and with the objects of other repositories as alternates.
  ///
  /// - Parameters:
  ///   - input: a file for standard input; nil for none.
  ///   - onTick: called regularly while git runs. If it throws, the run ends.
  /// - Throws: `TransferError.programMissing`, `.silent` and `.stopped`. The caller must check the status.
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
    // A process that ssh leaves behind may keep the stream open: do not wait for its end.
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

  /// Reads the program's output until the program ends. Most programs close their standard output when
  /// they end, but one may close it earlier.
  ///
  /// - Returns: the exit status; nil if the system does not report it, for example because this process
  ///   was started with SIGCHLD ignored.
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
      // A child of git may keep the pipe open for ever.
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

/// Measures how long a run has made no progress. git prints nothing while a server sends its references or
/// works on the received data, so the bytes that git and its children read and write also count as progress.
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
