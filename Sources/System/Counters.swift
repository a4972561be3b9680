internal import Synchronization

/// The counts of files and connections that this process has used since it began: figures that another
/// program's load does not change, which `--stats` shows.
///
/// Files are counted where this program's own calls are made (`Counted`). What the C library opens for
/// itself, what the libraries do that it loads, and what the programs do that it starts (git for hubs) is
/// not counted; nor are locks looked at, names given, and files removed.
package enum Counter: Int, CaseIterable, Sendable {
  /// Files opened to be read alone.
  case readFiles
  /// Files opened to be written, or written and read.
  case writtenFiles
  /// Folders opened, to be listed or as the place of other calls.
  case openedFolders
  /// Calls that ask what a file or folder is, or whether it is there: stat(2), access(2).
  case statusCalls
  /// Calls that wait until something is on the disk: fsync(2), syncfs(2).
  case syncs
  /// Calls that have a file written to the disk soon and do not wait: sync_file_range(2).
  case writebacks
  /// Bytes to other devices in what TCP carries, TLS included.
  case sentBytes
  /// Bytes from other devices in what TCP carried, TLS included.
  case receivedBytes
  /// How often a connection got something after it had said something: its making, its handshake, and
  /// each answer.
  case roundTrips
  /// Objects in packs that went to other devices.
  case sentObjects
  /// Objects in packs that other devices announced.
  case receivedObjects

  private final class Cell: Sendable { let count = Atomic<Int>(0) }
  private static let cells = allCases.map { _ in Cell() }

  /// How many there were so far.
  package var count: Int { Self.cells[rawValue].count.load(ordering: .relaxed) }

  /// Counts more of them. From any thread; some nanoseconds beside a call of the kernel.
  package func add(_ more: Int = 1) {
    Self.cells[rawValue].count.wrappingAdd(more, ordering: .relaxed)
  }
}
