internal import CAvahi
internal import Glibc
internal import System

/// The services that this device announces and looks for, and its connection to the Avahi daemon. Used on
/// one thread. Avahi's callbacks only record events; `settle()` handles them afterwards, because the first
/// callback runs inside `avahi_client_new`, and a client must not be freed in its own callback.
final class AvahiSession {
  let library: AvahiLibrary
  private(set) var client: OpaquePointer?

  private var publications: [ServiceRecord: AvahiPublication] = [:]
  private var browsers: [AvahiBrowser] = []
  private let poll: OpaquePointer
  private let deviceID: String
  private var clientState: AvahiClientState?
  private var failure: DiscoveryError?
  private var nextAttempt = Instant.never
  private var delay = AvahiSession.firstDelay

  /// Seconds until the first new attempt to reach the daemon; doubled after each attempt, up to
  /// `lastDelay`.
  private static let firstDelay = 0.5
  private static let lastDelay = 15.0

  init(library: AvahiLibrary, poll: OpaquePointer, deviceID: String) {
    self.library = library
    self.poll = poll
    self.deviceID = deviceID
  }

  /// Requests the announcement of `service`; returns the reason if it is not possible now.
  func publish(_ service: ServiceRecord) -> DiscoveryError? {
    if publications[service] == nil {
      publications[service] = AvahiPublication(service: service, session: self)
    }
    connectForCaller()
    return failure ?? publications[service]?.error
  }

  func withdraw(_ service: ServiceRecord) { publications.removeValue(forKey: service)?.reset() }

  /// Requests calls of `onEvent` for services of this kind; returns the reason if it is not
  /// possible now.
  func browse(
    _ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) -> DiscoveryError? {
    connectForCaller()
    let browser = AvahiBrowser(kind: kind, deviceID: deviceID, session: self, onEvent: onEvent)
    browsers.append(browser)
    settle()
    return failure
  }

  /// Calls `version` with the daemon's version; returns the error if the daemon does not answer.
  func ask(_ version: (String) -> Void) -> DiscoveryError? {
    connectForCaller()
    guard failure == nil, let client else { return failure ?? .daemonNotRunning }
    guard let text = library.functions.avahi_client_get_version_string(client) else {
      return lastError(in: "avahi_client_get_version_string")
    }
    version(String(cString: text))
    return nil
  }

  var millisecondsToNextAttempt: Int32 { nextAttempt.pollTimeout }

  func settle() {
    if clientState == AVAHI_CLIENT_FAILURE, client != nil {
      disconnect(lastError(in: "avahi_client"))
    }
    for browser in browsers {
      if let error = browser.failure { disconnect(error) }
    }
    if client == nil, nextAttempt.hasPassed { connect() }
    switch clientState {
    case AVAHI_CLIENT_S_RUNNING:
      if failure != nil {
        failure = nil
        browsers.forEach { $0.onEvent(.resumed) }
      }
      delay = Self.firstDelay
      publications.values.forEach { $0.settle() }
      browsers.forEach { $0.start() }
    case AVAHI_CLIENT_CONNECTING: fail(.daemonNotRunning)
    case AVAHI_CLIENT_S_COLLISION, AVAHI_CLIENT_S_REGISTERING:
      // The host's name is changing: by Avahi's rule, the services are registered again afterwards.
      publications.values.forEach { $0.reset() }
    default: break
    }
  }

  func lastError(in call: String) -> DiscoveryError {
    let code = client.map { library.functions.avahi_client_errno($0) }
    return library.error(code ?? Int32(AVAHI_ERR_FAILURE), in: call)
  }

  func close() {
    publications.values.forEach { $0.reset() }
    publications = [:]
    browsers.forEach { $0.forget() }
    browsers = []
    free()
  }

  private func connectForCaller() {
    if client == nil { connect() }
    settle()
  }

  private func connect() {
    nextAttempt = .never
    var code: Int32 = 0
    client = library.functions.avahi_client_new(
      library.functions.avahi_simple_poll_get(poll),
      AvahiClientFlags(rawValue: AVAHI_CLIENT_NO_FAIL.rawValue),
      { client, state, session in
        guard let session else { return }
        Unmanaged<AvahiSession>.fromOpaque(session).takeUnretainedValue().clientState = state
      }, Unmanaged.passUnretained(self).toOpaque(), &code)
    if client == nil {
      clientState = nil
      retry(after: library.error(code, in: "avahi_client_new"))
    }
  }

  private func disconnect(_ error: DiscoveryError) {
    publications.values.forEach { $0.reset() }
    browsers.forEach { $0.forget() }
    free()
    retry(after: error)
  }

  private func free() {
    if let client { library.functions.avahi_client_free(client) }
    client = nil
    clientState = nil
  }

  private func retry(after error: DiscoveryError) {
    fail(error)
    nextAttempt = .now + delay
    delay = min(delay * 2, Self.lastDelay)
  }

  private func fail(_ error: DiscoveryError) {
    if failure == nil { browsers.forEach { $0.lose(error) } }
    failure = error
  }
}
