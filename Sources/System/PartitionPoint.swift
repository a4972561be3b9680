extension RandomAccessCollection where Index == Int {
  /// The position of the first element that is not before the one looked for, found by halving.
  @inlinable package func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
