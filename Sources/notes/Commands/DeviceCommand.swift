internal import ArgumentParser
internal import Exchange
internal import Glibc
internal import Membership
internal import System

struct DeviceCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "Show this device's ID, and keep, move or renew its key.",
    discussion: """
      The device key makes this device a member of its notebooks; without it, an admin must invite \
      the device again. Anyone who has the key is this device to all others, so 'export' encrypts \
      a copy with a passphrase.

      Examples:
        notes device
        notes device export key-backup.pem
        notes device import key-backup.pem
        notes device renew
      """,
    subcommands: [
      DeviceExportCommand.self, DeviceImportCommand.self, DeviceRenewCommand.self,
    ])

  @OptionGroup var options: CommonOptions

  static let noKey = Failure(
    .failed, "no_device_key", "this device has no key yet",
    hint: "'notes init' and 'notes join' make one; 'notes device import' restores one")

  func run() throws {
    let folder = try UserFolders().data
    let path = folder + "/" + DeviceKey.fileName
    guard let key = try DeviceKey.load(in: folder) else { throw Self.noKey }
    let absent = try CloneFromMember.absent(for: key, in: folder)
    options.tell(
      ["type": "device", "device": key.deviceID, "path": path, "absent": Self.json(absent)],
      "device  \(key.deviceID)\nkey     \(Visible.name(path))" + Self.next(absent))
  }

  /// The notebooks of which the device is a member and has no copy.
  static func json(_ absent: [KeptMembership]) -> JSON {
    JSON.array(
      absent.map { ["notebook": $0.id, "name": $0.name, "device_name": $0.deviceName] as JSON })
  }

  /// The sentence with the command that fetches these notebooks; empty if there are none.
  static func next(_ absent: [KeptMembership]) -> String {
    if absent.isEmpty { return "" }
    let names = absent.map { "\(Visible.name($0.name)) (as \(Visible.name($0.deviceName)))" }
    let (verb, them) = absent.count == 1 ? ("is", "it") : ("are", "them")
    return "\nThis device is also a member of \(Phrase.list(names)), which \(verb) not on this "
      + "machine. To fetch \(them) from a member or hub, run 'notes clone --from-member'."
  }
}

struct PassphraseOption: ParsableArguments {
  @Option(
    help: .named("file", "Read the passphrase from a file; '-' is standard input."),
    completion: .file())
  var passphraseFile: String?

  func passphrase(isNew: Bool) throws -> String {
    if let passphraseFile { return try SecretFile.firstLine(of: passphraseFile) }
    guard Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask for the passphrase",
        hint: "--passphrase-file reads it from a file, or with '-' from standard input")
    }
    func ask(_ question: String) throws -> String {
      guard let answer = Console.askSecret(question) else { throw Failure.interrupted }
      return answer
    }
    let first = try ask("Passphrase: ")
    if isNew, try ask("Repeat passphrase: ") != first {
      throw Failure.usage(
        "the two passphrases differ", hint: "nothing was written; run the command again")
    }
    return first
  }
}

