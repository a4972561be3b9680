import Glibc
import TestSupport
import Testing

/// What the commands say in a long session at a shell's prompt. What differs from run to run stands as
/// a word in capitals.
enum Transcript {
  /// Runs the lines of a script one by one, and returns what a terminal would show.
  static func play(_ script: String, in place: String, colour: Bool) throws -> String {
    let shell = try Shell()
    return try play(
      script, in: shell.folder[place], home: shell.folder.path, environment: shell.environment,
      colour: colour)
  }

  /// The same for a home that was made before.
  static func play(
    _ script: String, in place: String, home: String, environment: [String: String], colour: Bool
  ) throws -> String {
    try makeFolder(home + "/bin")
    _ = symlink(try BuiltBinary.notes(), home + "/bin/notes")
    for (name, text) in [("phone", phone), ("beside", beside)] {
      try writeFile(home + "/bin/" + name, Array(text.utf8))
      chmod(home + "/bin/" + name, 0o755)
    }
    var environment = environment
    environment["BIN"] = home + "/bin"
    environment["PATH"] = home + "/bin:" + (environment["PATH"] ?? "")
    environment["EDITOR"] = #"sh -c 'echo bread >>"$0"'"#
    if colour { environment["CLICOLOR_FORCE"] = "1" }
    var text = ""
    for line in script.split(separator: "\n") {
      let result = try run(
        ["sh", "-c", String(line)], in: place, environment: environment, within: 540)
      text += "$ \(line)\n" + result.text + result.errorText
      if case .exited(let status) = result.status, status != 0 { text += "[\(status)]\n" }
      text += "\n"
    }
    return try masked(text, folder: home)
  }

  /// `notes` on another device.
  private static let phone = """
    #!/bin/sh
    HOME="$HOME/phone" XDG_CONFIG_HOME="$HOME/config" XDG_DATA_HOME="$HOME/data"
    XDG_RUNTIME_DIR="$HOME/run"
    mkdir -p "$XDG_RUNTIME_DIR"; chmod 700 "$XDG_RUNTIME_DIR"
    exec notes "$@"

    """

  /// `beside COMMAND PATTERN THEN`: runs THEN while COMMAND listens, ends that as soon as it has said
  /// what the pattern says, or waits for its `end`, and shows what both said.
  private static let beside = """
    #!/bin/sh
    said=$(mktemp)
    await() { timeout 60 tail -f -n +1 "$said" | grep -q "$1" || exit 9; }
    sh -c "exec $1" >"$said" 2>&1 &
    child=$!
    trap 'kill $child 2>/dev/null; rm "$said"' EXIT
    await '\\(:\\|port \\)[0-9]\\{4,\\}'
    PORT=$(grep -o '\\(:\\|port \\)[0-9]\\{4,\\}' "$said" | head -n 1 | tr -dc 0-9)
    CODE=$(grep -o '[0-9][0-9]-[0-9A-Z]\\{4\\}-[0-9A-Z]\\{6\\}' "$said" | head -n 1)
    export PORT CODE
    sh -c "$3"
    status=$?
    [ "$2" = end ] || { await "$2"; kill $child; }
    wait $child
    echo "[$?]"
    cat "$said"
    exit $status

    """

  /// The text without what differs from run to run.
  private static func masked(_ text: String, folder: String) throws -> String {
    var shown = text.split(separator: folder, omittingEmptySubsequences: false)
      .joined(separator: "FOLDER")
    for (pattern, word) in [
      ("[0-9a-f]{40}", "VERSION"), ("\u{1B}\\[33m[0-9a-f]{10,12}\u{1B}", "\u{1B}[33mID\u{1B}"),
      ("\\b[0-9a-f]{10,12}\\b", "ID"), ("[A-Z2-7]{52}", "DEVICE"),
      ("\\b[A-Z2-7]{8,10}\\b", "DEVICE"),
      ("\u{1B}\\[2m[A-Z2-7]{8}\u{1B}", "\u{1B}[2mDEVICE\u{1B}"), ("[0-9.]+ (B|KB|MB)\\b", "SIZE"),
      ("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})?( [-+][0-9]{4})?", "TIME"),
      ("(Mon|Tue|Wed|Thu|Fri|Sat|Sun) TIME", "TIME"),
      ("(just now|[0-9]+ minutes? ago)", "AGE"),
      // Cells are as wide as the longest age.
      ("AGE   *", "AGE  "), ("AGE\u{1B}\\[0m   *", "AGE\u{1B}[0m  "),
      ("within a minute|in [0-9]+ minutes?", "QUICKLY"),
      ("[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{6}", "CODE"),
      ("127\\.0\\.0\\.1:[0-9]{4,5}", "127.0.0.1:PORT"),
      ("HOST:[0-9]{4,5}", "HOST:PORT"), ("port [0-9]{4,5}", "port PORT"),
      ("\"port\":[0-9]+", "\"port\":PORT"),
      ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(Z|[-+][0-9:]{4,5})", "TIME"),
      ("_bytes\":[0-9]+", "_bytes\":SIZE"), (" invitation [0-9a-f]{8}\\b", " invitation ID"),
      ("device-key-[A-Z2-7]{8}", "device-key-DEVICE"), ("[0-9]{2}-…", "NN-…"),
      ("Cancelled: [0-9]{2}\\.", "Cancelled: NN."), ("\\] [a-z2-7]{8}:", "] NOTEBOOK:"),
    ] {
      shown = shown.replacing(try Regex(pattern), with: word)
    }
    return shown
  }

  /// Expects what a golden file has, with and without colour.
  static func expect(_ script: String, in place: String = "notes", matches name: String) throws {
    for (colour, suffix) in [(false, ""), (true, "-colour")] {
      try Golden.expect(
        play(script, in: place, colour: colour), matches: "session-\(name)\(suffix).txt")
    }
  }
}
