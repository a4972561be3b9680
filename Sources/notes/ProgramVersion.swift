enum ProgramVersion {
  /// As in CHANGELOG.md and `notes --version`.
  static let current = "0.1.0"
}
