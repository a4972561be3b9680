internal import Channel
internal import Discovery
internal import Membership
internal import Notebook

/// What the checks of `notes doctor` look at.
struct Patient {
  let notebook: Notebook
  /// Where the device key is.
  let dataFolder: String
  /// What finds devices; nil where it is not to be used.
  var discovery: (any Discovery)?
  /// Where sessions would listen.
  var listen: Address = Address(host: "*", port: 0)
  /// Seconds since 1970.
  var now: Int64 = TimeText.now

  func membership() throws -> MembershipStore { try OwnDevice.membership(of: notebook) }
}

/// One thing that `notes doctor` looks at.
struct Examination: Sendable {
  /// Its name for programs.
  let name: String
  /// Its name for people.
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
