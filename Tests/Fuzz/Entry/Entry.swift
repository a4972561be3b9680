import Glibc

// What libFuzzer calls: https://llvm.org/docs/LibFuzzer.html#fuzz-target. $NOTES_FUZZ names the target.

private let target: FuzzTarget = {
  let name = getenv("NOTES_FUZZ").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
    fatalError("NOTES_FUZZ is none of \(names)")
  }
  return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  target.run(Array(UnsafeBufferPointer(start: data, count: count)))
  return 0
}
