internal import Glibc

/// A secret among the arguments, which other users see in the list of processes: proc(5), cmdline.
enum CommandLineSecret {
  /// Overwrites an argument in the memory that the list is made from. Whoever looked before has seen
  /// it, so reading the secret from a file or standard input is the safer way.
  static func hide(_ secret: String) {
    for position in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[position], strcmp(argument, secret) == 0 else {
        continue
      }
      memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
    }
  }
}
