"""The story of scripts/web-app."""
import hashlib
import json
import signal
import ssl
import subprocess
import time
import urllib.request

from chromium import PATIENCE, SIZES, Failed, expect
from network import ADDRESS, NAME, PUBLIC, Browser, Impostor
from play import SAVE, Play

HOSTILE = "<body onload=bad=1 data-root=x>"
TEXT = "document.querySelector('pre.text').textContent"
STATE = "document.querySelector('#state').innerText"
NOTES = "document.querySelector('#notes').innerText"


class AppStory(Play):
    """A notebook, its page on a network, and a guest's browser."""

    def __init__(self, binary, folder, pictures, axe=None):
        super().__init__(binary, folder, pictures, axe)
        (self.notebook / "Shopping.txt").write_text("milk\n")
        (self.notebook / "Rome.txt").write_text("forum\n")
        (self.notebook / f"{HOSTILE}.txt").write_text(f"{HOSTILE}<script>bad = 1</script>\n")
        self.notes("init", "--name", "Home", "--device-name", "desk")
        self.port = None

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

    def picture(self, name, sizes=("desktop", "phone")):
        """Takes pictures in the light and in the dark."""
        super().picture(name, sizes)
        self.browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        super().picture(name + "-dark", list(sizes)[:1])
        self.browser.ask("Emulation.setEmulatedMedia", features=[])

    # The parts of the story.

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

    def come_in(self, name, origin=None):
        """A guest comes in; returns the path of the guest's pages."""
        page = self.browser
        page.go((origin or self.origin) + self.invite())
        page.type("#name", name)
        if name == "Grandma":
            self.picture("network-welcome")
        page.click(SAVE)
        page.wait(f"document.querySelector('.who').innerText.includes('{name}') && {NOTES}.includes('Rome')")
        return page.evaluate("document.body.dataset.root")

    def note(self, title):
        """The address of a note, below a guest's path."""
        listed = [json.loads(line) for line in self.notes("list", "--json").splitlines()]
        return next("/n/" + note["id"] for note in listed if note.get("title") == title)

    def app(self):
        """The page is kept as an app."""
        page = self.browser
        self.step("A guest comes in by the name, and the page is an app")
        page.size("desktop")
        self.root = self.come_in("Grandma")
        page.wait("navigator.serviceWorker.controller !== null")
        manifest = page.ask("Page.getAppManifest")
        expect(manifest["errors"], [], "the manifest's errors")
        expect(json.loads(manifest["data"])["name"], "Home", "the app's name")
        expect(page.ask("Page.getInstallabilityErrors")["installabilityErrors"], [], "installing")
        page.click("nav a[href$='/browser']")
        page.wait("document.querySelector('#app').innerText.includes('opens without a connection already')")
        self.picture("app", SIZES)
        rome = self.note("Rome")
        page.go(self.origin + self.root + rome)
        page.wait(f"{TEXT} === 'forum\\n'")
        self.kept(self.root + rome + "/edit")

    def kept(self, path):
        """Waits until a path is kept."""
        self.browser.wait(
            f"(window.found === '{path}' || (caches.match('{path}').then((f) => {{ if (f) window.found = '{path}'; }}), false))")

    def another_release(self):
        """The program has been updated: its worker takes over."""
        self.step("A worker of another release leaves nothing")
        page, rome = self.browser, self.note("Rome")
        old = f"notes:{self.root}:0123456789abcdef"
        versions = self.root + rome + "/versions"
        page.evaluate(f"caches.open('{old}').then((c) => c.put('{versions}', new Response('old')))")
        page.evaluate("navigator.serviceWorker.ready.then((r) => r.unregister())")
        page.reload()
        page.wait("navigator.serviceWorker.controller !== null")
        names = page.evaluate("caches.keys()")
        if old in names or len(names) != 1:
            raise Failed(f"caches: {names}")
        text = page.evaluate(f"caches.match('{versions}').then((found) => found.text())")
        if not text or "<title>Versions of Rome" not in text:
            raise Failed(f"kept of another release: {text!r}")

    def offline(self):
        """The page opens without a connection, and what is typed is saved later."""
        page = self.browser
        rome, shopping = self.note("Rome"), self.note("Shopping")
        self.step("The page opens without a connection")
        hostile = self.root + self.note(HOSTILE)
        page.go(self.origin + hostile)
        self.kept(hostile)
        page.go(self.origin + self.root + "/?done=saved")
        page.wait(f"{NOTES}.includes('Rome')")
        self.kept(self.root + "/")
        self.end()
        page.reload()
        page.wait(f"{STATE}.startsWith('Offline: this page is of 20') && {NOTES}.includes('Rome')")
        if page.evaluate("document.querySelector('.done')"):
            raise Failed("what was done once is said again")
        self.picture("offline-list", SIZES)
        page.go(self.origin + hostile)
        page.wait(f"{STATE}.startsWith('Offline') && {TEXT}.includes('<script>')")
        expect(page.evaluate("[typeof bad, document.body.dataset.root]"), ["undefined", self.root],
                    "a hostile note")
        page.go(self.origin + self.root + shopping)
        page.wait("document.body.innerText.includes('Not available offline')")
        self.picture("offline-not-kept")
        page.go(self.origin + self.root + "/undo")
        page.wait("document.body.innerText.includes('Not available offline')")

        self.step("An edit and two new notes are typed meanwhile")
        for title in ("Plan", "Gifts"):
            page.go(self.origin + self.root + "/new")
            page.wait(f"{STATE}.startsWith('Offline')")
            page.type("#title", title)
            page.type("#text", f"{title} on the way\n")
            page.click(SAVE)
            page.wait(f"localStorage.length === {['Plan', 'Gifts'].index(title) + 1}")
            page.wait("Object.values(localStorage).every((d) => JSON.parse(d).isSent)")
        page.go(self.origin + self.root + rome + "/edit")
        page.wait(f"{STATE}.startsWith('Offline')")
        page.type("#text", "on the way\n")
        page.click(SAVE)
        page.wait("Object.values(localStorage).filter((d) => JSON.parse(d).isSent).length === 3")
        self.picture("offline-edit")
        page.reload()
        page.wait("document.querySelector('#text').value === 'forum\\non the way\\n' && "
                  "document.querySelector('#drafts').innerText.includes('Plan')")
        self.step("Another tab has its own")
        first = page.tab(self.origin + self.root + rome + "/edit")
        page.wait(f"{STATE}.startsWith('Offline') && "
                  "document.querySelectorAll('#drafts a').length === 3")
        page.type("#text", "second tab\n", "start")
        page.click(SAVE)
        page.wait("Object.values(localStorage).filter((d) => JSON.parse(d).isSent).length === 4")
        self.picture("offline-drafts")

        self.step("With the connection all of it is saved, on its version")
        self.write("Rome.txt", "forum\ncolosseum\n")
        self.serve()
        deadline = time.monotonic() + PATIENCE
        while True:
            files = {name.name: name.read_text() for name in self.notebook.glob("*.txt")}
            if {"Plan.txt", "Gifts.txt"} <= set(files) and {"on the way", "second tab"} <= set(files["Rome.txt"].split("\n")):
                break
            if time.monotonic() > deadline:
                raise Failed(f"not all is saved: {files}")
            page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))")
        expect(files["Plan.txt"], "Plan on the way\n", "Plan")
        expect(files["Gifts.txt"], "Gifts on the way\n", "Gifts")
        if "colosseum" not in files["Rome.txt"]:
            raise Failed(f"the edit from the terminal is lost: {files['Rome.txt']!r}")
        second = page.session
        page.session = first
        page.wait("!document.querySelector('#text') || Object.keys(localStorage).length === 0")
        page.session = second

    def silence(self):
        """A network that swallows everything is no connection either."""
        page = self.browser
        self.step("Where nothing answers, the page opens as it is kept")
        page.go(self.origin + self.root + "/")
        page.wait(f"{NOTES}.includes('Plan') && !{STATE}")
        self.web.send_signal(signal.SIGSTOP)
        try:
            page.reload()
            page.wait(f"{NOTES}.includes('Plan') && {STATE}.startsWith('Offline: this page is of 20')")
        finally:
            self.web.send_signal(signal.SIGCONT)
        page.wait(f"!{STATE}")

    def kept_anew(self):
        """What is kept of a page stays until what comes stands in its place, and what came last stands last."""
        page = self.browser
        self.step("While a page is kept anew, the former one is there")
        page.go(self.origin + self.root + "/")
        page.wait(f"{NOTES}.includes('Plan') && !{STATE}")
        page.evaluate('''(async () => {
            const path = document.body.dataset.root + "/";
            const name = (await caches.keys()).find((name) => name.startsWith(`notes:${path.slice(0, -1)}:`));
            const cache = await caches.open(name);
            const time = async () => (await (await cache.match(path))?.text())?.match(/data-kept="(\\d+)"/)[1];
            const first = await time();
            const deadline = Date.now() + 60000;
            let missing = 0;
            for (let last = first, times = 0; times < 30 && Date.now() < deadline; ) {
                fetch(path);
                let now = last;
                while (now === last && Date.now() < deadline) {
                    now = await time();
                    if (!now) missing += 1;
                }
                if (now) last = now, times += 1;
                window.times = times;
            }
            const end = new URL((await cache.keys()).at(-1).url).pathname;
            window.keptAnew = `${window.times} times, ${missing} missing, last ${end === path}`;
        })()''')
        page.wait("window.keptAnew")
        expect(page.evaluate("window.keptAnew"), "30 times, 0 missing, last true", "what was kept")

    def away(self):
        """A notebook whose folder is away takes nothing from the browser."""
        page = self.browser
        self.step("Where the notebook's folder is away, the page opens as it is kept")
        elsewhere = self.folder / "elsewhere"
        self.notebook.rename(elsewhere)
        page.reload()
        page.wait(f"{NOTES}.includes('Plan') && {STATE}.startsWith('Offline: this page is of 20')")
        elsewhere.rename(self.notebook)
        page.wait(f"!{STATE}")
        page.reload()
        page.wait(f"{NOTES}.includes('Plan') && !{STATE} && !document.body.dataset.kept")

    def apart(self):
        """Nothing of one guest is another's, and nothing stays of who is a guest no more."""
        page = self.browser
        self.step("Another guest of the same browser is shown nothing of the first")
        other = self.come_in("Grandpa")
        page.wait("navigator.serviceWorker.controller !== null")
        rome = self.note("Rome")
        self.kept(other + "/")
        caches = page.evaluate("caches.keys()")
        expect(sorted(name.split(":")[1] for name in caches), sorted([self.root, other]), "the caches")
        page.evaluate("localStorage.clear()")
        self.end()
        page.go(self.origin + other + rome)
        page.wait("document.body.innerText.includes('Not available offline')")
        page.go(self.origin + self.root + rome)
        page.wait(f"{TEXT}.includes('forum')")
        self.serve()

        self.step("Who is sent away has nothing left in the browser")
        page.wait(f"!{STATE}")
        self.notes("web", "guests", "remove", "Grandma")
        page.wait(f"{STATE}.startsWith('No access')")
        page.wait("(caches.keys().then((names) => { window.names = names.join(); }), "
                  f"window.names && !window.names.includes('{self.root}') && window.names.includes('{other}'))")
        self.end()
        expect(page.go(self.origin + self.root + "/"), "net::ERR_CONNECTION_REFUSED", "the first guest")
        page.go(self.origin + other + "/")
        page.wait(f"{NOTES}.includes('Rome')")
        self.serve()

        self.step("A reader keeps no forms, and whoever leaves takes all along")
        self.notes("web", "guests", "role", "Grandpa", "reader")
        page.go(self.origin + other + rome)
        page.wait(f"{TEXT}.includes('forum')")
        page.click("nav a[href$='/browser']")
        page.wait("document.querySelector('#app').innerText.includes('already')")
        page.click("form[action$='/leave'] button")
        page.wait("document.body.innerText.includes('You have left')")
        page.wait("(caches.keys().then((n) => navigator.serviceWorker.getRegistrations().then((r) => "
                  "{ window.left = n.length + r.length + localStorage.length; })), window.left === 0)")
        page.go(self.origin + other + "/")
        page.wait("document.body.innerText.includes('Open the link')")
        guests = [json.loads(line) for line in self.notes("web", "guests", "--json").splitlines()]
        expect([guest["name"] for guest in guests if guest["state"] != "invited"], [], "the guests")

    def by_address(self):
        """At an address, nothing is kept."""
        page = self.browser
        self.step("At an address the page is no app")
        origin = f"https://{ADDRESS}:{self.port}"
        self.come_in("Cousin", origin)
        page.click("nav a[href$='/browser']")
        page.wait(f"document.body.innerText.includes('https://{NAME}:{self.port}')")
        self.picture("app-address")
        expect(page.evaluate("navigator.serviceWorker.getRegistrations().then((r) => r.length)"), 0, "workers")
        expect(page.evaluate("fetch(document.body.dataset.root + '/worker.js').then((a) => a.status)"), 404,
                    "the worker at an address")

    def tell(self):
        """The story."""
        self.trust()
        self.constraints()
        self.app()
        self.another_release()
        self.offline()
        self.kept_anew()
        self.silence()
        self.away()
        self.apart()
        self.by_address()
        # The browser says itself what it could not load while there was no connection.
        found = self.browser.problems()
        if found:
            raise Failed("the browser complains: " + "\n".join(found))
