internal import ArgumentParser
internal import Glibc
internal import Membership
internal import System

struct DeviceExportCommand: Command {
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

  @Argument(help: "Where to write the key.", completion: .file())
  var file: String

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let key = try DeviceKey.load(in: UserFolders().data) else {
      throw Failure(
        .failed, "no_device_key", "this device has no key to copy",
        hint: "'notes init' or 'notes join' makes one")
    }
    let sealed = try key.exported(passphrase: passphrase.passphrase(isNew: true))
    if file == "-" {
      Output.standard.write(String(decoding: sealed, as: UTF8.self))
      return
    }
    try SecretFile.create(file, sealed)
    options.tell(
      ["type": "exported", "device": key.deviceID, "path": file],
      "The key of device \(key.deviceID.prefix(8)) is in \(Visible.name(file)), under the passphrase."
    )
  }
}

enum SecretFile {
  /// The first line of a file; '-' is standard input. Secrets are short: more than 1,024 bytes are
  /// not read.
  static func firstLine(of file: String) throws -> String {
    if file == "-" { return readLine(strippingNewline: true) ?? "" }
    let bytes = try read(file, atMost: 1024)
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  static func read(_ file: String, atMost limit: Int) throws -> [UInt8] {
    guard let stream = fopen(file, "re") else {
      throw Failure(
        .failed, "file_failed",
        "\(Visible.name(file)) cannot be read: \(String(errorNumber: errno))",
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
      let (isMade, reason) = (error.call != "open", String(errorNumber: error.errno))
      throw Failure(
        .failed, "file_failed",
        "\(Visible.name(file)) cannot be \(isMade ? "written" : "made"): \(reason)",
        hint: error.errno == EEXIST
          ? "choose another name: nothing is overwritten"
          : Failure.remedy(error.errno) ?? "choose another place for the file")
    }
  }
}
