/// The kind of an attachment, by the suffix of its name: notes-web(1), "Files".
struct FileKind: Sendable {
  /// The element that the page shows the file in.
  enum Shape: Sendable { case image, audio, video, download }

  let shape: Shape
  /// The type with which the page serves the file. A file that is not shown in an element is bytes to download,
  /// so a browser never treats a file as a page or a script.
  let type: String
  /// Whether the beginning of a file has this kind's signature.
  private let isSigned: @Sendable (ArraySlice<UInt8>) -> Bool
  /// The parts of a file that may say where it was made.
  let places: Places

  /// The parts of a file that may say where it was made.
  enum Places: Sendable {
    case none
    /// The page can remove these parts with this function.
    case removable(@Sendable ([UInt8]) -> [UInt8]?)
    case fixed
  }

  /// The type of a file of another kind.
  static let bytes = "application/octet-stream"

  /// The kind of a file with this name; nil if the page does not know the kind.
  init?(ofName name: String) {
    guard let dot = name.lastIndex(of: "."),
      let kind = Self.kinds[name[name.index(after: dot)...].lowercased()]
    else { return nil }
    self = kind
  }

  /// Whether the bytes have the signature of this kind.
  func matches(_ bytes: [UInt8]) -> Bool { isSigned(bytes.prefix(16)) }

  private init(
    _ shape: Shape, _ type: String, _ places: Places = .none,
    _ isSigned: @escaping @Sendable (ArraySlice<UInt8>) -> Bool
  ) {
    (self.shape, self.type, self.places, self.isSigned) = (shape, type, places, isSigned)
  }

  private static func begins(
    _ text: StaticString, at place: Int = 0
  ) -> @Sendable (ArraySlice<UInt8>) -> Bool {
    { bytes in
      text.withUTF8Buffer { bytes.dropFirst(place).starts(with: $0) }
    }
  }

  private static func isContainer(_ form: StaticString) -> @Sendable (ArraySlice<UInt8>) -> Bool {
    { begins("RIFF")($0) && begins(form, at: 8)($0) }
  }

  /// The kinds by their suffixes in lower case.
  private static let kinds: [String: FileKind] = {
    let isMovie = begins("ftyp", at: 4)
    let isArchive = begins("PK")
    let jpeg = FileKind(.image, "image/jpeg", .removable(ImageMetadata.removed(fromJPEG:))) {
      $0.starts(with: [0xFF, 0xD8, 0xFF])
    }
    let ogg = FileKind(.audio, "audio/ogg", begins("OggS"))
    let movie = FileKind(.video, "video/mp4", .fixed, isMovie)
    let archive = FileKind(.download, bytes, isArchive)
    let text = FileKind(.download, bytes) { !$0.contains(0) }
    var kinds: [String: FileKind] = [
      "png": FileKind(.image, "image/png", .removable(ImageMetadata.removed(fromPNG:))) {
        $0.starts(with: ImageMetadata.pngSignature)
      },
      "gif": FileKind(.image, "image/gif", begins("GIF8")),
      "webp": FileKind(
        .image, "image/webp", .removable(ImageMetadata.removed(fromWebP:)), isContainer("WEBP")),
      "avif": FileKind(.image, "image/avif", .fixed, isMovie),
      "mp3": FileKind(.audio, "audio/mpeg") {
        begins("ID3")($0) || $0.starts(with: [0xFF]) && ($0.dropFirst().first ?? 0) >= 0xE0
      },
      "m4a": FileKind(.audio, "audio/mp4", .fixed, isMovie),
      "wav": FileKind(.audio, "audio/wav", isContainer("WAVE")),
      "flac": FileKind(.audio, "audio/flac", begins("fLaC")),
      "mov": FileKind(.video, "video/quicktime", .fixed, isMovie),
      "webm": FileKind(.video, "video/webm") { $0.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) },
      "pdf": FileKind(.download, bytes, begins("%PDF-")),
    ]
    for suffix in ["jpg", "jpeg"] { kinds[suffix] = jpeg }
    for suffix in ["ogg", "oga", "opus"] { kinds[suffix] = ogg }
    for suffix in ["mp4", "m4v"] { kinds[suffix] = movie }
    for suffix in ["heic", "heif"] { kinds[suffix] = FileKind(.download, bytes, .fixed, isMovie) }
    for suffix in ["zip", "odt", "ods", "odp", "docx", "xlsx", "pptx", "epub"] {
      kinds[suffix] = archive
    }
    for suffix in ["csv", "ics", "vcf", "gpx"] { kinds[suffix] = text }
    return kinds
  }()

  private init(
    _ shape: Shape, _ type: String, _ isSigned: @escaping @Sendable (ArraySlice<UInt8>) -> Bool
  ) {
    self.init(shape, type, .none, isSigned)
  }
}
