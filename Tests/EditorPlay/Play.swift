import Git
import Glibc
import History
import Notebook
import Synchronization
import TestSupport
import WorkTree

/// People and programs who edit the same notes on several devices, by seed: they load, type, save at any
/// moment, save again, load again; devices exchange versions in between. It knows what each of them held,
/// and so whether a save was made on the right text.
final class Play {
  /// How often a kind of evidence decided, and how often wrongly.
  struct Count {
    var saves = 0
    /// Saves by somebody who had not seen the present text, taken at their word: words are gone.
    var lost = 0
    /// Saves by somebody who had the present text, merged as if on an older one.
    var back = 0
  }

  /// What the devices of a play have.
  struct Setting: Hashable {
    /// A watcher saves each file as it is written.
    var isWatched: Bool
    /// Something reads every file.
    var isIndexed: Bool
    /// Programs write notes that an editor on the same device has open.
    var isShared = false
  }

  private let seconds = PlaySeconds()
  private let setting: Setting
  private var random: SplitMix64
  private var devices: [PlayDevice] = []
  private let notes = ["a.txt", "b.txt", "c.txt"]
  private var number = 0
  private(set) var counts: [SaveBase.Evidence?: Count] = [:]
  private(set) var former = Count()
  private(set) var typed: Set<String> = []
  private(set) var removed: Set<String> = []
  /// Words of saves that were taken at their word wrongly.
  private(set) var dropped: Set<String> = []
  private(set) var story: [String] = []

  init(seed: UInt64, _ setting: Setting) throws {
    self.setting = setting
    random = SplitMix64(seed: seed)
    let first = try PlayDevice("D0", seconds)
    devices.append(first)
    for note in notes {
      let lines = (0..<Int.random(in: 2...7, using: &random)).map { _ in word() + " " + word() }
      try first.write(lines.map { $0 + "\n" }.joined(), to: note)
    }
    _ = try first.notebook.save()
    for number in 1..<Int.random(in: 2...4, using: &random) {
      let device = try PlayDevice("D\(number)", seconds)
      try Self.copy(from: first.notebook, to: device.notebook)
      _ = try device.notebook.merge(first.notebook.state().heads)
      devices.append(device)
    }
    for device in devices { try look(device) }
    for text in first.known.values { typed.formUnion(Self.words(text)) }
  }

  private func word() -> String {
    number += 1
    return "w\(number)"
  }

  private static func words(_ text: String) -> Set<String> {
    Set(text.split { $0 == " " || $0 == "\n" }.map(String.init).filter { $0.hasPrefix("w") })
  }

  private func look(_ device: PlayDevice, except waiting: Set<String> = []) throws {
    for note in notes where !waiting.contains(note) {
      device.known[note] = try quietText(note, device)
    }
  }

  /// A note's text, read without a trace.
  private func quietText(_ note: String, _ device: PlayDevice) throws -> String {
    let bytes = try device.notebook.workTree.text(of: TreePath(note))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: Steps

  func step() throws {
    guard let device = devices.randomElement(using: &random) else { return }
    seconds.now.add(1, ordering: .relaxed)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: try open(device)
    case 12..<40: type(device)
    case 40..<62: try save(device)
    case 62..<68: try reload(device)
    case 68..<72: try close(device)
    case 72..<78: try append(device)
    case 78..<82: try script(device)
    default: try exchange(device)
    }
  }

  private func path(_ note: String, _ device: PlayDevice) -> String { device.folder[note] }

  private func open(_ device: PlayDevice) throws {
    guard device.editor == nil, let note = notes.randomElement(using: &random) else { return }
    let text = try device.read(note)
    let editor = PlayEditor(
      note: note, byRename: chance(50), hasLock: chance(30), buffer: Self.lines(text), held: text)
    device.editor = editor
    if editor.hasLock { try lock(editor, device) }
    tell(device, "opens \(note)\(editor.byRename ? ", saves by rename" : "")")
  }

  private func lock(_ editor: PlayEditor, _ device: PlayDevice) throws {
    let process = UInt32(getpid())
    let number = (0..<4).map { UInt8(truncatingIfNeeded: process >> ($0 * 8)) }
    try writeFile(
      path(".\(editor.note).swp", device),
      Array("b0".utf8) + [UInt8](repeating: 0, count: 22) + number)
  }

  private func unlock(_ editor: PlayEditor, _ device: PlayDevice) {
    unlink(path(".\(editor.note).swp", device))
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast(
      text.hasSuffix("\n") ? 1 : 0)
  }

