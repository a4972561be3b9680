/// The terms of an alternating sum that remain when equal terms of opposite sign have cancelled:
/// notes-merge(7), "The sum".
struct Cancellation {
  /// The first position of each distinct remaining positive value, in order.
  var positives: [Int] = []
  /// The first position of each distinct remaining negative value, in order.
  var negatives: [Int] = []

  init<Value: Hashable>(positives: [Value], negatives: [Value]) {
    var net: [Value: Int] = [:]
    for value in positives { net[value, default: 0] += 1 }
    for value in negatives { net[value, default: 0] -= 1 }
    var seen: Set<Value> = []
    for (index, value) in positives.enumerated() where net[value, default: 0] > 0 {
      if seen.insert(value).inserted { self.positives.append(index) }
    }
    for (index, value) in negatives.enumerated() where net[value, default: 0] < 0 {
      if seen.insert(value).inserted { self.negatives.append(index) }
    }
  }
}
