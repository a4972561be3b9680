package import Git
package import History
internal import Notebook

/// What a side of a session shows: its tip, and the heads that it is made of.
package struct Shown: Hashable, Sendable {
  package var tip: ObjectID?
  /// In the order in which they are told.
  package var heads: [ObjectID]

  package init(tip: ObjectID?, heads: [ObjectID]) {
    self.tip = tip
    self.heads = heads
  }

  package init(_ state: NotebookState) {
    self.init(tip: state.tip, heads: state.heads.sorted())
  }
}
