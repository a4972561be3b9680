internal import ArgumentParser
internal import System

/// `--stats`: reports at the end how much a command did with files and connections.
struct StatsOption: ParsableArguments {
  @Flag(
    name: .customLong("stats"), help: "Show at the end how much the command read, wrote and sent.")
  var isOn = false

  /// Reports this for the process.
  func report(json: Bool) {
    guard isOn else { return }
    if json {
      Output.standard.event([
        "type": "stats", "read_files": Counter.readFiles.count,
        "written_files": Counter.writtenFiles.count,
        "opened_folders": Counter.openedFolders.count, "status_calls": Counter.statusCalls.count,
        "syncs": Counter.syncs.count, "writebacks": Counter.writebacks.count,
        "sent_bytes": Counter.sentBytes.count, "received_bytes": Counter.receivedBytes.count,
        "round_trips": Counter.roundTrips.count, "sent_objects": Counter.sentObjects.count,
        "received_objects": Counter.receivedObjects.count,
      ])
    } else {
      Output.standard.flush()
      Output.errors.write(Console.errors.wrapped(Self.text + "\n"))
      Output.errors.flush()
    }
  }

  private static var text: String {
    func number(_ counter: Counter) -> String { Phrase.number(counter.count) }
    let files =
      "files read \(number(.readFiles)), written \(number(.writtenFiles)); "
      + "folders opened \(number(.openedFolders)); status calls \(number(.statusCalls)); "
      + "syncs \(number(.syncs)), writebacks \(number(.writebacks))"
    if Counter.roundTrips.count == 0 { return files }
    return files + "; bytes sent \(number(.sentBytes)), received \(number(.receivedBytes)); "
      + "round trips \(number(.roundTrips)); objects sent \(number(.sentObjects)), "
      + "received \(number(.receivedObjects))"
  }
}

/// A command with the option `--stats`.
protocol CountedCommand: Command where Options == CommonOptions {
  var stats: StatsOption { get }
}

extension CountedCommand {
  func tellCounters() { stats.report(json: options.json) }
}
