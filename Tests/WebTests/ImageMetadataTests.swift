import TestSupport
import Testing

@testable import Web

/// notes-web(1), "Files": what a camera says beside the picture is removed.
@Suite struct ImageMetadataTests {
  static let place = Array("GPS 52.5 N 13.4 E".utf8)

  /// Exif with the turn of the picture, and a place behind it.
  private static func exif(turn: UInt8, isLittle: Bool) -> [UInt8] {
    let head: [UInt8] =
      isLittle
      ? [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, turn, 0, 0, 0]
      : [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, turn, 0, 0]
    return Array("Exif\0\0".utf8) + head + [0, 0, 0, 0] + place
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
  }

  /// With a place wherever a camera may write one.
  static func jpeg(turn: UInt8 = 6, isLittle: Bool = true) -> [UInt8] {
    let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + place
    let parts: [[UInt8]] = [
      [0xFF, 0xD8], segment(0xE0, Array("JFIF\0".utf8)),
      segment(0xE1, exif(turn: turn, isLittle: isLittle)), segment(0xE1, xmp),
      segment(0xE2, Array("ICC_PROFILE\0colours".utf8)),
      segment(0xE2, Array("MPF\0".utf8) + place), segment(0xED, Array("Photoshop".utf8) + place),
      segment(0xFE, place), [0xFF], segment(0xDB, [1, 2, 3]),
      segment(0xDA, [9]), [1, 0xFF, 0, 2, 0xFF, 0xD0, 3], segment(0xFE, place),
      segment(0xC4, [4]), segment(0xDA, [9]), [5, 0xFF, 0, 6], [0xFF, 0xD9], place,
    ]
    return Array(parts.joined())
  }

  private static func png() -> [UInt8] {
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      [0, 0, 0, UInt8(content.count)] + Array(name.utf8) + content + [0, 0, 0, 0]
    }
    let parts = [
      ImageMetadata.pngSignature, chunk("IHDR", [1]), chunk("eXIf", place), chunk("iTXt", place),
      chunk("tEXt", place), chunk("gAMA", [1]), chunk("IDAT", [1, 2]), chunk("prIv", place),
      chunk("IEND", []), place,
    ]
    return Array(parts.joined())
  }

  private static func webP() -> [UInt8] {
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      Array(name.utf8) + [UInt8(content.count), 0, 0, 0] + content
        + (content.count.isMultiple(of: 2) ? [] : [0])
    }
    let chunks =
      chunk("VP8X", [0x2C, 0, 0, 0, 0, 0, 0, 0, 0, 0]) + chunk("VP8 ", [1, 2, 3])
      + chunk("EXIF", place) + chunk("XMP ", place)
    return Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0] + Array("WEBP".utf8) + chunks
      + place
  }

  static let formats: [(String, [UInt8], @Sendable ([UInt8]) -> [UInt8]?)] = [
    ("JPEG", jpeg(), { ImageMetadata.removed(fromJPEG: $0) }),
    ("PNG", png(), { ImageMetadata.removed(fromPNG: $0) }),
    ("WebP", webP(), { ImageMetadata.removed(fromWebP: $0) }),
  ]

  @Test func `No place is left, and what is left is read as the same`() throws {
    for (name, bytes, removed) in Self.formats {
      let picture = try #require(removed(bytes), "\(name)")
      #expect(picture.firstRange(of: Array("GPS".utf8)) == nil, "\(name)")
      #expect(removed(picture) == picture, "\(name)")
    }
  }

  @Test(arguments: [(UInt8(1), true), (3, true), (6, false), (8, true)])
  func `The picture stays turned as it was`(turn: UInt8, isLittle: Bool) throws {
    let picture = try #require(
      ImageMetadata.removed(fromJPEG: Self.jpeg(turn: turn, isLittle: isLittle)))
    let exif: [UInt8] = Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1]
    let found = picture.firstRange(of: exif)
    #expect((found != nil) == (turn != 1))
    if let found { #expect(picture[found.upperBound + 1] == turn) }
    // Scans, tables and colours stay as they were.
    let scans: [UInt8] = [1, 0xFF, 0, 2, 0xFF, 0xD0, 3] + Self.segment(0xC4, [4])
    #expect(picture.firstRange(of: scans) != nil)
    #expect(picture.firstRange(of: Array("ICC_PROFILE\0colours".utf8)) != nil)
    #expect(picture.suffix(6) == [5, 0xFF, 0, 6, 0xFF, 0xD9])
  }

  @Test func `PNG and WebP keep the picture`() throws {
    let png = try #require(ImageMetadata.removed(fromPNG: Self.png()))
    #expect(png.count == 8 + 13 + 13 + 14 + 12)
    let webP = try #require(ImageMetadata.removed(fromWebP: Self.webP()))
    #expect(webP[20] == 0x20 && Int(webP[4]) == webP.count - 8 && webP.count == 12 + 18 + 12)
  }

  /// An image that was cut or changed is refused, or read to the end: nothing is read outside it.
  @Test func `A damaged image does no harm`() {
    var random = SplitMix64.reported()
    for (_, bytes, removed) in Self.formats {
      for count in 0..<bytes.count - Self.place.count {
        #expect(removed(Array(bytes.prefix(count))) == nil)
      }
      for _ in 0..<2_000 {
        var changed = bytes
        for _ in 0...Int.random(in: 0..<4, using: &random) {
          changed[Int.random(in: 0..<changed.count, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        let picture = removed(changed)
        #expect((picture?.count ?? 0) <= changed.count + 36)
      }
    }
  }
}
