internal import Git

/// How git converts a file between the folder and a version: gitattributes(5). The file in the folder
/// differs from the blob that git would store, so notes does not version such a file.
public enum Conversion: Hashable, Codable, Sendable {
  /// A program with this name converts it: for example to encrypt the file, or to store it
  /// elsewhere.
  case filter(String)
  /// The text in the folder has this encoding.
  case encoding(String)
  /// `$Id$` is filled in.
  case identity
  /// CR before LF is removed.
  case lineEndings
}

extension Conversion: CustomStringConvertible {
  /// The description of the conversion for people.
  public var description: String {
    switch self {
    case .filter(let name): "git converts it with the filter \(name)"
    case .encoding(let name): "git converts it from \(name)"
    case .identity: "git fills in $Id$ in it"
    case .lineEndings: "git converts its line endings"
    }
  }
}

/// The attributes of a file that decide how git converts it.
struct ConversionAttributes: Hashable {
  static let names = ["filter", "working-tree-encoding", "ident", "text", "eol", "crlf"]

  private let filter: String?
  private let encoding: String?
  private let fillsIdentity: Bool
  private let carriageReturns: CarriageReturns

  /// When git removes the CR before a LF.
  private enum CarriageReturns {
    case never, always
    /// git converts the file depending on its text: only if it is not binary and no version of it has a CR.
    case byText
  }

  /// The attributes as values of `names`.
  ///
  /// - Parameter isAutomatic: whether `text=auto` applies to files without such attributes:
  ///   `core.autocrlf`, git-config(1).
  init(_ values: [AttributeValue], isAutomatic: Bool) {
    filter = values[0].text
    let encoding = values[1].text
    let isUsual = ["utf-8", "utf8"].contains(encoding?.lowercased() ?? "utf-8")
    self.encoding = isUsual ? nil : encoding
    fillsIdentity = values[2] == .set
    let text = values[3] == .unspecified ? values[5] : values[3]
    carriageReturns =
      switch text {
      case .set, .value("input"): .always
      case .value("auto"): .byText
      case .unspecified where values[4].text != nil: .always
      case .unspecified where isAutomatic: .byText
      default: .never
      }
  }

  private init(filter: String?) {
    self.filter = filter
    encoding = nil
    (fillsIdentity, carriageReturns) = (false, .never)
  }

  /// These attributes reduced to the filter; without it if git's configuration does not define the filter.
  func onlyFilter(_ isConfigured: (String) throws -> Bool) rethrows -> ConversionAttributes {
    ConversionAttributes(filter: try filter.flatMap { try isConfigured($0) ? $0 : nil })
  }

  /// How git converts a file with these bytes. The bytes, and those of the file's last version, are read only
  /// if the conversion depends on them.
  func conversion(
    of bytes: () throws -> [UInt8]?, lastVersion: () throws -> [UInt8]?
  ) rethrows -> Conversion? {
    if let filter { return .filter(filter) }
    if let encoding { return .encoding(encoding) }
    guard fillsIdentity || carriageReturns != .never, let bytes = try bytes() else { return nil }
    if fillsIdentity, Self.holdsIdentity(bytes) { return .identity }
    switch carriageReturns {
    case .never: return nil
    case .always: return Self.holdsPair(bytes) ? .lineEndings : nil
    case .byText:
      // A new file is saved with its CRs, and then git does not remove them.
      guard Self.holdsPair(bytes), !Self.isBinary(bytes), let last = try lastVersion(),
        !last.contains(UInt8(ascii: "\r"))
      else { return nil }
      return .lineEndings
    }
  }

  private static func holdsPair(_ bytes: [UInt8]) -> Bool {
    zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "\r") && $1 == UInt8(ascii: "\n") }
  }

  /// Whether git treats the bytes as binary: they have a NUL, or a CR without LF.
  private static func isBinary(_ bytes: [UInt8]) -> Bool {
    bytes.contains(0)
      || bytes.indices.contains { position in
        bytes[position] == UInt8(ascii: "\r")
          && !bytes[(position + 1)...].starts(with: [UInt8(ascii: "\n")])
      }
  }

  /// Whether the bytes contain `$Id$`, or `$Id: … $` on one line.
  private static func holdsIdentity(_ bytes: [UInt8]) -> Bool {
    let dollar = UInt8(ascii: "$")
    return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
      line.indices.contains { start in
        guard line[start] == dollar else { return false }
        let rest = line[(start + 1)...]
        return rest.starts(with: "Id$".utf8)
          || rest.starts(with: "Id:".utf8) && rest.dropFirst(3).contains(dollar)
      }
    }
  }
}
