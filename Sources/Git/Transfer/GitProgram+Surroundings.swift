/// The environment of git: notes-hub(7), "What is run".
extension GitProgram {
  /// The protocols that an address may name; git refuses all others, `ext::` among them.
  static let protocols = "file:git:https:ssh"

  /// Within what a run may take: several threads would each keep as much.
  private static let thrifty = [
    "index.threads=1", "pack.threads=1", "core.deltaBaseCacheLimit=32m", "pack.windowMemory=64m",
  ]

  /// Settings that outrank those of the user: nothing runs but what takes part in the exchange.
  private static let settings = [
    "core.hooksPath=/dev/null", "core.fsmonitor=false",
    // Version 2 asks for the references with a request of its own, which costs a round trip.
    "protocol.version=0",
    "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false",
    // A pack stays a pack, which is checked as a peer's is.
    "fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.fsckObjects=false",
    "fetch.writeCommitGraph=false", "fetch.uriProtocols=", "transfer.bundleURI=false",
    "fetch.recurseSubmodules=false", "submodule.recurse=false", "push.recurseSubmodules=no",
    "push.followTags=false", "push.gpgSign=false", "push.pushOption=", "http.lowSpeedLimit=1",
  ]

  /// The same for git at the other end, where that is a folder of this machine: whoever made the folder
  /// may have put hooks into it.
  static let receivePack =
    "git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
    + "-c core.alternateRefsCommand=true -c receive.autogc=false "
    + "-c core.fsync=committed,reference receive-pack"

  /// The same of what gives: git does not hand our settings on to it, and it has our limits.
  static let uploadPack =
    "git -c core.fsmonitor=false " + thrifty.map { "-c \($0) " }.joined() + "upload-pack"

  var configuration: [String] {
    let silent = mayAsk ? [] : ["core.askPass="]
    // A patience without end is a day.
    let patience = ["http.lowSpeedTime=\(Int(min(max(1, patience), 86_400)))"]
    return (Self.settings + Self.thrifty + patience + silent).flatMap { ["-c", $0] }
  }

  func variables(_ gitFolder: String, _ objects: [String]) -> [String] {
    var variables = [
      "GIT_DIR=" + gitFolder, "GIT_ALLOW_PROTOCOL=" + Self.protocols,
      // Its messages are read, and shown in the language of our own.
      "LC_ALL=C", "GIT_TERMINAL_PROMPT=" + (mayAsk ? "1" : "0"),
    ]
    if !objects.isEmpty {
      variables.append(
        "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects.map(Self.quoted).joined(separator: ":"))
    }
    if !mayAsk { variables += ["GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never"] }
    return variables
  }

  /// The variables of a caller's environment that may tell of another repository, or of git's settings.
  static let foreignVariables: Set<String> = [
    "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX", "GIT_PROTOCOL_FROM_USER", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE", "GIT_TEMPLATE_DIR", "GIT_WORK_TREE", "LANGUAGE",
  ]

  /// A path as git(1) reads it in a list of paths: one that begins with a double quote is unquoted.
  private static func quoted(_ path: String) -> String {
    let escapes: [Character: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n"]
    return "\"" + path.map { escapes[$0] ?? String($0) }.joined() + "\""
  }
}