  private func type(_ device: PlayDevice) {
    guard var editor = device.editor else { return }
    change(&editor.buffer, &editor.removed)
    device.editor = editor
  }

  private func change(_ lines: inout [String], _ removed: inout Set<String>) {
    var kind = lines.isEmpty ? 0 : Int.random(in: 0..<100, using: &random)
    let place = lines.isEmpty ? 0 : Int.random(in: lines.indices, using: &random)
    // What is typed into a marker is no part of the note, and goes with it.
    if kind >= 35, kind < 82, ["<<<<", "====", ">>>>"].contains(where: lines[place].hasPrefix) {
      kind = 0
    }
    switch kind {
    case 0..<35: lines.insert(word() + " " + word(), at: chance(50) ? lines.count : place)
    case 35..<60: lines[place] += " " + word()
    case 60..<82:
      var words = lines[place].split(separator: " ").map(String.init)
      guard let changed = words.indices.randomElement(using: &random) else { return }
      removed.insert(words[changed])
      words[changed] = word()
      lines[place] = words.joined(separator: " ")
    default: removed.formUnion(Self.words(lines.remove(at: place)))
    }
  }

  private func save(_ device: PlayDevice) throws {
    guard var editor = device.editor else { return }
    let text = editor.buffer.map { $0 + "\n" }.joined()
    try write(
      text, editor.note, device, held: editor.held, removed: editor.removed,
      byRename: editor.byRename)
    (editor.held, editor.removed) = (text, [])
    device.editor = editor
  }

  /// Somebody who held a text writes.
  private func write(
    _ text: String, _ note: String, _ device: PlayDevice, held: String, removed: Set<String>,
    byRename: Bool
  ) throws {
    var status = stat()
    lstat(path(note, device), &status)
    let wasRead = FileReading.wasRead(status)
    if byRename {
      try writeFile(path(note + ".tmp", device), Array(text.utf8))
      rename(path(note + ".tmp", device), path(note, device))
    } else {
      try writeFile(path(note, device), Array(text.utf8))
    }
    tell(
      device,
      "\(note)\(wasRead ? " (read)" : ""): \(held.debugDescription) -> \(text.debugDescription)")
    var written = device.written[note] ?? WrittenNote(held: held)
    written.removed.formUnion(removed)
    device.written[note] = written
    if setting.isIndexed, !setting.isWatched { try index(device) }
    guard setting.isWatched else {
      // What is written over before it is saved is nothing that notes could keep.
      return try judge(device)
    }
    // What inotify tells a watcher.
    device.notebook.workTree.toldReading = {
      $0 == TreePath(note) ? wasRead ? .read : .unread : nil
    }
    try judge(device)
    device.notebook.workTree.toldReading = { _ in nil }
    if setting.isIndexed { try index(device) }
  }

  private func reload(_ device: PlayDevice) throws {
    guard var editor = device.editor else { return }
    editor.held = try device.read(editor.note)
    (editor.buffer, editor.removed) = (Self.lines(editor.held), [])
    if editor.hasLock {
      unlock(editor, device)
      try lock(editor, device)
    }
    device.editor = editor
    tell(device, "loads \(editor.note) again")
  }

  private func close(_ device: PlayDevice) throws {
    guard let editor = device.editor else { return }
    if editor.hasLock { unlock(editor, device) }
    device.editor = nil
  }

  /// A note that another program than the editor may write.
  private func freeNote(_ device: PlayDevice) -> String? {
    let note = notes.randomElement(using: &random)
    return setting.isShared || device.editor?.note != note ? note : nil
  }

  private func append(_ device: PlayDevice) throws {
    guard let note = freeNote(device) else { return }
    let present = try quietText(note, device)
    try write(
      present + word() + "\n", note, device, held: present, removed: [], byRename: false)
  }

  /// A program that reads a note, changes it and puts another file in its place.
  private func script(_ device: PlayDevice) throws {
    guard let note = freeNote(device) else { return }
    let text = try device.read(note)
    var (lines, removed) = (Self.lines(text), Set<String>())
    change(&lines, &removed)
    try write(
      lines.map { $0 + "\n" }.joined(), note, device, held: text, removed: removed, byRename: true)
  }

  private func index(_ device: PlayDevice) throws {
    for note in notes { _ = try device.read(note) }
  }

