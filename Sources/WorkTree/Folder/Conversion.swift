internal import Git

/// How git converts a file between the folder and a version: gitattributes(5). What stands in the folder is
/// not what git would store, so such a file is no part of versions that are made here.
public enum Conversion: Hashable, Codable, Sendable {
  /// A program does it, which has this name: to encrypt the file, for instance, or to store it elsewhere.
  case filter(String)
  /// The folder has the text in this encoding.
  case encoding(String)
  /// `$Id$` is filled in.
  case identity
  /// CR before LF is taken away.
  case lineEndings
}

extension Conversion: CustomStringConvertible {
  /// The conversion that git does, as people are told.
  public var description: String {
    switch self {
    case .filter(let name): "git converts it with the filter \(name)"
    case .encoding(let name): "git converts it from \(name)"
    case .identity: "git fills in $Id$ in it"
    case .lineEndings: "git converts its line endings"
    }
  }
}

/// The attributes of a file by which git converts it.
struct ConversionAttributes: Hashable {
  static let names = ["filter", "working-tree-encoding", "ident", "text", "eol", "crlf"]

  private let filter: String?
  private let encoding: String?
  private let fillsIdentity: Bool
  private let carriageReturns: CarriageReturns

  /// When git takes away the CR before a LF.
  private enum CarriageReturns {
    case never, always
    /// By the text: in one that is no binary file and that no version has with a CR.
    case byText
  }

  /// The attributes as values of `names`.
  ///
  /// - Parameter isAutomatic: whether files without such attributes are as with `text=auto`:
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

  /// The filter alone, if it is one of those.
  func onlyFilter(_ isConfigured: (String) throws -> Bool) rethrows -> ConversionAttributes {
    ConversionAttributes(filter: try filter.flatMap { try isConfigured($0) ? $0 : nil })
  }

  /// How a file is converted that holds these bytes; they, and those of its last version, are asked for where
  /// it depends on them.
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
      // A file that no version has yet gets its CRs into one, and git leaves them alone from then on.
      guard Self.holdsPair(bytes), !Self.isBinary(bytes), let last = try lastVersion(),
        !last.contains(UInt8(ascii: "\r"))
      else { return nil }
      return .lineEndings
    }
  }

  private static func holdsPair(_ bytes: [UInt8]) -> Bool {
    zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "\r") && $1 == UInt8(ascii: "\n") }
  }

  /// Whether git takes the bytes for no text: a NUL, or a CR without LF.
  private static func isBinary(_ bytes: [UInt8]) -> Bool {
    bytes.contains(0)
      || bytes.indices.contains { position in
        bytes[position] == UInt8(ascii: "\r")
          && !bytes[(position + 1)...].starts(with: [UInt8(ascii: "\n")])
      }
  }

  /// `$Id$`, or `$Id: … $` on one line.
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
