internal import Glibc
internal import System

/// The limits of a run: notes-hub(7), "What is run". A server can send endless
/// references, or a line without an end, and git keeps all of it in memory.
extension GitProgram {
  /// The most bytes of standard output and error together, of which little is stored.
  static let mostOutput = 4 << 20

  /// The processor time, in seconds, for each of its processes.
  private static let processorSeconds = 1_800

  /// The command, run by a shell that first sets the limits for the command and its children. ulimit is a
  /// command of the shell. posix_spawn(3) sets no limits, and this process must not have them.
  var limited: (program: String, words: [String]) {
    let script =
      #"ulimit -S -d "$1" 2>/dev/null; ulimit -S -t "$2" 2>/dev/null; shift 2; exec "$@""#
    return (
      "/bin/sh",
      ["sh", "-c", script, "sh", "\(memoryBytes >> 10)", "\(Self.processorSeconds)", name]
    )
  }

  /// Whether a program with this name exists. Needed because the shell reports a missing program like one that
  /// failed.
  var isThere: Bool {
    if name.contains("/") { return Counted.access(name, X_OK) == 0 }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":", omittingEmptySubsequences: false).contains {
      Counted.access(($0.isEmpty ? "." : String($0)) + "/" + name, X_OK) == 0
    }
  }

  /// Whether git's last lines say that it ran out of memory.
  package static func isOutOfMemory(_ lines: [String]) -> Bool {
    let words = ["out of memory", "cannot allocate memory", "mmap failed", "malloc failed"]
    return lines.contains { line in words.contains(where: line.lowercased().contains) }
  }
}
