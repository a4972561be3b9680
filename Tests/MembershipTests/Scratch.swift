internal import Glibc

@testable import Membership

/// A folder of its own for a test, removed at the end.
final class Scratch {
  let path: String

  init() {
    var template = Array("/tmp/notes-membership-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      String(cString: mkdtemp(buffer.baseAddress!))
    }
  }

  deinit { run("rm", "-rf", path) }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}

/// Runs a program, its output into a file so that nothing can fill up; what it printed.
@discardableResult
func run(_ program: String, _ arguments: String...) -> (status: Int32, output: String) {
  let file = tmpfile()!
  defer { fclose(file) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_adddup2(&actions, fileno(file), 1)
  posix_spawn_file_actions_adddup2(&actions, fileno(file), 2)
  var argv = ([program] + arguments).map { strdup($0) }
  argv.append(nil)
  defer { for argument in argv { free(argument) } }
  var child = pid_t()
  guard posix_spawnp(&child, program, &actions, nil, argv, environ) == 0 else { return (-1, "") }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  rewind(file)
  var output: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = fread(&buffer, 1, buffer.count, file)
    if count == 0 { break }
    output += buffer[..<count]
  }
  return (status >> 8 & 0xFF, String(decoding: output, as: UTF8.self))
}

/// A notebook with its founder, for tests.
struct Family {
  let scratch = Scratch()
  let founder: DeviceKey
  let store: MembershipStore

  init(name: String = "Home", now: Int64 = 1_800_000_000) throws {
    founder = try DeviceKey.random()
    store = try MembershipStore.found(
      in: scratch("founder"), notebookName: name, deviceName: "Founder's laptop", key: founder,
      now: now)
  }

  /// A new device, certified by the founder, or by `admin` in its own store.
  func add(
    _ name: String, _ role: Role, by admin: DeviceKey? = nil, in other: MembershipStore? = nil
  ) throws -> DeviceKey {
    let key = try DeviceKey.random()
    _ = try (other ?? store).issue(
      for: CertificateRequest(name: name, key: key), role: role, by: admin ?? founder,
      now: 1_800_000_000)
    return key
  }

  /// Another device's store, with what `source` (or the founder) knows now.
  func copy(_ name: String, of source: MembershipStore? = nil) throws -> MembershipStore {
    let source = source ?? store
    return try MembershipStore.install(
      in: scratch(name), root: source.root, certificates: source.certificates,
      revocations: source.revocations)
  }
}
