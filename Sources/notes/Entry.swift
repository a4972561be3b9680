internal import Glibc

/// Where the process starts.
@main
enum Entry {
  static func main() {
    let exit = Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run()
    Glibc.exit(exit.rawValue)
  }
}
