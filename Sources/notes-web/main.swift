internal import Glibc
internal import Membership
internal import State
internal import System
internal import Web

// `notes web` runs this program: notes-web(1). People do not call it directly, so its arguments are used
// without a check: the folder of the keys, that of watchers' sockets or nothing, a port or "any", "json"
// or "text", "open" or "no-open", "lan" or "local", and "all" or the notebook's folder.

/// Writes at once, and ignores errors, as there may be no reader.
func say(_ text: String, on stream: Int32) {
  let bytes = Array(text.utf8)
  _ = write(stream, bytes, bytes.count)
}

/// Ends with a message in the form of `notes`.
func fail(_ message: String, hint: String) -> Never {
  say("notes: error: \(message)\nnotes: hint: \(hint)\n", on: STDERR_FILENO)
  exit(1)
}

let words = CommandLine.arguments.dropFirst().map { $0 }
guard words.count == 7 else {
  fail("to serve the page, run 'notes web'", hint: "'notes web --help' shows its options")
}
let isJSON = words[3] == "json"
let isOfAll = words[6] == "all"

// Code below waits for Ctrl-C and requests to terminate, so every thread blocks these signals.
var signals = sigset_t()
sigemptyset(&signals)
for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
pthread_sigmask(SIG_BLOCK, &signals, nil)
signal(SIGPIPE, SIG_IGN)

let server: WebServer
do {
  server = try WebServer(
    isOfAll ? .all : .one(folder: words[6]), dataFolder: words[0],
    controlFolder: words[1].isEmpty ? nil : words[1], port: Int(words[2]),
    network: words[5] == "lan" ? .ofThisMachine() : nil)
} catch let error as WebNetworkError {
  fail("cannot serve the page to others: \(error)", hint: "'notes doctor' checks the network")
} catch {
  fail("cannot serve the page: \(error)", hint: "'notes web --port N' uses another port")
}
let link = server.link ?? ""
// A guest belongs to one notebook, so if all are served the command itself makes no invitation.
let invitation = server.network == nil || isOfAll ? nil : try? server.invite()
let greeting = Greeting(server, link: link, isOfAll: isOfAll, invitationPath: invitation?.path)
say((isJSON ? greeting.json : greeting.text) + "\n", on: STDOUT_FILENO)
do {
  try server.followAddresses {
    let path = invitation.flatMap { server.isOpen($0.invitation) ? $0.path : nil }
    let greeting = Greeting(server, link: link, isOfAll: isOfAll, invitationPath: path)
    say((isJSON ? greeting.json : greeting.news) + "\n", on: STDOUT_FILENO)
  }
} catch {
  say(
    "notes: hint: the system does not report changes of addresses: restart this command after a "
      + "change\n",
    on: STDERR_FILENO)
}
let browser = Browser(
  stateFolder: isOfAll ? StateFolder(words[0]) : StateFolder(ofNotebookIn: words[6]))
if words[4] == "open" { browser.open(link) }

var received: Int32 = 0
sigwait(&signals, &received)
browser.forget()
// An unused invitation is cancelled, as its link no longer works.
if let invitation { server.withdraw(invitation.invitation) }
server.stop()
exit(received == SIGTERM ? 0 : 130)
