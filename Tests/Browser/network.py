"""A network of its own for scripts/web-app, a browser there that knows the page's authority, and an impostor."""
import os
import ssl
import http.server
import subprocess
import sys
import threading

from chromium import PATIENCE, Chromium, Failed

NAME = "desk.local"
ADDRESS = "10.77.0.1"
PUBLIC = "203.0.113.7"


def command(*words, given=None):
    """Runs a program, and returns what it writes."""
    result = subprocess.run(words, input=given, capture_output=True, timeout=PATIENCE, check=False)
    if result.returncode:
        raise Failed(f"{' '.join(map(str, words))}: {result.stderr.decode(errors='replace')}")
    return result.stdout


class Browser(Chromium):
    """A browser that finds the names where the page is, and takes authorities that a file names."""

    def __init__(self, folder, authority=None):
        folder.mkdir()
        if authority:
            store = folder / ".pki" / "nssdb"
            store.mkdir(parents=True)
            command("certutil", "-d", f"sql:{store}", "-N", "--empty-password")
            command("certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", "page", "-i", authority)
        names = ",".join(f"MAP {name} {ADDRESS}" for name in (NAME, "bank.example", "lap.local"))
        super().__init__(folder, [f"--host-resolver-rules={names}"])
        self.ask("Security.enable")

    def go(self, address):
        """Opens an address; returns what the network or the certificate has against it."""
        return self.ask("Page.navigate", url=address).get("errorText", "")

    def reload(self):
        """Loads the page again, and waits for it."""
        self.evaluate("window.isOld = true")
        self.ask("Page.reload")
        self.wait("!window.isOld && document.readyState === 'complete'")

    def tab(self, address):
        """Opens another tab, which is spoken to from now on; returns the one before."""
        former = self.attach()
        self.go(address)
        return former

    def seen_as(self):
        """What the browser says of the connection."""
        states = [event["params"]["visibleSecurityState"]["securityState"] for event in self.events
                  if event["method"] == "Security.visibleSecurityStateChanged"]
        return states[-1] if states else None


class Impostor:
    """A server with a certificate that the page's issuer has signed, whose key was stolen."""

    def __init__(self, folder, authority, alternative):
        leaf = folder / "leaf.pem"
        key = folder / "leaf.key"
        made = command("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                       "-nodes", "-keyout", key, "-subj", "/CN=impostor")
        (folder / "extensions").write_text(
            f"subjectAltName={alternative}\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n")
        certificate = command("openssl", "x509", "-req", "-CA", authority, "-CAkey", authority, "-CAcreateserial",
                              "-CAserial", folder / "serial", "-days", "20", "-extfile", folder / "extensions",
                              given=made)
        issuer = command("openssl", "x509", "-in", authority)
        leaf.write_bytes(certificate + issuer)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(leaf, key)
        class Hello(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Hello)
        self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def go_apart(folder):
    """Goes on, by beginning anew, in a network of its own."""
    os.environ["NOTES_WEB_APP"] = str(folder)
    root = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", *root, "--net", "--uts", "--mount", sys.executable, *sys.argv])


def make_network():
    """A machine called desk, with a private and a public address."""
    command("hostname", NAME.split(".")[0])
    # Addresses that come by themselves would come late: the browser begins anew when the network changes.
    for words in ("link set lo up", "link add net type veth peer name other", "link set net addrgenmode none",
                  "link set other addrgenmode none", "link set net up", "link set other up",
                  f"addr add {ADDRESS}/24 dev net", f"addr add {PUBLIC}/24 dev net"):
        command("ip", *words.split())
