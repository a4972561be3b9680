internal import Membership

/// A visitor whom the gate admits: notes-security(7), "WHAT THE PAGE LETS IN" and GUESTS.
enum Visitor: Sendable {
  /// The user of the serving device.
  ///
  /// - Parameter shelf: the path of the list of notebooks, if all are served.
  case owner(root: String, shelf: String?)
  case guest(Guest, root: String)
  /// A guest of a notebook whose folder is unavailable, or whose book of guests cannot be read.
  case away(root: String)
  /// A visitor with a link for a guest, who can see only the page that asks for a name.
  case invited(GuestInvitation, token: String)

  /// The first part of the path in links for guests.
  static let linkPath = "guest"

  /// The path prefix of the visitor's pages, with a slash in front and none at the end.
  var root: String {
    switch self {
    case .owner(let root, _), .guest(_, let root), .away(let root): root
    case .invited(_, let token): "/\(Self.linkPath)/\(token)"
    }
  }

  var guest: Guest? { if case .guest(let guest, _) = self { guest } else { nil } }

  /// Whether this is the user of the serving device.
  var isOwner: Bool { if case .owner = self { true } else { false } }

  /// Whether the visitor can see the notebook.
  var isHere: Bool {
    switch self {
    case .owner, .guest: true
    case .away, .invited: false
    }
  }

  /// The path of the list of notebooks, for their owner; nil if only one is served.
  var shelf: String? { if case .owner(_, let shelf) = self { shelf } else { nil } }

  /// Whether the visitor may change the notebook.
  var mayWrite: Bool {
    switch self {
    case .owner: true
    case .guest(let guest, _): guest.role == .writer
    case .away, .invited: false
    }
  }
}
