/// The environment of git: notes-hub(7), "What is run".
extension GitProgram {
  /// The protocols that are allowed in an address; git refuses all others, such as `ext::`.
  static let protocols = "file:git:https:ssh"

  /// One thread keeps git within the memory limit: each further thread would need as much memory again.
  private static let thrifty = [
    "index.threads=1", "pack.threads=1", "core.deltaBaseCacheLimit=32m", "pack.windowMemory=64m",
  ]

  /// Settings that override the user's: only programs of the exchange itself run.
  private static let settings = [
    "core.hooksPath=/dev/null", "core.fsmonitor=false",
    // Protocol version 2 needs another round trip to ask for the references.
    "protocol.version=0",
    "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false",
    // Keeps the received pack as a pack, so that it is checked like a peer's.
    "fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.fsckObjects=false",
    "fetch.writeCommitGraph=false", "fetch.uriProtocols=", "transfer.bundleURI=false",
    "fetch.recurseSubmodules=false", "submodule.recurse=false", "push.recurseSubmodules=no",
    "push.followTags=false", "push.gpgSign=false", "push.pushOption=", "http.lowSpeedLimit=1",
  ]

  /// The command for the receiving git, if the other repository is a folder of this machine. It runs no
  /// hooks: the owner of the folder may have put some into it.
  static let receivePack =
    "git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
    + "-c core.alternateRefsCommand=true -c receive.autogc=false "
    + "-c core.fsync=committed,reference receive-pack"

  /// The command for the sending git, with the limits for memory: git does not pass settings on to it.
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
      // The program's messages are parsed, and shown beside those of notes, which are in English.
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

  /// A path in git's form for a list of paths: one that begins with a double quote is quoted.
  private static func quoted(_ path: String) -> String {
    let escapes: [Character: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n"]
    return "\"" + path.map { escapes[$0] ?? String($0) }.joined() + "\""
  }
}