  private func exchange(_ device: PlayDevice) throws {
    guard let other = devices.filter({ $0 !== device }).randomElement(using: &random) else {
      return
    }
    try receive(device, from: other)
    if chance(60) { try receive(other, from: device) }
  }

  private func receive(_ device: PlayDevice, from other: PlayDevice) throws {
    let (here, there) = (device.notebook, other.notebook)
    try Self.copy(from: there, to: here)
    _ = try here.merge(there.state().heads)
    try look(device)
    tell(device, "gets \(device.known)")
    if setting.isIndexed { try index(device) }
  }

  private static func copy(from there: Notebook, to here: Notebook) throws {
    var rest = try there.state().heads
    while let id = rest.popLast() {
      if try here.repository.contains(id) { continue }
      let commit = try there.repository.commit(id)
      try copy(tree: commit.tree, from: there, to: here)
      rest += commit.parents
      let object = try there.repository.object(id)
      _ = try here.repository.write(object.kind, object.data)
    }
  }

  private static func copy(tree id: ObjectID, from there: Notebook, to here: Notebook) throws {
    let tree = try there.repository.tree(id)
    for entry in tree.entries where try !here.repository.contains(entry.id) {
      _ = try here.repository.write(blob: there.repository.blob(entry.id))
    }
    _ = try here.repository.write(tree: tree.entries)
  }

  // MARK: The outcome

  /// The device saves, and what it made of that is held against what the writer had.
  private func judge(_ device: PlayDevice) throws {
    var waiting = Set(device.written.keys)
    for (note, written) in device.written {
      waiting.remove(note)
      let saved = try quietText(note, device)
      let present = device.known[note] ?? ""
      let isFresh = written.held == present
      // What programs on one device write over each other's texts is none of another device's.
      let missing = Self.words(present).subtracting(Self.words(saved))
        .subtracting(Self.words(written.held)).subtracting(device.own)
      let entries = CheckoutLog(stateFolder: device.notebook.stateFolder).entries(
        for: TreePath(note))
      tell(
        device,
        "knows \(entries.map { "\($0.old.hex.prefix(5))>\($0.new?.hex.prefix(5) ?? "-")\($0.isWritten ? "w" : "")\($0.isSeen ? "s" : "")" })"
      )
      let isOld = try device.former.isOlder(
        TreePath(note), saved: saved, present: present, in: device.notebook)
      if isOld.isKnown {
        former.saves += 1
        if isFresh, isOld.verdict { former.back += 1 }
        if !isFresh, !isOld.verdict, !missing.isEmpty { former.lost += 1 }
      }
      let result = try device.notebook.autosave(.only([TreePath(note)]))
      let remark = result?.remarks.first { $0.path == TreePath(note) }
      var count = counts[remark?.evidence] ?? Count()
      count.saves += 1
      let isMerged = remark?.base != nil
      if isFresh, isMerged {
        count.back += 1
        tell(device, "BACK by \(remark.map { "\($0.evidence)" } ?? "")")
      }
      if !isFresh, !isMerged, !missing.isEmpty {
        count.lost += 1
        dropped.formUnion(missing)
        tell(device, "LOST \(missing) by \(remark.map { "\($0.evidence)" } ?? "nothing")")
      }
      counts[remark?.evidence] = count
      let new = Self.words(saved).subtracting(Self.words(present))
        .subtracting(Self.words(written.held))
      device.own.formUnion(new)
      let overwritten = Self.words(present).subtracting(Self.words(saved))
        .subtracting(Self.words(written.held)).intersection(device.own)
      dropped.formUnion(overwritten)
      typed.formUnion(Self.words(saved))
      removed.formUnion(written.removed)
      // A save may be merged, and the new tip show other notes' conflicts otherwise.
      try look(device, except: waiting)
    }
    device.written = [:]
  }

  /// All devices exchange until they show the same; the words that are nowhere though nobody who held
  /// them took them away, and no wrong answer did.
  func missingWords() throws -> Set<String> {
    for _ in 0..<3 {
      for device in devices {
        for other in devices where other !== device { try receive(device, from: other) }
      }
    }
    guard let first = devices.first else { return [] }
    let present = first.known.values.reduce(into: Set<String>()) { $0.formUnion(Self.words($1)) }
    return typed.subtracting(present).subtracting(removed).subtracting(dropped)
  }

  private func tell(_ device: PlayDevice, _ event: String) {
    story.append("\(device.name) \(event)")
  }
}
