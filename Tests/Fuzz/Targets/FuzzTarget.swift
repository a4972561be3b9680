/// Something that reads bytes which others chose. Each must return, whatever they are: a trap, a hang
/// or a broken rule is a find.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// The frames of a connection, however they are cut.
  case frames
  /// The JSON messages of a session and of pairing.
  case messages
  /// A pack as it arrives.
  case packs
  /// Commits, trees and names of a pack.
  case objects
  /// Certificates, requests, revocation lists and their extensions.
  case certificates
  /// The files of `.git/notes`, the index, and what users set.
  case state
  /// Conflict markers in notes, and the trailers of merges.
  case markers
  /// The user's own file of settings.
  case settings
  /// NOTE, VERSION, codes and addresses as people type them.
  case names

  /// Feeds it one input. Traps where a rule is broken.
  func run(_ bytes: [UInt8]) {
    switch self {
    case .frames: FrameTarget.run(bytes)
    case .messages: MessageTarget.run(bytes)
    case .packs: PackTarget.run(bytes)
    case .objects: ObjectTarget.run(bytes)
    case .certificates: CertificateTarget.run(bytes)
    case .state: StateTarget.run(bytes)
    case .markers: MarkerTarget.run(bytes)
    case .settings: SettingsTarget.run(bytes)
    case .names: NameTarget.run(bytes)
    }
  }
}
