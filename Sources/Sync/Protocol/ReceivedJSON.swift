internal import FoundationEssentials

/// JSON that somebody else wrote: a peer, another process of the user, whoever edited a file.
package enum ReceivedJSON {
  /// The value that a text says.
  ///
  /// Where arrays and objects nest deeper than 512, JSONDecoder looks one byte beyond the bracket to say
  /// where, and ends the program when that was the text's last byte (swift-foundation,
  /// JSONScanner.scanArray). So a space follows, which means nothing in JSON.
  ///
  /// - Parameter snakeCase: whether names have underscores there and capitals here.
  /// - Throws: `DecodingError` when it says no such value.
  package static func decode<Value: Decodable>(
    _ kind: Value.Type, from text: [UInt8], snakeCase: Bool = false
  ) throws -> Value {
    let decoder = JSONDecoder()
    if snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    var data = Data(capacity: text.count + 1)
    data.append(contentsOf: text)
    data.append(UInt8(ascii: " "))
    return try decoder.decode(kind, from: data)
  }
}
