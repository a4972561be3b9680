internal import Exchange
internal import Git
internal import History
internal import Merge
internal import Notebook
internal import WorkTree

/// A note in conflict, block by block, with the choices of notes-resolve(1).
extension RequestContext {
  func settlePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try version(request.path[3], in: notebook).id
    let note = try notebook.conflictedNote(at: subject.path, in: shown)
    guard note.text.count <= limit else { throw Refusal.tooLong(limit) }
    let writers = try writers(in: note, of: notebook)
    let blocks = note.blocks.indices.map { block($0, of: note, in: shown, writers) }
    let frame = try frame(of: subject, in: notebook)
    return layout("Choose in \(subject.title)", name: notebook.identity.name, frame) {
      """
      <h1>Which text is right?</h1>
      <p class="soft">The same words were changed more than once. The text that you do not choose stays among the versions.</p>
      <form method="post" action="\(address(subject, "/settle/\(shown.hex)"))" class="settle">
      \(blocks)
      <div class="foot"><a class="btn" data-leave href="\(address(subject))">Later</a>
      <button class="btn main">Keep the chosen texts</button></div>
      </form>
      """
    }
  }

  /// The author and the time of each side, by the sides' labels.
  func writers(in note: ConflictedNote, of notebook: Notebook) throws -> [[UInt8]: HTML] {
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let sides = note.blocks.joined()
    let authors = try proofs.authors(ofSides: sides, in: note.path)
    let shown = sides.map { side -> ([UInt8], HTML) in
      let when = note.times[side.label].map { time($0) } ?? "\(side.date)"
      let author = authors[side.label].map {
        "\(HTML.face($0.name)) \(name($0, in: notebook))" as HTML
      }
      return (side.label, "\(author) <small>\(when)</small>")
    }
    return Dictionary(shown) { first, _ in first }
  }

  /// The name of a field for a block, which is different in forms of other versions.
  private func name(_ field: String, _ number: Int, in shown: ObjectID) -> String {
    "\(field)-\(number)-\(shown.hex)"
  }

  private func block(
    _ number: Int, of note: ConflictedNote, in shown: ObjectID,
    _ writers: [[UInt8]: HTML]
  ) -> HTML {
    let choice = name("choice", number, in: shown)
    let sides = note.blocks[number]
    let isPair = sides.count == 2
    let pieces = isPair ? WordDiff.sides(sides[0].text, sides[1].text) : nil
    let texts = sides.indices.map { place -> HTML in
      let value = isPair ? (place == 0 ? "older" : "newer") : "side-\(place)"
      let shown: HTML =
        pieces.map { pair in "\((place == 0 ? pair.old : pair.new).map(mark))" }
        ?? "\(text: sides[place].text)"
      return """
        <label class="choice"><input type="radio" name="\(choice)" value="\(value)" required>
        <span class="writer">\(writers[sides[place].label])</span>
        <span class="says" dir="auto">\(shown)</span></label>

        """
    }
    let ownChoice: HTML = """
      <label class="choice less"><input type="radio" name="\(choice)" value="own">
      <span class="writer">Write it myself</span></label>
      """
    let own = ownText(for: sides).map { editable -> HTML in
      """
      <div class="own"><textarea class="input" name="\(name("own", number, in: shown))" rows="4" dir="auto" \
      aria-label="My own text for place \(number + 1)">
      \(field: editable.text)</textarea>
      \(HTML.hiddenLines(of: editable.text))</div>

      """
    }
    let count = note.blocks.count
    let later: HTML = """
      <label class="choice less"><input type="radio" name="\(choice)" value="skip" checked>
      <span class="writer">Decide later</span></label>
      """
    return """
      <fieldset class="choices\(" pair", if: isPair)">
      <legend class="\(count == 1 ? "vh" : "label")">Place \(number + 1) of \(count)</legend>
      \(texts)
      <label class="choice less"><input type="radio" name="\(choice)" value="both">
      <span class="writer">Keep both <small>one below the other</small></span></label>
      \(own.map { _ in ownChoice })
      \(later, if: count > 1)
      </fieldset>
      \(own)
      """
  }

  /// The words that only one of the texts has, marked in the same way on both sides, as neither is
  /// right or wrong.
  private func mark(_ piece: WordDiff.Piece) -> HTML {
    piece.kind == .same ? "\(text: piece.bytes)" : "<mark>\(text: piece.bytes)</mark>"
  }

  /// The sides as the initial text for the user's own version; nil if a form cannot carry them.
  private func ownText(for sides: [MarkedText.Side]) -> EditableText? {
    EditableText(Array(sides.map(\.text).joined()))
  }

  /// The text for each block that the form decides, by number.
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
