/// Removes the metadata that a camera writes into an image: place, time, camera, preview, and bytes after the
/// end of the picture. Keeps colours and the picture's orientation, and removes every part that is not known to
/// belong to the picture. Nil for an image that cannot be read to its end.
enum ImageMetadata {
  /// A number of 2 or 4 bytes, big-endian unless `isLittle`; nil if the bytes are not there.
  private static func number(
    _ bytes: ArraySlice<UInt8>, at place: Int, _ count: Int, isLittle: Bool = false
  ) -> Int? {
    let part = bytes.dropFirst(place).prefix(count)
    guard part.count == count else { return nil }
    return isLittle
      ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: JPEG (ITU-T T.81, annex B)

  static func removed(fromJPEG bytes: [UInt8]) -> [UInt8]? {
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var picture = Array(bytes.prefix(2))
    var place = 2
    while place < bytes.count, bytes[place] == 0xFF {
      // Any number of these bytes may precede a marker.
      while place + 1 < bytes.count, bytes[place + 1] == 0xFF { place += 1 }
      guard place + 1 < bytes.count else { return nil }
      let marker = bytes[place + 1]
      if marker == 0xD9 { return picture + [0xFF, 0xD9] }
      // Markers without a length are only in a scan.
      guard marker >= 0xC0, !(0xD0...0xD8).contains(marker),
        let length = number(bytes[...], at: place + 2, 2), length >= 2,
        place + 2 + length <= bytes.count
      else { return nil }
      let end = place + 2 + length
      picture += kept(marker, bytes[place + 4..<end]).map { $0 ?? bytes[place..<end] } ?? []
      place = end
      if marker == 0xDA {
        let start = place
        while place + 1 < bytes.count,
          bytes[place] != 0xFF || bytes[place + 1] == 0 || (0xD0...0xD7).contains(bytes[place + 1])
        { place += 1 }
        guard place + 1 < bytes.count else { return nil }
        picture += bytes[start..<place]
      }
    }
    return nil
  }

  /// The decision on a segment: nil to remove it, an inner nil to keep it, or its replacement.
  private static func kept(_ marker: UInt8, _ content: ArraySlice<UInt8>) -> ArraySlice<UInt8>?? {
    func begins(_ text: String) -> Bool { content.starts(with: text.utf8) }
    switch marker {
    case 0xE0: return begins("JFIF\0") ? .some(nil) : .none
    case 0xE1:
      guard begins("Exif\0\0"), let turn = orientation(content.dropFirst(6)) else { return .none }
      return turn == 1 ? .none : .some(exif(turn))
    case 0xE2: return begins("ICC_PROFILE\0") ? .some(nil) : .none
    // Adobe's colour information.
    case 0xEE: return begins("Adobe") ? .some(nil) : .none
    case 0xE3...0xEF, 0xFE: return .none
    default: return .some(nil)
    }
  }

  /// The picture's orientation, from 1 to 8; nil if the Exif does not say so.
  private static func orientation(_ tiff: ArraySlice<UInt8>) -> UInt8? {
    let isLittle = tiff.starts(with: [0x49, 0x49, 0x2A, 0])
    guard isLittle || tiff.starts(with: [0x4D, 0x4D, 0, 0x2A]),
      let table = number(tiff, at: 4, 4, isLittle: isLittle),
      let count = number(tiff, at: table, 2, isLittle: isLittle)
    else { return nil }
    for entry in 0..<count {
      let place = table + 2 + entry * 12
      guard let tag = number(tiff, at: place, 2, isLittle: isLittle) else { return nil }
      guard tag == 0x0112 else { continue }
      let turn = number(tiff, at: place + 8, 2, isLittle: isLittle)
      return turn.flatMap { (1...8).contains($0) ? UInt8($0) : nil }
    }
    return nil
  }

  /// An Exif segment with only the picture's orientation.
  private static func exif(_ turn: UInt8) -> ArraySlice<UInt8> {
    let table: [UInt8] = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, turn, 0, 0, 0, 0, 0, 0]
    let head: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8]
    return (head + table)[...]
  }

  // MARK: PNG (ISO/IEC 15948)

  static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private static let pngChunks: Set<String> = [
    "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs",
    "acTL", "fcTL", "fdAT", "cICP",
  ]

  static func removed(fromPNG bytes: [UInt8]) -> [UInt8]? {
    guard bytes.starts(with: pngSignature) else { return nil }
    var (picture, place) = (pngSignature, pngSignature.count)
    while let length = number(bytes[...], at: place, 4), place + 12 + length <= bytes.count {
      let name = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
      let end = place + 12 + length
      if pngChunks.contains(name) { picture += bytes[place..<end] }
      if name == "IEND" { return picture }
      place = end
    }
    return nil
  }

  // MARK: WebP (RFC 9649)

  private static let webPChunks: Set<String> = [
    "VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH", "ICCP",
  ]

  static func removed(fromWebP bytes: [UInt8]) -> [UInt8]? {
    guard bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8),
      let size = number(bytes[...], at: 4, 4, isLittle: true), size >= 4, size + 8 <= bytes.count
    else { return nil }
    var (picture, place) = (Array("WEBP".utf8), 12)
    while place < size + 8 {
      guard let length = number(bytes[...], at: place + 4, 4, isLittle: true),
        place + 8 + length <= size + 8
      else { return nil }
      let name = String(decoding: bytes[place..<place + 4], as: UTF8.self)
      var chunk = Array(bytes[place..<place + 8 + length])
      // The flags that say that there is Exif or XMP.
      if name == "VP8X", length > 0 { chunk[8] &= ~0x0C }
      if !length.isMultiple(of: 2) { chunk.append(0) }
      if webPChunks.contains(name) { picture += chunk }
      place += 8 + length + length % 2
    }
    let whole = (0..<4).map { UInt8(truncatingIfNeeded: picture.count >> ($0 * 8)) }
    return Array("RIFF".utf8) + whole + picture
  }
}
