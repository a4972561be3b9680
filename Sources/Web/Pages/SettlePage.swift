internal import Git
internal import History
internal import Merge
internal import Notebook
internal import WorkTree

/// A note in conflict, block by block: the choices of notes-resolve(1).
extension Visit {
  func settlePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    guard let tip = try notebook.state().tip else { throw Refusal.noSuchNote }
    let note = try notebook.conflictedNote(at: subject.path, in: tip)
    guard note.text.count <= limit else { throw Refusal.tooLong(limit) }
    let blocks = note.blocks.indices.map { block($0, of: note) }
    return layout("Settle \(subject.title)", name: notebook.identity.name) {
      """
      \(heading(of: subject, "settle"))
      <p>Others changed the same lines. What you do not choose stays in the history.</p>
      <form method="post" action="\(address(subject, "/settle"))" class="settle">
      <input type="hidden" name="version" value="\(tip)">
      \(blocks)
      <p><button>Keep what is chosen</button></p>
      </form>
      """
    }
  }

  private func block(_ number: Int, of note: ConflictedNote) -> HTML {
    let sides = note.blocks[number]
    let isPair = sides.count == 2
    let pieces = isPair ? WordDiff.sides(sides[0].text, sides[1].text) : nil
    let texts = sides.indices.map { place -> HTML in
      let word = isPair ? (place == 0 ? "older" : "newer") : "\(place + 1)"
      let shown: HTML =
        pieces.map { pair in "\((place == 0 ? pair.old : pair.new).map(piece))" }
        ?? "\(text: sides[place].text)"
      let value = isPair ? word : "side-\(place)"
      return """
        <div class="side">
        <label><input type="radio" name="choice-\(number)" value="\(value)">
        <b>\(word)</b>: \(sides[place].name), \(sides[place].date)</label>
        <pre>\(shown)</pre>
        </div>

        """
    }
    let own = EditableText(Array(sides.map(\.text).joined()))?.text ?? ""
    return """
      <fieldset>
      <legend>Block \(number + 1) of \(note.blocks.count)</legend>
      <div class="sides">
      \(texts)
      </div>
      <label><input type="radio" name="choice-\(number)" value="both"> both, in the order of the note</label>
      <label><input type="radio" name="choice-\(number)" value="skip" checked> leave it for later</label>
      <label><input type="radio" name="choice-\(number)" value="own"> the text below</label>
      </fieldset>
      <textarea name="own-\(number)" rows="4" aria-label="Own text for block \(number + 1)">
      \(field: own)</textarea>

      """
  }

  /// What stands in for each block that the form decides, by number.
  func choices(for note: ConflictedNote) throws -> [Int: [UInt8]] {
    let whole = EditableText(note.text)
    var texts: [Int: [UInt8]] = [:]
    for number in note.blocks.indices {
      let sides = note.blocks[number]
      switch request.form["choice-\(number)"] {
      case "older": texts[number] = sides.first?.text
      case "newer": texts[number] = sides.last?.text
      case "both": texts[number] = note.marked.blocks[number].flatMap(\.text)
      case "own":
        guard let whole else { throw Refusal.noText }
        let typed = request.form["own-\(number)"] ?? ""
        let ends = typed.isEmpty || typed.unicodeScalars.last == "\n"
        texts[number] = whole.bytes(ofTyped: ends ? typed : typed + "\n")
      case "skip", nil: continue
      case let other?:
        guard other.hasPrefix("side-"), let side = Int(other.dropFirst(5)),
          sides.indices.contains(side)
        else { throw Refusal.brokenForm }
        texts[number] = sides[side].text
      }
    }
    return texts
  }
}
