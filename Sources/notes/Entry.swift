internal import CLinux
internal import Glibc

@main
enum Entry {
  /// Large notebooks make large arrays, one after another; each is to be there once.
  private static let largeBlock: Int32 = 1 << 20

  static func main() {
    notes_return_blocks_from(largeBlock)
    // A file that would get too large (ulimit -f) is an error like a full disk, not the end.
    signal(SIGXFSZ, SIG_IGN)
    let exit = Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run()
    // Not exit(3): its handlers take the C libraries apart below threads that still use them, such as
    // one that waits for a device which did not answer.
    fflush(nil)
    _exit(exit.rawValue)
  }
}
