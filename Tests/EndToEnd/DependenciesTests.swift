import TestSupport
import Testing

/// scripts/deps with an apt of ours, on a machine whose /usr/sbin is empty: says what comes, and lets
/// nothing that the tests use become a service.
@Suite struct DependenciesTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    // A system with nothing installed, where everything can be.
    try program(
      "apt-get",
      """
      case "$*" in
        *--assume-no*)
          echo "0 upgraded, 57 newly installed, 0 to remove and 3 not upgraded."
          echo "Need to get 123 MB of archives."
          echo "After this operation, 484 MB of additional disk space will be used."
          exit 1 ;;
        *install*)
          said=0
          if [ -e /usr/sbin/policy-rc.d ]; then /usr/sbin/policy-rc.d ssh start || said=$?; fi
          echo "installed, policy $said" >>"$LOG"
          touch "$LOG.done" ;;
        *) exit 2 ;;
      esac
      """)
    try program(
      "dpkg-query",
      """
      case $1 in
        -W) echo "installed dbus"; [ ! -e "$LOG.done" ] || printf 'installed %s\\n' avahi-daemon openssh-server systemd ;;
        -L)
          case $2 in
            avahi-daemon) echo /lib/systemd/system/avahi-daemon.service ;;
            openssh-server) printf '/usr/lib/systemd/system/ssh%s\\n' .service .socket @.service ;;
            *) echo "/lib/systemd/system/$2.service" ;;
          esac ;;
      esac
      """)
    try program("systemctl", #"echo "$*" >>"$LOG""#)
  }

  private func program(_ name: String, _ script: String) throws {
    try folder.write("#!/bin/sh\n\(script)\n", to: "bin/\(name)")
    try run(["chmod", "+x", folder["bin/\(name)"]]).expectSuccess()
  }

  /// Runs scripts/deps; `before` is run first, `after` behind it, where its /usr/sbin is seen.
  private func deps(_ words: String..., before: String = "true") throws -> (
    said: ProcessResult, log: [Substring]
  ) {
    let script = """
      mount -t tmpfs none /usr/sbin && \(before) && "$@"; status=$?
      ls /usr/sbin; exit $status
      """
    let result = try run(
      ["unshare", "--mount", "sh", "-c", script, "sh", "\(BuiltBinary.sourceFolder)/scripts/deps"]
        + words,
      environment: [
        "PATH": "\(folder["bin"]):/usr/bin:/bin", "HOME": folder.path, "LOG": folder["log"],
      ])
    return (result, ((try? folder.text("log")) ?? "").split(separator: "\n"))
  }

  @Test func `It says what comes and how large that is, and may do no more`() throws {
    let (result, log) = try deps("-n", "full")
    #expect(result.isSuccess && log.isEmpty, "\(result)")
    let (first, second) = (
      result.errorText.split(separator: "\n"), "57 new packages, 123 MB to fetch"
    )
    #expect(first.first?.contains("To install: avahi-daemon libgit2-dev") == true, "\(result)")
    #expect(first.first?.contains("chromium") == true && first.first?.contains("dbus ") == false)
    #expect(first.dropFirst().first?.contains(second + ", 484 MB more on the disk") == true)
  }

  @Test(arguments: ["try", "test", "full"])
  func `What the tests use is no service while it is installed, nor after`(kind: String) throws {
    let (result, log) = try deps(kind)
    #expect(result.isSuccess && result.text.isEmpty, "policy-rc.d stayed: \(result)")
    #expect(result.errorText.contains("No service of them is started or enabled."), "\(result)")
    #expect(
      log == [
        "installed, policy 101", "disable --quiet --now avahi-daemon.service",
        "disable --quiet --now ssh.service", "disable --quiet --now ssh.socket",
      ])
    #expect(result.errorText.contains("systemctl enable --now avahi-daemon"), "\(result)")
  }

  @Test(arguments: ["run", "build"])
  func `What finds devices is a service, as the system has it`(kind: String) throws {
    let (result, log) = try deps(kind)
    #expect(result.isSuccess && !result.errorText.contains("No service"), "\(result)")
    #expect(log == ["installed, policy 0"])
  }

  @Test func `Somebody's own policy stays as it is`() throws {
    let own =
      "printf '#!/bin/sh\\nexit 104\\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d"
    let (result, log) = try deps("test", before: own)
    #expect(result.isSuccess && result.text == "policy-rc.d\n", "\(result)")
    #expect(log.first == "installed, policy 104" && log.count == 4, "\(log)")
  }

  @Test func `An installation that fails takes the policy away as well`() throws {
    try program(
      "apt-get", "case \"$*\" in *--assume-no*) echo 'After this operation' ;; *) exit 7 ;; esac")
    let (result, _) = try deps("test")
    #expect(result.status == .exited(7) && result.text.isEmpty, "\(result)")
  }
}
