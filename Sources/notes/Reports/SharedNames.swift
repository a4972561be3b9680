internal import Membership

extension SharedNames {
  /// The name, and the beginning of the ID where that is needed.
  func shown(_ name: String, _ device: String?) -> String {
    guard let device, let id = mark(of: name, device) else { return Visible.name(name) }
    return "\(Visible.name(name)) (\(id))"
  }
}
