import Glibc
import TestSupport

/// What real `notes` processes do, one of which is interrupted.
struct Story: Sendable, CustomStringConvertible {
  let name: String
  /// Who is interrupted.
  let victim: String
  /// Who takes part.
  let parties: [String]
  /// Plays it in a folder, the victim with these faults, and returns how the victim ended.
  let play: @Sendable (_ folder: String, _ faults: [String: String]) throws -> ProcessResult

  var description: String { name }

  /// All, or those that `NOTES_STORY` names.
  static let all = [save, restore, asking, answering, joining, rejoining, cloning].filter { story in
    TestEnvironment.variable("NOTES_STORY").map { story.name == $0 } ?? true
  }

  static let save = Story(name: "notes save", victim: "ada", parties: ["ada"]) { folder, faults in
    try Party("ada", in: folder).notes("save", faults: faults)
  }

  static let restore = Story(name: "notes restore", victim: "ada", parties: ["ada"]) {
    folder, faults in
    let ada = Party("ada", in: folder)
    // The first version, which stays the first.
    let first = try run(["git", "-C", ada.notebook, "rev-list", "--max-parents=0", "HEAD"]).lines
    return try ada.notes("restore", "1@\(first[0])", faults: faults)
  }

  static let asking = Story(name: "notes sync", victim: "ada", parties: ["ada", "bea"]) {
    folder, faults in
    try sync(folder, asking: faults, answering: [:]).asking
  }

  static let answering = Story(
    name: "notes serve, while another syncs", victim: "bea", parties: ["ada", "bea"]
  ) { folder, faults in
    try sync(folder, asking: [:], answering: faults).answering
  }

  /// A device with notes of its own joins; again where it had not come to the end.
  static let joining = Story(name: "notes join", victim: "cea", parties: ["ada", "cea"]) {
    folder, faults in
    try join(Party("cea", in: folder), to: Party("ada", in: folder), faults)
  }

  /// The membership was started over; who was a member joins again, in the notebook that it has.
  static let rejoining = Story(
    name: "notes join, in place", victim: "bea", parties: ["ada", "bea"]
  ) { folder, faults in
    let (ada, bea) = (Party("ada", in: folder), Party("bea", in: folder))
    if access(ada.notebook + "/.git/notes/membership/formerly", F_OK) != 0 {
      try ada.succeed("members", "reset", "--yes")
    }
    return try join(bea, to: ada, faults)
  }

  private static func join(
    _ party: Party, to ada: Party, _ faults: [String: String]
  ) throws -> ProcessResult {
    let invite = try ada.listen(["invite"])
    defer { invite.process.send(9) }
    guard let port = invite.port, let code = invite.code else {
      throw FaultRun.Violation(description: "no invitation: \(try invite.process.wait())")
    }
    let joined = try party.notes(
      "join", code, party.notebook, "--yes", "--name", party.name, "--no-discovery", "--at",
      "127.0.0.1:\(port)", faults: faults)
    // An earlier attempt came to the end, or told to sync.
    if joined.errorText.contains("this device is already a member") {
      return try party.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    }
    // The inviter answers the first sync as well, and ends by itself then.
    if joined.isSuccess { _ = try? invite.process.wait(within: 40) }
    return joined
  }

  /// A device takes the notebook from a bundle; again where it had not come to the end, and where the
  /// notebook is there by then, the bundle alone.
  static let cloning = Story(name: "notes clone", victim: "dan", parties: ["dan"]) {
    folder, faults in
    let dan = Party("dan", in: folder)
    let bundle = dan.folder + "/home.bundle"
    let cloned = try dan.notes(
      "clone", bundle, dan.notebook, "--device-name", "dan", faults: faults)
    let isThere = access(dan.notebook + "/.git/notes/notebook", F_OK) == 0
    if cloned.isSuccess || !faults.isEmpty || !isThere { return cloned }
    return try dan.notes("bundle", "apply", bundle)
  }

  private static func sync(
    _ folder: String, asking: [String: String], answering: [String: String]
  ) throws -> (asking: ProcessResult, answering: ProcessResult) {
    let service = try Party("bea", in: folder).listen(["serve"], answering)
    // Who died before it listened cannot be reached: port 1 refuses.
    let asked = try Party("ada", in: folder).notes(
      "sync", "--no-discovery", "--at", "127.0.0.1:\(service.port ?? "1")", faults: asking)
    return (asked, try service.process.terminate())
  }

  /// Makes the devices: ada's notebook, bea in it, cea with a key and a note of her own; then all
  /// edit what is not saved yet.
  static func prepare(_ folder: String) throws {
    let (ada, bea, cea) = (
      Party("ada", in: folder), Party("bea", in: folder), Party("cea", in: folder)
    )
    for name in ["1.txt", "2.txt", "3.txt", "deep/4.txt"] {
      try ada.write(name, "first of \(name)\nsecond\nthird\n")
    }
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try ada.write("1.txt", "first of 1.txt\nsecond\nthird\nfourth\n")
    try ada.succeed("save")
    try makeFolder(folder + "/dan")
    try ada.succeed("bundle", "create", folder + "/dan/home.bundle")
    let invite = try ada.listen(["invite"])
    try bea.succeed(
      "join", invite.code ?? "", bea.notebook, "--yes", "--name", "bea", "--no-discovery", "--at",
      "127.0.0.1:\(invite.port ?? "1")")
    invite.process.send(9)
    _ = try? invite.process.wait()
    // The key that a device has from its first notebook.
    try makeFolder(cea.folder + "/other")
    try cea.succeed("-C", cea.folder + "/other", "init", "--device-name", "cea")
    try ada.write("1.txt", "first, edited by ada\nsecond\nthird\nfourth\n")
    try ada.write("new/of ada.txt", "new\n")
    try bea.write("1.txt", "first of 1.txt\nsecond\nthird\nfourth, edited by bea\n")
    try bea.write("2.txt", "first, edited by bea\nsecond\nthird\n")
    try bea.write("3.txt", "")
    try cea.write("of cea.txt", "what was here before\n")
  }
}
