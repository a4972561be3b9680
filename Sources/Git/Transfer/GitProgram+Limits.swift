internal import Glibc
internal import System

/// The limits of a run: notes-hub(7), "What is run". A server can name references without end, or never end
/// a line, and git keeps all of it.
extension GitProgram {
  /// How many bytes it may write to its standard output and error together, of which little is kept.
  static let mostOutput = 4 << 20

  /// How many seconds of the processor each of its programs may take.
  private static let processorSeconds = 1_800

  /// The program that begins with these words, with the limits that it and what it starts have. ulimit is the
  /// shell's: posix_spawn(3) sets none, and this process is to have none.
  var limited: (program: String, words: [String]) {
    let script =
      #"ulimit -S -d "$1" 2>/dev/null; ulimit -S -t "$2" 2>/dev/null; shift 2; exec "$@""#
    return (
      "/bin/sh",
      ["sh", "-c", script, "sh", "\(memoryBytes >> 10)", "\(Self.processorSeconds)", name]
    )
  }

  /// Whether there is a program of this name, which the shell would not tell apart from one that failed.
  var isThere: Bool {
    if name.contains("/") { return Counted.access(name, X_OK) == 0 }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":", omittingEmptySubsequences: false).contains {
      Counted.access(($0.isEmpty ? "." : String($0)) + "/" + name, X_OK) == 0
    }
  }

  /// Whether its last words say that it was refused memory.
  package static func isOutOfMemory(_ lines: [String]) -> Bool {
    let words = ["out of memory", "cannot allocate memory", "mmap failed", "malloc failed"]
    return lines.contains { line in words.contains(where: line.lowercased().contains) }
  }
}
