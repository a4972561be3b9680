internal import Channel

extension Failure {
  /// What an error between two devices means to the user.
  init(_ error: ChannelError) {
    switch error {
    case .libraryMissing(let what):
      self.init(
        .failed, "library_missing", "OpenSSL cannot be loaded: \(Visible.name(what))",
        hint: "install it: apt install libssl3")
    case .invalidAddress(let text):
      self = .usage(
        "'\(Visible.name(text))' is not an address", hint: "write HOST:PORT, or [IPV6]:PORT")
    case .hostUnknown(let host, let reason):
      self.init(
        .noPeerReached, "host_unknown",
        "the host \(Visible.name(host)) is not known: \(Visible.name(reason))",
        hint: "check its name, or give its address")
    case .unreachable(let address, let code):
      self.init(
        .noPeerReached, "unreachable",
        "\(Visible.name(address.description)) cannot be reached: \(Self.reason(code))",
        hint: "is the other device awake and on this network?")
    case .connectionRefused(let address):
      self.init(
        .noPeerReached, "connection_refused",
        "nobody listens at \(Visible.name(address.description))",
        hint: "run 'notes serve' or 'notes sync' on the other device")
    case .portInUse(let address):
      self.init(
        .failed, "port_in_use",
        "another program listens at \(Visible.name(address.description)) already",
        hint: "choose another port with --listen, or leave --listen out")
    case .addressUnavailable(let address, let code):
      self.init(
        .failed, "address_unavailable",
        "cannot listen at \(Visible.name(address.description)): \(Self.reason(code))",
        hint: "use an address of this machine, or leave --listen out")
    case .notTLS, .tlsVersionUnsupported, .protocolUnsupported, .tls, .frameTooLarge, .frameEmpty:
      self.init(foreign: error)
    case .notebookUnknown:
      self.init(
        .refusedByPeer, "notebook_unknown", "the other device does not serve this notebook",
        hint: "run 'notes serve' or 'notes watch' in it there; or check the address")
    case .invitationUnknown:
      self.init(
        .refusedByPeer, "invitation_unknown", "the other device has no such invitation open",
        hint: "check the code, or ask for a new one: 'notes invite'")
    case .wrongCode: self = .wrongCode
    case .certificateRefused(let refusal):
      self.init(
        .refusedByPeer, "certificate_refused", Self.words(refusal, of: "the other device"),
        hint: refusal == .blocked
          ? "'notes members unblock NAME' lets it in again"
          : "'notes members' shows who is one; 'notes invite' lets it join")
    case .refusedByPeer(let refusal):
      self.init(
        .refusedByPeer, "refused_by_peer", Self.words(refusal, of: "this device"),
        hint: refusal == .removed
          ? "the notes here stay as they are; an admin can invite this device again"
          : "ask an admin of the notebook for an invitation")
    case .verificationFailed(let reason):
      self.init(
        .failed, "verification_failed",
        "the other device's certificate could not be judged: \(Visible.name(reason))",
        hint: "'notes doctor' looks for what is wrong here")
    case .peerFailed:
      self.init(
        .failed, "peer_failed", "something failed on the other device",
        hint: "'notes doctor' there looks for what is wrong")
    case .timedOut(let phase):
      self.init(
        .noPeerReached, "timed_out", "the other device \(Self.words(phase))",
        hint: "is it awake, and the network working?")
    case .cancelled: self = .interrupted
    case .closedByPeer:
      self.init(
        .failed, "closed_by_peer", "the other device ended the connection",
        hint: "run the command again; nothing is lost")
    case .connectionLost:
      self.init(
        .failed, "connection_lost", "the connection was lost",
        hint: "run the command again; nothing is lost")
    case .system(let call, let code):
      self.init(
        .failed, "system_failed", "\(call): \(Self.reason(code))",
        hint: Self.remedy(code) ?? Self.examine)
    }
  }

  /// The code typed here is not the one shown there.
  static let wrongCode = Failure(
    .refusedByPeer, "wrong_code", "the code is wrong",
    hint: "check it on the other device; after three wrong ones it is void")

  /// Who answers does not speak as notes does.
  private init(foreign error: ChannelError) {
    switch error {
    case .notTLS:
      self.init(
        .noPeerReached, "not_tls", "what answers there is not notes",
        hint: "check the port: the other device shows where it listens")
    case .tlsVersionUnsupported:
      self.init(
        .refusedByPeer, "tls_version", "the other end speaks no TLS 1.3",
        hint: "check the address and the version of notes there")
    case .protocolUnsupported:
      self.init(
        .refusedByPeer, "protocol_unsupported", "the other end speaks no protocol of notes",
        hint: "check the address and the version of notes there")
    case .tls(let call, let reasons):
      self.init(
        .failed, "tls_failed",
        "\(call) failed: \(Visible.name(reasons.joined(separator: "; ")))", hint: Self.examine)
    default:
      self.init(
        .failed, "protocol_broken", "the other device broke the protocol",
        hint: "check the version of notes there")
    }
  }

  private static func words(_ refusal: CertificateRefusal, of device: String) -> String {
    switch refusal {
    case .stranger: "\(device) is not a member of the notebook"
    case .removed: "\(device) has been removed from the notebook"
    case .blocked: "\(device) is blocked on this device"
    case .missing: "\(device) showed no certificate"
    }
  }

  private static func words(_ phase: ChannelError.Phase) -> String {
    switch phase {
    case .resolving: "has a name that could not be looked up in time"
    case .connecting: "did not answer in time"
    case .handshake, .sending, .receiving: "stopped answering"
    }
  }
}
