internal import ArgumentParser
internal import Membership

struct DeviceImportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Restore a key that 'notes device export' wrote.",
    discussion: """
      From then on this is that device. Use a key in one place at a time: two places with one key \
      are one device to all others, which then miss versions of either.

      A device that has a key already keeps it unless --replace is given; then the old key stays \
      beside the new one, and notebooks made with it need it back.

      Examples:
        notes device import key-backup.pem
        notes device import key-backup.pem --passphrase-file - --replace
      """)

  @Argument(help: "The file that 'notes device export' wrote.", completion: .file())
  var file: String

  @Flag(help: "Put another key in the place of the one that is there.")
  var replace = false

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let folder = try UserFolders().data
    let sealed = try SecretFile.read(file, atMost: 64 << 10)
    let present = try DeviceKey.load(in: folder)
    if present != nil, !replace {
      throw Failure(
        .failed, "device_key_exists", "this device has a key already",
        hint: "--replace puts the other in its place, and keeps this one beside it")
    }
    let secret = try passphrase.passphrase(isNew: false)
    guard let key = try DeviceKey(exported: sealed, passphrase: secret) else {
      throw Failure(
        .failed, "key_unreadable", "the passphrase is wrong, or the file holds no device key",
        hint: "'openssl pkey -in FILE -noout' tells which")
    }
    let aside = try key.store(in: folder)
    let kept = aside.map { "\nIts former key is in \(Visible.name($0))." } ?? ""
    options.tell(
      ["type": "imported", "device": key.deviceID, "kept": aside],
      "This is device \(key.deviceID) now.\(kept)")
  }
}