struct DeviceExportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a copy of this device's key, under a passphrase.",
    discussion: """
      The file is PKCS #8 in PEM, encrypted with a key that scrypt makes of the passphrase; \
      'openssl pkey -in FILE' also reads it. The file must not exist; '-' is standard output.

      Examples:
        notes device export key-backup.pem
        notes device export --passphrase-file secret - | lpr
      """)

  @Argument(help: "The file to write the key to.", completion: .file()) var file: String

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let data = try UserFolders().data
    guard let key = try DeviceKey.load(in: data) else {
      throw Failure(
        .failed, "no_device_key", "this device has no key to copy",
        hint: "'notes init' or 'notes join' makes one")
    }
    try SecretFile.check(file)
    let kept = try KeptMembership.all(in: data).filter { $0.device == key.deviceID }
    let sealed =
      try key.exported(passphrase: passphrase.passphrase(isNew: true))
      + KeptMembership.exported(kept, by: key)
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
  /// '-' is standard input. Secrets are short: at most 1,024 bytes are read.
  static func firstLine(of file: String) throws -> String {
    if file == "-" { return Console.line() ?? "" }
    let bytes = try read(file, atMost: 1024)
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  static func read(_ file: String, atMost limit: Int) throws -> [UInt8] {
    guard let stream = fopen(file, "re") else {
      throw Failure.system(
        "\(Visible.name(file)) cannot be read", errno: errno, kind: "file_failed",
        hint: "check the file's name")
    }
    defer { fclose(stream) }
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = fread(&buffer, 1, buffer.count, stream)
    return Array(buffer[..<count])
  }

  /// Throws if the file could not be created, before anybody is asked for a passphrase.
  static func check(_ file: String) throws(Failure) {
    if file == "-" { return }
    var status = stat()
    let parent = file.contains("/") ? Disk.parent(of: file) : "."
    if Counted.lstat(file, &status) == 0 { throw refusal(file, "made", EEXIST) }
    if Counted.access(parent.isEmpty ? "/" : parent, W_OK | X_OK) != 0 {
      throw refusal(file, "made", errno)
    }
  }

  private static func refusal(_ file: String, _ done: String, _ number: Int32) -> Failure {
    .system(
      "\(Visible.name(file)) cannot be \(done)", errno: number, kind: "file_failed",
      hint: number == EEXIST
        ? "choose another name: nothing is overwritten" : "choose another place for the file")
  }

  static func create(_ file: String, _ bytes: [UInt8]) throws {
    do {
      // `createSecret` needs a hard link, which a USB stick's file system may not support.
      try Disk.create(file, bytes, mode: 0o600)
    } catch {
      throw refusal(file, error.call == "open" ? "made" : "written", error.errno)
    }
  }
}

struct DeviceImportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Restore a key that 'notes device export' wrote.",
    discussion: """
      From then on this machine is that device. Use a key on one machine at a time: two machines \
      with one key are one device to all others, which then miss versions of both.

      Without --replace, a device that already has a key keeps it. With --replace, the old key stays \
      beside the new one; notebooks made with the old key need that key again.

      Examples:
        notes device import key-backup.pem
        notes device import key-backup.pem --passphrase-file - --replace
      """)

  @Argument(help: "The file that 'notes device export' wrote.", completion: .file())
  var file: String

  @Flag(help: "Replace the present key.") var replace = false

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let folder = try UserFolders().data
    let sealed = try SecretFile.read(
      file, atMost: (64 << 10) + DeviceKey.largestMemberships)
    let present = try DeviceKey.load(in: folder)
    let secret = try passphrase.passphrase(isNew: false)
    guard let key = try DeviceKey(exported: sealed, passphrase: secret) else {
      throw Failure(
        .failed, "key_unreadable", "the passphrase is wrong, or the file contains no device key",
        hint: "run 'openssl pkey -in FILE -noout': it says which")
    }
    // The same key may bring memberships.
    if let present, present.deviceID != key.deviceID, !replace {
      throw Failure(
        .failed, "device_key_exists", "this device already has a key",
        hint: "--replace installs the other key, and keeps this one beside it")
    }
    let aside = try key.store(in: folder)
    let memberships = try KeptMembership.imported(sealed, by: key)
    for membership in memberships ?? [] { membership.keep(in: folder) }
    if memberships == nil {
      Output.errors.line(
        "notes: warning: the part of the file after the key was altered or cut short, and is "
          + "skipped")
    }
    let kept = aside.map { "\nIts former key is in \(Visible.name($0))." } ?? ""
    let absent = try CloneFromMember.absent(for: key, in: folder)
    let next =
      absent.isEmpty
      ? "\nNotebooks that it is a member of: 'notes clone ADDRESS' fetches one from its hub, and a "
        + "folder that you copy here works as before."
      : DeviceCommand.next(absent)
    options.tell(
      [
        "type": "imported", "device": key.deviceID, "kept": aside,
        "absent": DeviceCommand.json(absent),
      ],
      "This is device \(key.deviceID) now.\(kept)\(next)")
  }
}
