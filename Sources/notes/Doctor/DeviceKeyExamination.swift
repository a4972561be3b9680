internal import Glibc
internal import History
internal import Membership
internal import Notebook

extension Examination {
  /// The device key is there, is this notebook's, and nobody else can read or replace it.
  static let deviceKey = Examination(
    name: "device_key", title: "device key", remedy: "restore the key from a backup"
  ) { patient in
    let folder = Visible.name(patient.dataFolder)
    let expected = patient.notebook.identity.device.deviceID
    // Refuses a key that others may read.
    guard let key = try DeviceKey.load(in: patient.dataFolder) else {
      return .problem(
        "there is no device key in \(folder)",
        remedy: "restore it from a backup, or set XDG_DATA_HOME to where it is")
    }
    var findings: [Finding] = []
    if key.deviceID != expected {
      findings.append(
        .problem(
          "the key in \(folder) is not the one this notebook was made or joined with",
          remedy: "set XDG_DATA_HOME to where that key is, or restore it"))
    }
    var status = stat()
    if stat(patient.dataFolder, &status) == 0, status.st_mode & 0o022 != 0 {
      findings.append(
        .problem(
          "other users may replace the device key: they can write in \(folder)",
          remedy: "chmod go-w \(folder)"))
    }
    return findings.isEmpty ? .good("\(key.deviceID.prefix(8)), readable by you alone") : findings
  }
}
