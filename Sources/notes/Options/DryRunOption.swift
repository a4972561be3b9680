internal import ArgumentParser

/// `--dry-run`, which commands take that change many notes at once.
struct DryRunOption: ParsableArguments {
  @Flag(
    name: [.customShort("d"), .customLong("dry-run")],
    help: "Show what would be done, and change nothing.")
  var isOn = false
}
