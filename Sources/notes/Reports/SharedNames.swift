internal import Exchange
internal import Membership

extension SharedNames {
  /// The name, and the beginning of the ID if the name is ambiguous.
  func shown(_ name: String, _ device: String?) -> String {
    Visible.name(self.name(name, device))
  }

  /// The author of a version, with a remark if the name is not proved; the name is cut to `width`
  /// columns.
  func shown(_ author: VersionAuthor, cutTo width: Int = .max) -> String {
    let name = shown(author.name, author.deviceID)
    let mark = author.mark.map { " (\($0))" } ?? ""
    return (width == .max ? name : Width.cut(name, to: width)) + mark
  }
}
