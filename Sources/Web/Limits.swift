/// The limits of the page: notes-security(7), "What the page lets in". Sizes are in bytes, times in
/// seconds.
public struct WebLimits: Sendable {
  /// The limit of connections. Another connection closes the oldest that has not been admitted. If there is
  /// none, it closes the one that has been idle for longest.
  public var connections = 96
  /// The limit of pages that follow the events at the same time.
  public var followers = 24
  /// The limit of such pages for one guest.
  public var guestFollowers = 6
  /// The size of a request's head.
  public var headBytes = 32 << 10
  /// The size of a form.
  public var formBytes = 4 << 20
  /// The longest text of a note that the page shows completely, and accepts.
  public var textBytes = 1 << 20
  /// The largest file that the page accepts.
  public var fileBytes = 25 << 20
  /// The largest image that the page shows inside a text; a larger one is a link.
  public var imageBytes = 10 << 20
  /// How long a request's head may take.
  public var headTime = 10.0
  /// How long a form may take.
  public var formTime = 60.0
  /// How long a connection may be idle, and how long a browser may take to read an answer.
  public var idleTime = 120.0
  /// How long an invitation of a device is open: notes-web(1), "Devices".
  public var invitationTime = 600.0
  /// The limit of requests in the queue.
  public var waiting = 48

  /// The limits of notes-security(7).
  public init() {}
}
