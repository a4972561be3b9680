internal import Glibc

/// The path of what is there, without links, `.` and `..`: realpath(3); nil where nothing is.
package func realPath(of path: String) -> String? {
  guard let found = realpath(path, nil) else { return nil }
  defer { free(found) }
  return String(cString: found)
}
