internal import Synchronization
internal import System

/// The files that browsers are sending, piece by piece, so that an interrupted upload continues:
/// notes-security(7), "What the page lets in".
final class Uploads: Sendable {
  /// A piece of a file, as in a request.
  struct Piece: Sendable {
    /// A random name that the browser gave the file; only this visitor can use it.
    let name: String
    /// The path of the visitor's pages.
    let visitor: String
    /// The bytes of the file before this piece.
    let start: Int
    /// The size of the whole file.
    let size: Int
    let bytes: [UInt8]
  }

  enum State: Sendable {
    /// This many bytes have arrived; the next piece begins there.
    case partial(Int)
    case whole([UInt8])
    /// The file was already added. The value is the text that links to it.
    case added(String)
  }

  private struct Upload {
    let visitor: String
    var bytes: [UInt8] = []
    var link: String?
    var used = Instant.now
  }

  private let open = Mutex<[String: Upload]>([:])

  /// The limits for one visitor and for all; the upload that was used longest ago is dropped first.
  private static let (mostOfOne, most) = (2, 4)
  /// How long an upload is kept without a new piece, in seconds.
  private static let patience = 120.0

  /// - Throws: `tooManyUploads`, `brokenForm`.
  func take(_ piece: Piece) throws -> State {
    try open.withLock { open in
      let now = Instant.now
      open = open.filter { $0.value.used + Self.patience > now }
      let key = piece.visitor + " " + piece.name
      var upload = open[key] ?? Upload(visitor: piece.visitor)
      if let link = upload.link { return .added(link) }
      if open[key] == nil {
        let own = open.filter { $0.value.visitor == piece.visitor && $0.value.link == nil }
        if own.count >= Self.mostOfOne, let oldest = own.min(by: { $0.value.used < $1.value.used })
        {
          open[oldest.key] = nil
        }
        guard open.count(where: { $0.value.link == nil }) < Self.most else {
          throw Refusal.tooManyUploads
        }
      }
      guard
        upload.bytes.count + piece.bytes.count <= piece.size || piece.start != upload.bytes.count
      else { throw Refusal.brokenForm }
      open[key] = nil  // so that the bytes are not copied
      if piece.start == upload.bytes.count { upload.bytes += piece.bytes }
      upload.used = now
      open[key] = upload
      return upload.bytes.count == piece.size ? .whole(upload.bytes) : .partial(upload.bytes.count)
    }
  }

  /// Records that the upload has ended: the file was added, with the text that links to it, or was refused.
  func end(_ piece: Piece, link: String?) {
    open.withLock {
      let key = piece.visitor + " " + piece.name
      $0[key] = link.map { Upload(visitor: piece.visitor, link: $0) }
    }
  }
}
