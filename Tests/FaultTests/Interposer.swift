import Glibc
import TestSupport

/// The library that makes file-system calls of a process fail: `faults.c`, compiled once a run.
enum Interposer {
  /// Where it was compiled to.
  static func path() throws -> String { try built.get().file }

  private static let built = Result { try Built() }

  private struct Built: Sendable {
    let folder: TemporaryFolder
    var file: String { folder["faults.so"] }

    init() throws {
      folder = try TemporaryFolder()
      let source = BuiltBinary.sourceFolder + "/Tests/FaultTests/faults.c"
      let made = try run([
        "cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", file, source, "-ldl",
      ])
      guard made.isSuccess else { throw CompilerFailure(description: made.errorText) }
    }

    struct CompilerFailure: Error { let description: String }
  }
}

/// What happens to the call that a run has chosen; see `faults.c`.
enum Fault: Hashable, Sendable, CustomStringConvertible {
  case kill, torn, power
  case once(Int32), stays(Int32)

  var environment: [String: String] {
    switch self {
    case .kill: ["FAULT_MODE": "kill"]
    case .torn: ["FAULT_MODE": "torn"]
    case .power: ["FAULT_MODE": "power"]
    case .once(let number): ["FAULT_MODE": "once", "FAULT_ERRNO": "\(number)"]
    case .stays(let number): ["FAULT_MODE": "stays", "FAULT_ERRNO": "\(number)"]
    }
  }

  var description: String {
    func name(_ number: Int32) -> String {
      switch number {
      case ENOSPC: "ENOSPC"
      case EIO: "EIO"
      case EACCES: "EACCES"
      default: "\(number)"
      }
    }
    return switch self {
    case .kill: "killed"
    case .torn: "killed amid a write"
    case .power: "power cut"
    case .once(let number): "\(name(number)) once"
    case .stays(let number): "\(name(number)) from then on"
    }
  }

  /// Whether the process dies of it.
  var isDeath: Bool {
    switch self {
    case .kill, .torn, .power: true
    case .once, .stays: false
    }
  }
}
