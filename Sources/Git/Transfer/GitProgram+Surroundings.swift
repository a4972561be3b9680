/// The environment of git: notes-hub(7), "What is run".
extension GitProgram {
  /// The protocols that an address may name; git refuses all others, `ext::` among them.
  static let protocols = "file:git:https:ssh"

  /// Within what a run may take: several threads would each keep as much.
  private static let thrifty = [
    "index.threads=1", "pack.threads=1", "core.deltaBaseCacheLimit=32m", "pack.windowMemory=64m",
  ]

  /// Settings that override the user's: only programs of the exchange itself run.
  private static let settings = [
    "core.hooksPath=/dev/null", "core.fsmonitor=false",
    // Protocol version 2 needs another round trip to ask for the references.
    "protocol.version=0",
    "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false",
    // Keep the pack as a pack, so that it is checked like a peer's.
    "fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.fsckObjects=false",
    "fetch.writeCommitGraph=false", "fetch.uriProtocols=", "transfer.bundleURI=false",
    "fetch.recurseSubmodules=false", "submodule.recurse=false", "push.recurseSubmodules=no",
    "push.followTags=false", "push.gpgSign=false", "push.pushOption=", "http.lowSpeedLimit=1",
  ]

  /// The same for the git at the other end, if that is a folder of this machine: its owner may have
  /// put hooks into it.
  static let receivePack =
    "git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
    + "-c core.alternateRefsCommand=true -c receive.autogc=false "
    + "-c core.fsync=committed,reference receive-pack"

  /// The same for the sending git: git does not pass our settings on to it. It has our limits.
  static let uploadPack =
    "git -c core.fsmonitor=false " + thrifty.map { "-c \($0) " }.joined() + "upload-pack"

  var configuration: [String] {
    let silent = mayAsk ? [] : ["core.askPass="]
    // No time limit means a day.
    let patience = ["http.lowSpeedTime=\(Int(min(max(1, patience), 86_400)))"]
    return (Self.settings + Self.thrifty + patience + silent).flatMap { ["-c", $0] }
  }

  func variables(_ gitFolder: String, _ objects: [String]) -> [String] {
    var variables = [
      "GIT_DIR=" + gitFolder, "GIT_ALLOW_PROTOCOL=" + Self.protocols,
      // Its messages are parsed, and shown beside ours, which are English.
      "LC_ALL=C", "GIT_TERMINAL_PROMPT=" + (mayAsk ? "1" : "0"),
    ]
    if !objects.isEmpty {
      variables.append(
        "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects.map(Self.quoted).joined(separator: ":"))
    }
    if !mayAsk { variables += ["GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never"] }
    return variables
  }

  /// The environment variables that may name another repository, or git settings.
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
