internal import Exchange
internal import Git
internal import History
internal import Merge
internal import Notebook
internal import WorkTree

/// A note in conflict, block by block: the choices of notes-resolve(1).
extension Visit {
  func settlePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try version(request.path[3], in: notebook).id
    let note = try notebook.conflictedNote(at: subject.path, in: shown)
    guard note.text.count <= limit else { throw Refusal.tooLong(limit) }
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let writers = try proofs.authors(ofSides: note.blocks.joined(), in: subject.path)
    let blocks = note.blocks.indices.map { block($0, of: note, in: shown, writers) }
    return layout("Settle \(subject.title)", name: notebook.identity.name) {
      """
      \(heading(of: subject, "settle"))
      <p>Others changed the same lines. What you do not choose stays in the history.</p>
      <form method="post" action="\(address(subject, "/settle/\(shown.hex)"))" class="settle">
      \(blocks)
      <p><button>Keep what is chosen</button></p>
      </form>
      """
    }
  }

  /// The name of a field of a block, which the forms of other versions do not have.
  private func name(_ field: String, _ number: Int, in shown: ObjectID) -> String {
    "\(field)-\(number)-\(shown.hex)"
  }

  private func block(
    _ number: Int, of note: ConflictedNote, in shown: ObjectID,
    _ writers: [[UInt8]: VersionAuthor]
  ) -> HTML {
    let choice = name("choice", number, in: shown)
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
        <label><input type="radio" name="\(choice)" value="\(value)">
        <b>\(word)</b>: \(writers[sides[place].label].map { name($0) }), \(sides[place].date)</label>
        <pre>\(shown)</pre>
        </div>

        """
    }
    let own = ownText(for: sides).map { editable -> HTML in
      """
      <textarea name="\(name("own", number, in: shown))" rows="4" aria-label="Own text for block \(number + 1)">
      \(field: editable.text)</textarea>
      \(HTML.hiddenLines(of: editable.text))

      """
    }
    let ownChoice: HTML =
      "<label><input type=\"radio\" name=\"\(choice)\" value=\"own\"> the text below</label>"
    return """
      <fieldset>
      <legend>Block \(number + 1) of \(note.blocks.count)</legend>
      <div class="sides">
      \(texts)
      </div>
      <label><input type="radio" name="\(choice)" value="both"> both, in the order of the note</label>
      <label><input type="radio" name="\(choice)" value="skip" checked> leave it for later</label>
      \(own == nil ? nil : ownChoice)
      </fieldset>
      \(own)
      """
  }

  /// The sides as somebody begins to write a text of their own; nil if a form cannot carry them.
  private func ownText(for sides: [MarkedText.Side]) -> EditableText? {
    EditableText(Array(sides.map(\.text).joined()))
  }

  /// What stands in for each block that the form decides, by number.
  func choices(for note: ConflictedNote, in shown: ObjectID) throws -> [Int: [UInt8]] {
    var texts: [Int: [UInt8]] = [:]
    for number in note.blocks.indices {
      let sides = note.blocks[number]
      switch request.form[name("choice", number, in: shown)] {
      case "older": texts[number] = sides.first?.text
      case "newer": texts[number] = sides.last?.text
      case "both": texts[number] = note.marked.blocks[number].flatMap(\.text)
      case "own":
        guard let own = ownText(for: sides) else { throw Refusal.noText }
        guard let typed = request.form[name("own", number, in: shown)] else {
          throw Refusal.brokenForm
        }
        let ends = typed.isEmpty || typed.utf8.last == UInt8(ascii: "\n")
        texts[number] = own.bytes(ofTyped: ends ? typed : typed + "\n")
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
