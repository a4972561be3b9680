internal import Channel
internal import Discovery
internal import Membership
internal import Notebook

struct Patient {
  let notebook: Notebook
  let dataFolder: String
  /// What finds devices; nil where it is not to be used.
  var discovery: (any Discovery)?
  var listen: Address = Address(host: "*", port: 0)
  var now: Int64 = TimeText.now

  func membership() throws -> MembershipStore { try notebook.membership() }
}

struct Examination: Sendable {
  let name: String
  let title: String
  /// What to do when it fails for a reason that brings no hint of its own.
  let remedy: String
  let examine: @Sendable (Patient) throws -> [Finding]

  /// All of them, in the order in which they are told.
  static let all: [Examination] = [
    deviceKey, history, interruption, agreement, membership, clock, discovery, multicast, port,
    fileSystem, watches, names, size,
  ]

  /// What is found; a failure of the examination is a finding too.
  func findings(in patient: Patient) -> [Finding] {
    do {
      return try examine(patient)
    } catch {
      return [.problem(error, remedy: remedy)]
    }
  }
}
