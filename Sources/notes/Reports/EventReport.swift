internal import Sync

/// Tells what happens, to programs or to people. All calls may come from any thread.
final class EventReport: Sendable {
  /// What the command does meanwhile.
  enum Occasion {
    case exchange
    /// It waits for a device that joins: the one of this name, or whoever has the code.
    case invitation(guest: String?)
    /// It serves until it is stopped. Its log tells people.
    case service
  }

  private let json: EventJSON?
  private let text: EventText
  private let isQuiet: Bool
  /// What strangers do must neither push the code off the screen nor fill a file.
  private let strangers: RefusalQuota
  private let progress = ProgressLine()

  init(json: Bool, _ occasion: Occasion = .exchange) {
    text = EventText(occasion: occasion)
    switch occasion {
    case .exchange, .invitation:
      self.json = json ? EventJSON(showsCode: true) : nil
      isQuiet = false
      strangers = RefusalQuota(burst: 3, perSecond: 0.1)
    case .service:
      self.json = json ? EventJSON(showsCode: false) : nil
      isQuiet = true
      strangers = RefusalQuota()
    }
    progress.start()
  }

  var writesJSON: Bool { json != nil }

  /// Writes what is to be told of an event.
  func write(_ event: Event) {
    if case .failed(let failure) = event, text.isByStranger(failure), strangers.take() == nil {
      return
    }
    if let json {
      for line in json.lines(for: event) { Output.standard.event(line) }
    } else if !isQuiet {
      show(event)
    }
  }

  private func show(_ event: Event) {
    if let line = text.progress(of: event) { return progress.show(line) }
    if let warning = text.warning(of: event) {
      progress.clear()
      Output.errors.write(warning)
      Output.errors.flush()
    } else if let words = text.words(for: event) {
      progress.clear()
      Output.standard.write(words)
      Output.standard.flush()
    }
  }

  func finish() { progress.clear() }
}
