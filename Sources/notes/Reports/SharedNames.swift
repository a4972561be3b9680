internal import Membership

extension SharedNames {
  /// The name, and the beginning of the ID where that is needed.
  func shown(_ name: String, _ device: String?) -> String {
    Visible.name(self.name(name, device))
  }
}
