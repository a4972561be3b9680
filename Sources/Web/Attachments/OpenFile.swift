internal import Glibc
internal import WorkTree

/// An attachment, open for reading as long as this object exists.
final class OpenFile: Sendable {
  private let descriptor: Int32
  let size: Int

  /// Owns the descriptor.
  init(_ file: WorkTree.OpenedFile) { (descriptor, size) = (file.descriptor, file.size) }

  deinit { close(descriptor) }

  /// The bytes from an offset on; nil if the file has become shorter, or cannot be read.
  func read(from place: Int, _ count: Int) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(place)))
    }
    return bytes.count == count ? bytes : nil
  }
}

/// The part of a file that a request asks for: RFC 9110, section 14.
enum FilePart: Equatable {
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// - Parameter header: the value of `Range`. A value with several parts or in another form is
  ///   ignored.
  init(_ header: String?, of size: Int) {
    guard let header, header.hasPrefix("bytes=") else {
      self = .whole
      return
    }
    let halves = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    let numbers = halves.map { half -> Int? in
      half.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(half) : nil
    }
    switch (halves.count, numbers.first ?? nil, numbers.last ?? nil) {
    case (2, let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    case (2, let first?, nil) where halves[1].isEmpty:
      self = first < size ? .part(first..<size) : .unsatisfiable
    case (2, nil, let count?) where halves[0].isEmpty:
      self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
    default: self = .whole
    }
  }
}
