internal import ArgumentParser
internal import Glibc
internal import Membership
internal import System

struct DeviceExportCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a copy of this device's key, under a passphrase.",
    discussion: """
      The file is PKCS #8 in PEM, encrypted with a key that scrypt makes of the passphrase: \
      'openssl pkey -in FILE' reads it, too. It must not exist yet; '-' is standard output.

      Examples:
        notes device export key-backup.pem
        notes device export --passphrase-file secret - | lpr
      """)

  @Argument(help: "Where to write the key.")
  var file: String

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    guard let key = try DeviceKey.load(in: UserFolders().data) else {
      throw Failure(
        .failed, "no_device_key", "this device has no key to copy",
        hint: "'notes init' or 'notes join' makes one")
    }
    let sealed = try key.exported(passphrase: passphrase.passphrase(isNew: true))
    if file == "-" {
      Output.standard.write(String(decoding: sealed, as: UTF8.self))
      return .done
    }
    try SecretFile.create(file, sealed)
    if format.json {
      Output.standard.event([
        "type": .string("exported"), "device": .string(key.deviceID), "path": .string(file),
      ])
    } else {
      Output.standard.line(
        "The key of device \(key.deviceID.prefix(8)) is in \(Visible.name(file)), under the "
          + "passphrase.")
    }
    return .done
  }
}

/// Files with secrets.
enum SecretFile {
  /// The first line of a file; '-' is standard input. Secrets are short: more than 1,024 bytes are
  /// not read.
  static func firstLine(of file: String) throws -> String {
    if file == "-" { return readLine(strippingNewline: true) ?? "" }
    let bytes = try read(file, atMost: 1024)
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// The beginning of a file.
  static func read(_ file: String, atMost limit: Int) throws -> [UInt8] {
    guard let stream = fopen(file, "re") else {
      throw Failure(
        .failed, "file_failed", "\(Visible.name(file)) cannot be read: \(Failure.reason(errno))",
        hint: Failure.remedy(errno) ?? "check the file's name")
    }
    defer { fclose(stream) }
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = fread(&buffer, 1, buffer.count, stream)
    return Array(buffer[..<count])
  }

  /// Writes a file that did not exist, for its owner alone.
  static func create(_ file: String, _ bytes: [UInt8]) throws {
    do {
      // `createSecret` takes a link, which the file system of a stick may not have.
      try Disk.create(file, bytes, mode: 0o600)
    } catch {
      let (isMade, reason) = (error.call != "open", Failure.reason(error.errno))
      throw Failure(
        .failed, "file_failed",
        "\(Visible.name(file)) cannot be \(isMade ? "written" : "made"): \(reason)",
        hint: error.errno == EEXIST
          ? "choose another name: nothing is overwritten"
          : Failure.remedy(error.errno) ?? "choose another place for the file")
    }
  }
}
