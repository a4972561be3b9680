internal import Exchange
internal import Membership

extension SharedNames {
  /// The name, and the beginning of the ID where that is needed.
  func shown(_ name: String, _ device: String?) -> String {
    Visible.name(self.name(name, device))
  }

  /// The author of a version, with the proof that the name lacks; the name is cut to so many columns.
  func shown(_ author: VersionAuthor, cutTo width: Int = .max) -> String {
    let name = shown(author.name, author.deviceID)
    let mark = author.mark.map { " (\($0))" } ?? ""
    return (width == .max ? name : Width.cut(name, to: width)) + mark
  }
}
