internal import Synchronization

/// The counts of files and connections that this process has used since its start, shown by `--stats`. They do
/// not depend on the load of the machine.
///
/// Only calls through `Counted` count. Files that the C library, loaded libraries and started programs (git for
/// hubs) open do not count, nor do locks, renames and removals.
package enum Counter: Int, CaseIterable, Sendable {
  /// Files opened only for reading.
  case readFiles
  /// Files opened for writing, or for both.
  case writtenFiles
  /// Folders opened, for listing or as a base for other calls.
  case openedFolders
  /// Calls for the status or existence of a file or folder: stat(2), access(2).
  case statusCalls
  /// Calls that wait for the disk: fsync(2), syncfs(2).
  case syncs
  /// Calls that start writing a file to the disk without waiting: sync_file_range(2).
  case writebacks
  /// Bytes sent to other devices over TCP, including TLS.
  case sentBytes
  /// Bytes received from other devices over TCP, including TLS.
  case receivedBytes
  /// How often a connection waited for the other device: its opening, its handshake, and each answer to something that
  /// it had sent.
  case roundTrips
  /// Objects in packs sent to other devices.
  case sentObjects
  /// Objects in packs that other devices announced.
  case receivedObjects

  private final class Cell: Sendable { let count = Atomic<Int>(0) }
  private static let cells = allCases.map { _ in Cell() }

  /// The number so far.
  package var count: Int { Self.cells[rawValue].count.load(ordering: .relaxed) }

  /// Adds to the number. Can be called from any thread; costs some nanoseconds, little compared with a system
  /// call.
  package func add(_ more: Int = 1) {
    Self.cells[rawValue].count.wrappingAdd(more, ordering: .relaxed)
  }
}
