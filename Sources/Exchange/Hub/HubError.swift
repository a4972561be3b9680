internal import Git

/// An error that ends a visit to a hub. The texts are git's or the hub's.
public enum HubError: Error, Sendable, Equatable {
  /// The git program is missing.
  case gitMissing
  /// No server answers at the address.
  case unreachable(String)
  /// The server has sent nothing for this many seconds.
  case silent(seconds: Int)
  /// The server's key differs from the known one, or is unknown.
  case hostUnproved(String)
  /// The server denies access to this user, or requires a password.
  case notLetIn(String)
  /// The server lets this user read the repository, and not write there.
  case readOnly(String)
  /// There is no repository, or git does not trust its owner.
  case noRepository(String)
  case foreignOwner(String)
  /// The hub refused the push, with this message.
  case refused(String)
  /// The hub refuses, with this message, to replace the branch that has forgotten content.
  case keepsForgotten(String)
  /// The hub's disk is full.
  case full(String)
  /// The hub sends more of this than the device accepts.
  case excessive(String)
  /// Others moved the hub's branch during each of this many attempts.
  case busy(attempts: Int)
  /// The hub's history has nothing in common with the notebook's.
  case unrelated
  /// The hub has the list of members of another notebook.
  case anotherNotebook
  /// This admin has started the notebook's membership over.
  case startedOver(by: String)
  /// The hub is a shallow clone, which lacks the older versions.
  case shallow
  /// The repository has no list of members, so it is not the hub of a notebook.
  case withoutMembers
  /// The notebook's HEAD is detached, so there is no branch to exchange.
  case noBranch
  /// Any other error.
  case failed(String)
}

extension HubError {
  /// Whether another attempt or a further wait is useless.
  var isFinal: Bool {
    switch self {
    case .gitMissing, .silent, .hostUnproved, .excessive: true
    default: false
    }
  }
}

extension HubError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .gitMissing: "git is not installed; notes needs it to reach hubs"
    case .unreachable(let words): "the hub cannot be reached: \(words)"
    case .silent(let seconds): "the hub did not answer for \(seconds) s"
    case .hostUnproved(let words): "cannot verify the hub's server: \(words)"
    case .notLetIn(let words): "the hub denied access: \(words)"
    case .readOnly(let words): "the hub lets this device read, but not write: \(words)"
    case .noRepository(let words): "there is no repository: \(words)"
    case .foreignOwner(let words): "the hub's folder belongs to another user: \(words)"
    case .refused(let words): "the hub refused: \(words)"
    case .keepsForgotten(let words):
      "the hub does not allow notes to replace its branch, which contains a forgotten text: \(words)"
    case .full(let words): "the hub's disk is full: \(words)"
    case .excessive(let what): "the hub exceeded a limit: \(what)"
    case .busy(let attempts): "other devices moved the hub's branch \(attempts) times in a row"
    case .unrelated: "the hub has another history, which shares no version with this notebook"
    case .anotherNotebook: "the hub belongs to another notebook"
    case .startedOver(let name): "the notebook's membership was started over by \(name)"
    case .shallow: "the hub is a shallow clone, which lacks the older versions"
    case .withoutMembers: "the repository is not the hub of a notebook"
    case .noBranch: "the notebook is on no branch (a detached HEAD)"
    case .failed(let words): "git failed: \(words)"
    }
  }
}

extension HubError {
  /// The meaning of an error of the git program for a person who wanted to reach a hub; nil if the error is
  /// not about the hub.
  init?(_ error: any Error) {
    guard let error = error as? TransferError else { return nil }
    switch error {
    case .programMissing: self = .gitMissing
    case .silent(let seconds): self = .silent(seconds: seconds)
    case .excessive(let what): self = .excessive(what)
    case .stopped: return nil
    case .failed(_, let lines): self = Self.meaning(of: lines)
    }
  }

  init(refusedWith words: String) {
    if words.contains("No space left") {
      self = .full(words)
    } else if !Self.ofHooks.contains(where: words.contains),
      let reason = words.split(separator: "; ").map(String.init).first(where: Self.isReadOnly)
    {
      self = .readOnly(reason)
    } else {
      self = .refused(words)
    }
  }

  /// The meaning of this error when a device writes to a hub that it has just read: the server lets this user read, so
  /// it refuses only the writing.
  var afterReading: HubError {
    if case .notLetIn(let words) = self { .readOnly(words) } else { self }
  }

  /// Words of git, and of popular hosts, about a user who may read a repository and not write there.
  private static let ofReaders = [
    "denied to ", "not allowed to push code to this project", "marked as read only",
    "does not have write access", "permission denied for writing", "FATAL: W ",
    "You need the Git 'GenericContribute' permission", "service not enabled",
  ]

  /// Words of git about a rule of the server for this branch or push, whatever else the server says.
  private static let ofHooks = ["hook declined", "protected branch"]

  private static func isReadOnly(_ words: String) -> Bool {
    Transfer.isOfPermissions(words) || ofReaders.contains(where: words.contains)
  }

  /// Known phrases in messages of git, ssh, curl and servers, in the order of the search.
  private static let phrases: [(words: [String], make: @Sendable (String) -> HubError)] = [
    (["No space left on device", "Disk quota exceeded"], { .full($0) }),
    (
      [
        "Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "server certificate verification failed", "server verification failed",
        "SSL certificate problem", "certificate verify failed",
        "certificate subject name",
      ], { .hostUnproved($0) }
    ),
    // For a push, `writing` says that reading is allowed.
    (ofReaders, { .notLetIn($0) }),
    (["dubious ownership"], { .foreignOwner($0) }),
    (["shallow roots are not allowed", "shallow update not allowed"], { _ in .shallow }),
    (
      [
        "Permission denied (", "Authentication failed", "could not read Username",
        "could not read Password", "error: 401", "error: 403", "terminal prompts disabled",
        "access denied or repository not exported",
      ], { .notLetIn($0) }
    ),
    (
      [
        "Could not resolve host", "unable to look up", "Connection refused", "timed out",
        "No route to host", "Network is unreachable", "Failed to connect", "Couldn't connect",
        "unable to connect", "Connection reset", "Connection closed", "early EOF",
        "hung up unexpectedly", "Operation too slow", "Recv failure", "Empty reply",
      ], { .unreachable($0) }
    ),
    (
      [
        "does not appear to be a git repository", "not found", "No such file or directory",
        "repository not exported",
      ], { .noRepository($0) }
    ),
  ]

  private static func meaning(of lines: [String]) -> HubError {
    for (phrases, make) in phrases {
      for line in lines where phrases.contains(where: line.contains) { return make(plain(line)) }
    }
    let fatal = lines.first { $0.hasPrefix("fatal: ") || $0.hasPrefix("error: ") }
    return .failed(plain(fatal ?? lines.last ?? "it said nothing"))
  }

  /// A line without git's prefixes and suffixes.
  private static func plain(_ line: String) -> String {
    var words = Substring(line)
    for beginning in ["remote: ", "fatal: ", "error: "] where words.hasPrefix(beginning) {
      words = words.dropFirst(beginning.count)
    }
    while words.last == "." || words.last == " " { words.removeLast() }
    return String(words.prefix(300))
  }
}

extension HubVisit {
  /// Runs `body`, which uses the git program, and translates its errors.
  static func talking<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch TransferError.stopped {
      throw SyncError.stopped
    } catch {
      throw HubError(error) ?? error
    }
  }

  /// The same for a push to a hub that this device has just read.
  static func writing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try talking(body)
    } catch let error as HubError {
      throw error.afterReading
    }
  }
}
