internal import Exchange
internal import WorkTree

/// The progress of a transfer, for people.
extension TransferProgress {
  var words: String {
    let name = Visible.name(peer.name)
    switch stage {
    case .moving: break
    case .joining where filesToWrite > 0:
      let files = Phrase.count(filesToWrite, "file")
      return "\(name): writing \(Phrase.number(written.files)) of \(files), "
        + Phrase.bytes(written.bytes)
    case .joining where receivedContent > 0:
      return "\(name): checking \(Phrase.bytes(receivedContent))"
    case .joining: return "\(name): merging"
    case .waiting: return "\(name) is working"
    }
    let parts = [
      objectsToReceive > 0 ? "receiving \(receiving)" : nil,
      objectsToSend > 0 ? "sending \(sending)" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? "connected to \(name)" : name + ": " + parts.joined(separator: ", ")
  }

  /// The progress with a device is in received bytes, that with a hub in git's own counts.
  private var receiving: String {
    if contentToReceive > 0 { return Phrase.bytes(receivedContent, of: contentToReceive) }
    let share = receivedObjects > 0 ? Self.share(receivedObjects, of: objectsToReceive) : ""
    return Phrase.bytes(receivedBytes) + (share.isEmpty ? "" : " (\(share))")
  }

  private var sending: String {
    contentToSend > 0
      ? Phrase.bytes(sentContent, of: contentToSend) : Self.share(sentObjects, of: objectsToSend)
  }

  private static func share(_ done: Int, of total: Int) -> String {
    "\(Int(min(100, 100 * Double(done) / Double(total))))%"
  }
}
