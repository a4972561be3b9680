internal import Glibc
internal import State
internal import System

/// The user's browser. Opens a file that redirects to the link. As an argument of a command, the link, and so
/// its token, would be visible to all users of the machine.
struct Browser {
  private typealias Disk = FileSystem<SystemCallError>

  /// The file, which only its owner can read.
  private let file: String

  init(stateFolder: StateFolder) { file = stateFolder[.webLink] }

  /// Opens an address. If there is no browser, nothing happens: the link is on the screen.
  func open(_ address: String) {
    forget()
    let page = """
      <!doctype html><meta charset="utf-8"><title>notes</title>
      <meta http-equiv="refresh" content="0; url=\(address)"><a href="\(address)">Go on</a>

      """
    // Without the file no browser is opened: the terminal shows the address.
    guard (try? Disk.createSecret(file, Array(page.utf8))) == true else { return }
    let words = ["xdg-open", file].map { Array($0.utf8) }
    // A signal that is blocked here would also be blocked in the browser.
    var former = sigset_t()
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &former)
    // Without the program, no browser is opened.
    let program = try? ChildProcess(
      "xdg-open", arguments: words, input: .null, output: .null, errors: .null, group: .session,
      defaultSignals: [SIGPIPE])
    pthread_sigmask(SIG_SETMASK, &former, nil)
    guard let program else { return }
    // If the thread cannot start, the program stays a zombie until this process ends.
    try? startThread { _ = program.wait() }
  }

  /// Removes the file.
  func forget() { unlink(file) }
}
