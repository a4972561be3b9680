"""The story of scripts/web-app."""
import json
import signal
import time

from chromium import PATIENCE, SIZES, Failed, expect
from network import ADDRESS, NAME, NetworkPlay
from play import SAVE

HOSTILE = "<body onload=bad=1 data-root=x>"
TEXT = "document.querySelector('pre.text').textContent"
STATE = "document.querySelector('#state').innerText"
NOTES = "document.querySelector('#notes').innerText"


class AppStory(NetworkPlay):
    """A notebook, its page on a network, and a guest's browser."""

    def __init__(self, binary, folder, pictures, axe=None):
        super().__init__(binary, folder, pictures, axe)
        (self.notebook / "Shopping.txt").write_text("milk\n")
        (self.notebook / "Rome.txt").write_text("forum\n")
        (self.notebook / "Cellar.md").write_text("# Cellar\n\napples & \"pears\" <b>\nKEPT-ID\n")
        (self.notebook / "Long.txt").write_text("x" * ((1 << 20) + 1))
        (self.notebook / f"{HOSTILE}.txt").write_text(f"{HOSTILE}<script>bad = 1</script>\n")
        self.notes("init", "--name", "Home", "--device-name", "desk")

    def picture(self, name, sizes=("desktop", "phone")):
        """Takes pictures in the light and in the dark."""
        super().picture(name, sizes)
        self.browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        super().picture(name + "-dark", list(sizes)[:1])
        self.browser.ask("Emulation.setEmulatedMedia", features=[])

    # The parts of the story.

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
        page.wait("document.querySelector('#app').innerText.includes('already opens the page without a connection')")
        self.picture("app", SIZES)
        rome = self.note("Rome")
        page.go(self.origin + self.root + rome)
        page.wait(f"{TEXT} === 'forum\\n'")
        self.kept(self.root + rome + "/edit")

    def keeps_texts(self, root, count):
        """Waits until the texts of that many notes are kept."""
        self.browser.wait(
            f"(caches.open('notes:{root}:texts').then((c) => c.matchAll()).then((all) => Promise.all(all.map((a) => "
            "a.json()))).then((parts) => { window.keptTexts = parts.flat().filter((n) => n.text !== undefined).length; "
            f"}}), window.keptTexts === {count})")

    def unopened(self):
        """A note that was never opened is found, read and edited without a connection."""
        page = self.browser
        self.step("A note that was never opened is found by its text, read and edited")
        page.go(self.origin + self.root + "/")
        page.wait("[...document.querySelectorAll('.row')].find((row) => row.innerText.includes('Long'))"
                  ".innerText.includes('not on this device')")
        expect(page.evaluate(f"{NOTES}.split('not on this device').length"), 2, "notes that are not there")
        page.type("#q", "pears")
        page.wait("document.querySelector('#notes').hidden && document.querySelectorAll('#notes ~ div .row').length === 1")
        self.picture("offline-search")
        page.click("#notes ~ div a.row")
        page.wait(f"{STATE}.startsWith('Offline: this page is from 20') && {TEXT} === 'apples & \"pears\" <b>\\nKEPT-ID\\n'")
        self.picture("offline-unopened")
        page.click("a[href$='/edit']")
        page.wait(f"{STATE}.startsWith('Offline') && document.querySelector('#text')")
        expect(page.evaluate("document.querySelector('#text').value"), "# Cellar\n\napples & \"pears\" <b>\nKEPT-ID\n", "the text")
        expect(page.evaluate("document.querySelector('main h1').className"), "vh", "the title above a text that has it")
        page.type("#text", "plums\n")
        page.click(SAVE)
        page.wait("Object.values(localStorage).filter((d) => JSON.parse(d).isSent).length === 1")

    def chosen_size(self):
        """A guest chooses how much is kept."""
        page = self.browser
        self.step("Where nothing is to be kept, no text stays")
        page.go(self.origin + self.root + "/browser")
        page.wait("document.querySelector('#keeping .hint')?.innerText.startsWith('4 of 5 notes')")
        self.picture("kept-texts")
        page.evaluate("(() => { const most = document.querySelector('#most'); most.value = '0'; "
                      "most.dispatchEvent(new Event('change')); })()")
        page.wait("document.querySelector('#keeping .hint').innerText.startsWith('0 of')")
        self.keeps_texts(self.root, 0)
        page.evaluate("(() => { const most = document.querySelector('#most'); most.value = '50000000'; "
                      "most.dispatchEvent(new Event('change')); })()")
        page.wait("document.querySelector('#keeping .hint').innerText.startsWith('4 of')")
        page.evaluate("localStorage.clear()")

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
        if old in names or len(names) != 2:
            raise Failed(f"caches: {names}")
        text = page.evaluate(f"caches.match('{versions}').then((found) => found.text())")
        if not text or "<title>Versions of Rome" not in text:
            raise Failed(f"kept of another release: {text!r}")

    def offline(self):
        """The page opens without a connection, and what is typed is saved later."""
        page = self.browser
        rome = self.note("Rome")
        self.step("The page opens without a connection")
        hostile = self.root + self.note(HOSTILE)
        page.go(self.origin + hostile)
        self.kept(hostile)
        page.go(self.origin + self.root + "/?done=saved")
        page.wait(f"{NOTES}.includes('Rome')")
        self.kept(self.root + "/")
        self.keeps_texts(self.root, 4)
        self.end()
        page.reload()
        page.wait(f"{STATE}.startsWith('Offline: this page is from 20') && {NOTES}.includes('Rome')")
        if page.evaluate("document.querySelector('.done')"):
            raise Failed("what was done once is said again")
        self.picture("offline-list", SIZES)
        page.go(self.origin + hostile)
        page.wait(f"{STATE}.startsWith('Offline') && {TEXT}.includes('<script>')")
        expect(page.evaluate("[typeof bad, document.body.dataset.root]"), ["undefined", self.root],
                    "a hostile note")
        page.click("form[action$='/pin'] button")
        page.wait("document.querySelector('#coming')?.textContent.startsWith('The notebook does not answer')")
        expect(page.evaluate("location.pathname"), hostile, "the page after a form that could not be sent")
        page.go(self.origin + self.root + self.note("Long"))
        page.wait("document.body.innerText.includes('Not available offline')")
        self.picture("offline-not-kept")
        self.unopened()
        page.go(self.origin + self.root + "/undo")
        page.wait("document.body.innerText.includes('Not available offline')")

        self.step("An edit and two new notes are typed meanwhile")
        for title in ("Plan", "Gifts"):
            page.go(self.origin + self.root + "/new")
            page.wait(f"{STATE}.startsWith('Offline')")
            page.type("#title", title)
            page.type("#text", f"{title} on the way\n")
            page.click(SAVE)
            page.wait(f"localStorage.length === {['Plan', 'Gifts'].index(title) + 2}")
            page.wait("Object.values(localStorage).every((d) => JSON.parse(d).isSent)")
        page.go(self.origin + self.root + rome + "/edit")
        page.wait(f"{STATE}.startsWith('Offline')")
        page.type("#text", "on the way\n")
        page.click(SAVE)
        page.wait("Object.values(localStorage).filter((d) => JSON.parse(d).isSent).length === 4")
        self.picture("offline-edit")
        page.reload()
        page.wait("document.querySelector('#text').value === 'forum\\non the way\\n' && "
                  "document.querySelector('#drafts').innerText.includes('Plan')")
        self.step("Another tab has its own")
        first = page.tab(self.origin + self.root + rome + "/edit")
        page.wait(f"{STATE}.startsWith('Offline') && "
                  "document.querySelectorAll('#drafts a').length === 4")
        page.type("#text", "second tab\n", "start")
        page.click(SAVE)
        page.wait("Object.values(localStorage).filter((d) => JSON.parse(d).isSent).length === 5")
        self.picture("offline-drafts")

        self.step("With the connection all of it is saved, on its version")
        self.write("Rome.txt", "forum\ncolosseum\n")
        self.serve()
        deadline = time.monotonic() + PATIENCE
        while True:
            files = {name.name: name.read_text() for name in self.notebook.glob("[!.]*.*")}
            if {"Plan.txt", "Gifts.txt"} <= set(files) and "plums" in files["Cellar.md"] and {"on the way", "second tab"} <= set(files["Rome.txt"].split("\n")):
                break
            if time.monotonic() > deadline:
                raise Failed(f"not all is saved: {files}")
            page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))")
        expect(files["Plan.txt"], "Plan on the way\n", "Plan")
        expect(files["Gifts.txt"], "Gifts on the way\n", "Gifts")
        expect(files["Cellar.md"], "# Cellar\n\napples & \"pears\" <b>\nKEPT-ID\nplums\n", "the note that was never opened")
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
            page.wait(f"{NOTES}.includes('Plan') && {STATE}.startsWith('Offline: this page is from 20')")
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
        page.wait(f"{NOTES}.includes('Plan') && {STATE}.startsWith('Offline: this page is from 20')")
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
        expect(sorted({name.split(":")[1] for name in caches}), sorted([self.root, other]), "the caches")
        page.evaluate("localStorage.clear()")
        self.end()
        page.go(self.origin + other + rome + "/versions")
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
        self.chosen_size()
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
