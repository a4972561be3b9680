"""A network of its own for scripts/web-app, a browser there that knows the page's authority, and an impostor."""
import hashlib
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import urllib.request

from chromium import PATIENCE, Chromium, Failed, expect
from play import Play

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


class NetworkPlay(Play):
    """A notebook whose page is on the network, and browsers that are warned of it or know its authority."""

    port = None

    def serve(self):
        """Starts the page, at the port that it had."""
        port = ["--port", str(self.port)] if self.port else []
        self.web = subprocess.Popen(
            [self.binary, "web", "--lan", "--no-open", "--json", *port], cwd=self.notebook,
            env=self.environment, stdout=subprocess.PIPE, start_new_session=True)
        self.told = self.next_line(self.web, "web")
        self.port = self.told["port"]
        self.origin = f"https://{NAME}:{self.port}"

    def invite(self, *words):
        """The path of a link for a guest."""
        link = json.loads(self.notes("web", "guests", "invite", "--json", *words))["link"]
        return "/guest/" + link.rsplit("/", 1)[1]

    def trust(self):
        """A browser warns, until the authority is installed."""
        self.step("Without the authority a browser warns")
        stranger = Browser(self.folder / "stranger")
        try:
            for origin in (self.origin, f"https://{ADDRESS}:{self.port}"):
                expect(stranger.go(origin + "/"), "net::ERR_CERT_AUTHORITY_INVALID", origin)
        finally:
            stranger.close()
        self.step("The authority is what the terminal says, and is installed")
        self.browser = Browser(self.folder / "guest", self.told_authority())
        for origin in (f"https://{ADDRESS}:{self.port}", self.origin):
            expect(self.browser.go(origin + "/"), "", f"no warning at {origin}")
            self.browser.wait("document.body.innerText.includes('Open the link')")
            expect(self.browser.seen_as(), "secure", origin)

    def told_authority(self):
        """The authority's certificate, as people get it: it is the one that the terminal names."""
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        address = f"https://{ADDRESS}:{self.port}/authority.crt"
        with urllib.request.urlopen(address, context=unverified, timeout=PATIENCE) as answer:
            authority = answer.read()
        digest = hashlib.sha256(authority).hexdigest().upper()
        shown = ":".join(digest[place:place + 2] for place in range(0, 64, 2))
        expect(shown, self.told["authority_fingerprint"], "the SHA-256")
        (self.folder / "authority.crt").write_bytes(authority)
        return self.folder / "authority.crt"

    def constraints(self):
        """Whoever stole the key poses as nobody else."""
        self.step("Names and addresses outside the constraints are refused")
        key = self.folder / ".local/share/notes/page-authority.pem"
        rows = [("DNS:" + NAME, NAME, True), ("IP:" + ADDRESS, ADDRESS, True),
                ("DNS:bank.example", "bank.example", False), ("DNS:lap.local", "lap.local", False),
                ("IP:" + PUBLIC, PUBLIC, False), (f"DNS:{NAME},DNS:bank.example", NAME, False)]
        for alternative, host, is_taken in rows:
            impostor = Impostor(self.folder, key, alternative)
            try:
                said = self.browser.go(f"https://{host}:{impostor.port}/")
            finally:
                impostor.close()
            if is_taken != (said == "") or not is_taken and not said.startswith("net::ERR_CERT_"):
                raise Failed(f"a certificate for {alternative} at {host}: {said!r}")


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
