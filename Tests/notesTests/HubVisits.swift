import TestSupport
import Testing

// What tests with servers do with a hub.
extension Shell {
  /// Adds a hub, whose server lets this user in.
  func add(hub name: String, at address: String, on server: GitServer) throws {
    environment.merge(try server.client()) { $1 }
    let added = try notes("remote", "add", name, address)
    #expect(added.isSuccess, "\(added)")
  }
}

/// Visits the hubs.
@discardableResult
func meet(
  _ shell: Shell, _ location: SourceLocation = #_sourceLocation
) throws -> ProcessResult {
  let result = try shell.notes("sync", "--hub")
  #expect(result.isSuccess, "\(result)", sourceLocation: location)
  return result
}

/// The kind of the last error that a failed command told a program.
func errorKind(of result: ProcessResult) throws -> String {
  #expect(!result.isSuccess)
  let lines = result.errorText.split(separator: "\n").filter { $0.contains(#""type":"error""#) }
  return try Shell.field("kind", of: String(try #require(lines.last, "\(result)")))
}
