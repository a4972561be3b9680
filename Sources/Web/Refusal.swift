/// The reason why a request is refused, and the status of the answer.
struct Refusal: Error {
  let status: Int
  let text: String

  private init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }

  static let noSuchPage = Refusal(404, "there is no such page")
  static let noSuchNote = Refusal(404, "there is no such note, and there never was")
  static let noSuchFile = Refusal(404, "there is no such file now")
  static let noSuchVersion = Refusal(404, "there is no such version")
  /// The text that the page showed no longer exists.
  static let noSuchText = Refusal(
    404, "the text that this page showed is gone: edit the note as it is now")
  static let noSuchInvitation = Refusal(404, "there is no such invitation, or it is closed")
  static let noSuchMember = Refusal(404, "there is no such member")
  static let noText = Refusal(
    409,
    "you can read this note here but not edit it: it is not text, or contains bytes that a browser "
      + "would change"
  )
  /// The note differs from the one that the page showed, and the request would undo those changes.
  static let changedSince = Refusal(
    409, "the note has changed since this page was shown: look at it, then try again")
  /// The device key of the notebook is missing.
  static let otherDevice = Refusal(
    409, "this notebook was made or joined with another device key")
  /// The file may say where it was made, and the page cannot remove that.
  static let mayTellPlace = Refusal(
    409,
    "the file may say where it was made, and the page cannot remove that from this kind of file; "
      + "to add it anyway, choose \u{201C}Keep where photos were taken\u{201D} in the menu beside the button"
  )
  static let emptyTitle = Refusal(400, "the note needs a title")
  /// The form does not identify the text that was shown.
  static let brokenForm = Refusal(400, "the form does not belong to this page")
  /// A kind of file that the page does not accept.
  static let unknownKind = Refusal(
    415,
    "the page accepts images, sound, video, PDF, ZIP, e-books, tables, calendars, contacts and "
      + "office documents; put other files into the notebook's folder")
  static let otherKind = Refusal(
    415, "the file's content does not match its name, or is damaged")
  /// A guest with the role reader requests a change.
  static let readOnly = Refusal(
    403, "you are a reader here: you can read everything and change nothing")
  /// A guest asks to undo something that is already undone or that another person did.
  static let notYours = Refusal(403, "you can undo only what you did here, once")
  /// A guest requests a page that is only for the user of this device.
  static let ownerOnly = Refusal(403, "this page is only for the user of this device")
  /// The notebook's folder is unavailable; it may return.
  static let away = Refusal(
    503,
    "the notebook is unavailable: its folder was moved, or its medium was removed")
  /// The book of guests cannot be read, or other users could have written it.
  static let bookUnreadable = Refusal(
    503,
    "cannot check guests right now: run 'notes doctor' on the device that serves this page")
  static let tooManyUploads = Refusal(503, "others are adding files now: try again")

  static func tooLong(_ most: Int) -> Refusal {
    Refusal(413, "the text has more than \(most / 1024) KiB, which is too much for the page")
  }

  static func tooLarge(_ most: Int) -> Refusal {
    Refusal(413, "the file has more than \(most >> 20) MiB, which is too much for the page")
  }
}
