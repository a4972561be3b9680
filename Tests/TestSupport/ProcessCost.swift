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
