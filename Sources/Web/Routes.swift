internal import Git
internal import History
internal import Notebook

/// The addresses that are answered, below the visitor's path; `*` stands for one part.
extension RequestContext {
  typealias Answer = @Sendable (RequestContext, Notebook) throws -> Response
  typealias Routes = [(path: String, answer: Answer)]

  /// The answer for a path; nil if there is none.
  static func answer(to path: [String], among routes: Routes) -> Answer? {
    routes.first { route in
      let parts = route.path.split(separator: "/")
      return parts.count == path.count && zip(parts, path).allSatisfy { $0 == "*" || $0 == $1 }
    }?.answer
  }

  /// The pages for reading.
  static let pages: Routes = [
    ("", { try $0.list(of: $1) }),
    ("style.css", { try $0.file(of: $1) }), ("page.js", { try $0.file(of: $1) }),
    ("icon.svg", { try $0.file(of: $1) }), ("icon.png", { try $0.file(of: $1) }),
    ("worker.js", { try $0.file(of: $1) }), ("app.webmanifest", { try $0.file(of: $1) }),
    ("n/*", { try .page($0.notePage(of: $0.subject(in: $1), in: $1)) }),
    ("n/*/text", { try $0.textNow(of: $0.subject(in: $1), in: $1) }),
    ("n/*/versions", { try .page($0.versionsPage(of: $0.subject(in: $1), in: $1)) }),
    ("n/*/v/*", { try .page($0.versionPage(of: $0.subject(in: $1), in: $1)) }),
    ("events", { try Response(status: 200, body: .events($0.openNote(in: $1))) }),
    ("deleted", { try .page($0.deletedPage(of: $1)) }),
    ("files", { try .page($0.filesPage(of: $1)) }),
    ("files/*", { try .page($0.filePage(in: $1)) }),
    ("files/*/bytes", { try $0.fileBytes(in: $1) }),
    ("texts", { try $0.keptMarks(in: $1) }),
    ("texts/*", { try $0.keptPart($0.request.path[1], in: $1) }),
    ("kept", { .page($0.pageForKept(isEditor: false, in: $1)) }),
    ("browser", { try .page($0.browserPage(of: $1)) }),
    ("devices", { try .page($0.devicesPage(of: $1)) }),
    ("devices/invitation/*", { try .page($0.invitationPage($0.request.path[2], in: $1)) }),
    ("devices/guest/*", { try .page($0.guestPage(of: $1)) }),
    ("devices/member/*", { try .page($0.memberPage(in: $1)) }),
  ]

  /// The pages for changing something.
  static let formPages: Routes = [
    ("new", { .page($0.newPage(of: $1)) }),
    ("undo", { try .page($0.undoPage(of: $1)) }),
    ("kept/edit", { .page($0.pageForKept(isEditor: true, in: $1)) }),
    (
      "n/*/edit",
      { context, notebook in
        let note = try context.subject(in: notebook)
        return .see(
          context.address(note, "/edit" + (try context.shownNote(note, in: notebook)).path))
      }
    ),
    ("n/*/edit/*/*", { try .page($0.editPage(of: $0.subject(in: $1), in: $1)) }),
    ("n/*/rename", { try .page($0.renamePage(of: $0.subject(in: $1), in: $1)) }),
    ("n/*/delete", { try .page($0.deletePage(of: $0.subject(in: $1), in: $1)) }),
    (
      "n/*/settle",
      { context, notebook in
        guard let tip = try notebook.state().tip else { throw Refusal.noSuchNote }
        return .see(try context.address(context.subject(in: notebook), "/settle/\(tip.hex)"))
      }
    ),
    ("n/*/settle/*", { try .page($0.settlePage(of: $0.subject(in: $1), in: $1)) }),
  ]

  /// The addresses to which forms are sent.
  static let forms: Routes = [
    ("new", { try $0.make(in: $1) }),
    ("undo/*", { try $0.undo(in: $1) }),
    ("save", { try $0.saveFolder(in: $1) }),
    ("leave", { context, _ in try context.leave() }),
    ("files/add", { try $0.addFile(in: $1) }),
    ("devices/invite", { try $0.invite(in: $1) }),
    ("devices/invitation/*/cancel", { try $0.cancelInvitation($0.request.path[2], in: $1) }),
    ("devices/guests", { try $0.inviteGuest(to: $1) }),
    ("devices/guest/*/role", { context, _ in try context.changeGuestRole() }),
    ("devices/guest/*/remove", { context, _ in try context.removeGuest() }),
    ("devices/member/*/role", { try $0.changeRole(in: $1) }),
    ("devices/member/*/remove", { try $0.removeMember(in: $1) }),
    ("n/*/edit/*/*", { try $0.edit($0.subject(in: $1), in: $1) }),
    ("n/*/tick/*/*", { try $0.tick($0.subject(in: $1), in: $1) }),
    ("n/*/rename/*", { try $0.rename($0.subject(in: $1), in: $1) }),
    ("n/*/delete/*/*", { try $0.delete($0.subject(in: $1), in: $1) }),
    ("n/*/pin", { try $0.pin($0.subject(in: $1), in: $1) }),
    ("n/*/unpin", { try $0.pin($0.subject(in: $1), in: $1) }),
    ("n/*/restore", { try $0.bringBack($0.subject(in: $1), in: $1) }),
    ("n/*/restore/*", { try $0.restore($0.subject(in: $1), in: $1) }),
    ("n/*/restore/*/*/*", { try $0.restore($0.subject(in: $1), in: $1) }),
    ("n/*/copy/*", { try $0.copy($0.subject(in: $1), in: $1) }),
    ("n/*/settle/*", { try $0.settle($0.subject(in: $1), in: $1) }),
  ]
}
