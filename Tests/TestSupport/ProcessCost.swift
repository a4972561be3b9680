internal import Glibc
internal import System

/// What a process has used so far, and holds now: proc(5).
public struct ProcessCost: Sendable {
  /// Seconds of processor, its own and those of its ended children.
  public let processorSeconds: Double
  /// The most bytes of memory that it had since `forgetPeak`.
  public let peakBytes: Int
  /// How many descriptors it has open.
  public let descriptors: Int
  /// How many threads it has.
  public let threads: Int

  /// Reads them.
  public init(of process: Int32) throws {
    let stat = String(decoding: try readFile("/proc/\(process)/stat"), as: UTF8.self)
    // The name of the program is in parentheses, and may hold some.
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    let ticks = fields.dropFirst(12).prefix(4).compactMap { Int($0) }.reduce(0, +)
    processorSeconds = Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    let status = String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self)
    func number(_ field: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
      return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }
    (peakBytes, threads) = (number("VmHWM") << 10, number("Threads"))
    descriptors = FileSystem<SystemError>.namesIfAny(in: "/proc/\(process)/fd").count
  }

  /// Lets the peak begin with what the process has now.
  public static func forgetPeak(of process: Int32) throws {
    try writeFile("/proc/\(process)/clear_refs", Array("5".utf8))
  }
}

/// What a command has used that is over, and all that it started and waited for.
public struct RunCost: Sendable {
  /// Seconds of processor of all of them.
  public let processorSeconds: Double
  /// The most bytes of memory that one of them had.
  public let peakBytes: Int
}

/// Runs a program to its end, as `run`, and measures it by getrusage(2) of a small process: a child begins with the
/// peak of the process that starts it.
public func runMeasured(
  _ command: [String], in folder: String? = nil, environment: [String: String]? = nil,
  within seconds: Double = 180
) throws -> (result: ProcessResult, cost: RunCost) {
  let script = """
    import os, resource, subprocess, sys
    code = subprocess.call(sys.argv[2:])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(sys.argv[1], "w") as file:
        file.write(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}")
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
    """
  let kept = try TemporaryFolder()
  let result = try run(
    ["python3", "-c", script, kept["cost"]] + command, in: folder, environment: environment,
    within: seconds)
  let words = try kept.text("cost").split(separator: " ")
  guard words.count == 2, let spent = Double(words[0]), let peak = Int(words[1]) else {
    throw ProcessTimeout(description: "no figures of \(command)")
  }
  return (result, RunCost(processorSeconds: spent, peakBytes: peak << 10))
}
