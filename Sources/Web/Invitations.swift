internal import Discovery
internal import Exchange
internal import Glibc
internal import Membership
internal import Synchronization
internal import System
internal import Watch

/// The invitations of a notebook that were opened on the page, with their codes, which are stored nowhere
/// else.
final class Invitations: Sendable {
  /// An invitation.
  struct Opened: Sendable {
    let role: Role
    /// When the invitation expires, in seconds since 1970.
    let expires: Int64
    /// The port at which the joining device connects to this one.
    let port: UInt16
    /// The code for the joining device's user; deleted when no device can join with it any more.
    private(set) var code: String?
    /// The state of the invitation.
    var state = State.waiting { didSet { if !isOpen { code = nil } } }
    /// The number of attempts left, after a wrong one.
    var attemptsLeft: Int?
    /// Whether this device cannot be discovered on the network.
    let isHidden: Bool

    init(_ open: OpenInvitation, isHidden: Bool) {
      (role, expires, port) = (open.role, open.expires, open.port)
      (code, self.isHidden) = (open.code.description, isHidden)
    }
  }

  enum State: Sendable, Equatable {
    case waiting, offered
    case joined(String)
    /// The device has everything.
    case done(String)
    case ended(InvitationEnd)
  }

  private struct Entry: Sendable {
    var opened: Opened
    let hold: Hold
  }

  /// The operation that keeps an invitation open, and its end.
  private struct Hold: Sendable {
    let token: CancellationToken
    let ended = BlockingQueue<Bool>()
  }

  /// The invitations by the first two digits of their codes. An ended invitation stays until
  /// another has its digits.
  private let entries = Mutex<[String: Entry]>([:])
  /// The invitations that are being opened.
  private let opening = Mutex(0)
  private let changed = Mutex<@Sendable () -> Void>({})

  /// How many may be open at once; each may take a thread and a port.
  private static let most = 8
  /// How long to wait until an invitation is open, in seconds.
  private static let patience = 30.0

  /// Calls `body` when an invitation changes.
  func whenChanged(_ body: @escaping @Sendable () -> Void) { changed.withLock { $0 = body } }

  /// The invitation with these first digits.
  subscript(_ locator: String) -> Opened? { entries.withLock { $0[locator]?.opened } }

  /// Opens an invitation for this many seconds, and returns its first digits when it is open. Throws
  /// like `InvitationHost.invite`.
  func open(role: Role, by host: InvitationHost, seconds: Double) throws -> String {
    try opening.withLock { opening in
      let openCount = entries.withLock { $0.values.count(where: \.opened.isOpen) }
      guard openCount + opening < Self.most else {
        throw SyncError.failed("too many invitations are open")
      }
      opening += 1
    }
    defer { opening.withLock { $0 -= 1 } }
    let (hold, first) = (Hold(token: try CancellationToken()), BlockingQueue<FirstWord>())
    try startThread { [self] in
      var isHidden = false
      do {
        try host.invite(role: role, seconds: seconds, cancellation: hold.token) { event in
          if case .discoveryFailed = event { isHidden = true }
          if case .invitation(let open) = event {
            let opened = Opened(open, isHidden: isHidden)
            entries.withLock { $0[open.code.locator] = Entry(opened: opened, hold: hold) }
            first.put(.open(locator: open.code.locator))
          }
          observe(event)
        }
        first.put(.failed(SyncError.failed("the invitation has expired")))
      } catch {
        first.put(.failed(error))
      }
      hold.ended.put(true)
      end(hold)
    }
    switch first.take(until: .now + Self.patience) {
    case .open(let locator): return locator
    case .failed(let error): throw error
    case nil:
      hold.token.cancel()
      throw SyncError.failed("the invitation did not open in time")
    }
  }

  private enum FirstWord: Sendable {
    case open(locator: String)
    case failed(any Error)
  }

  private func observe(_ event: Event) {
    let state: State? =
      switch event {
      case .offered: .offered
      case .declined: .waiting
      case .joined(_, let device): .joined(device.name)
      case .ended(_, let how): .ended(how)
      default: nil
      }
    entries.withLock { entries in
      guard let locator = event.locator, entries[locator] != nil else { return }
      if let state { entries[locator]?.opened.state = state }
      if case .wrongCode(_, _, let left) = event { entries[locator]?.opened.attemptsLeft = left }
    }
    tell()
  }

  /// Records that the invitation has ended which `hold` kept open.
  private func end(_ hold: Hold) {
    entries.withLock { entries in
      for (locator, entry) in entries where entry.hold.token === hold.token {
        switch entry.opened.state {
        case .joined(let name): entries[locator]?.opened.state = .done(name)
        case .waiting, .offered: entries[locator]?.opened.state = .ended(.withdrawn)
        case .done, .ended: break
        }
      }
    }
    tell()
  }

  private func tell() { changed.withLock { $0 }() }

  /// Ends all of them.
  func stop() {
    let holds = entries.withLock { $0.values.map(\.hold) }
    for hold in holds { hold.token.cancel() }
    for hold in holds { _ = hold.ended.take(until: .now + 3) }
  }
}

extension Invitations.Opened {
  /// Whether a device can still join with it.
  var isOpen: Bool { state == .waiting || state == .offered }
}
