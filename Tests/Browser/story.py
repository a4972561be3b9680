"""The story of scripts/web-story."""
import json
import signal
import subprocess

from chromium import SIZES, Chromium, Failed
from devices import DevicesPlay
from keys import Keyboard
from play import SAVE


class Story(DevicesPlay):
    """A user of this device, a terminal, and a guest."""

    def begin_all(self):
        """Begins the page and the browser; what has begun is ended by `close`, also where the rest fails."""
        (self.notebook / "Shopping.txt").write_text("milk\n")
        self.notes("init", "--name", "Home", "--device-name", "desk")
        self.web, said = self.begin("web", "--no-open", "--json")
        self.link = said["link"]
        self.browser = Chromium(self.folder)

    def tell(self):
        """The story."""
        page = self.browser
        text = "document.querySelector('pre.text').textContent"
        page.size("desktop")
        page.ask("Page.navigate", url=self.link)
        page.wait("document.querySelector('#notes').innerText.includes('Shopping')")
        self.picture("list", SIZES, dark=True)
        self.root = page.evaluate("location.origin + document.body.dataset.root + '/'")

        self.step("A note is made")
        page.click("a[href$='/new']")
        page.type("#title", "trips/Rome")
        page.type("#text", "forum\ncolosseum\n")
        self.picture("new")
        page.click(SAVE)
        page.wait(f"{text} === 'forum\\ncolosseum\\n'")
        self.holds("trips/Rome.txt", "forum\ncolosseum\n")

        self.step("An edit from the terminal appears")
        self.write("trips/Rome.txt", "forum\ncolosseum\npantheon\n")
        page.wait(f"{text}.includes('pantheon')")
        self.picture("note")

        self.step("An edit from the terminal comes into the text that somebody writes, and leaves the caret")
        page.click("a[href$='/edit']")
        page.type("#text", "tickets\n", "start")
        self.write("trips/Rome.txt", "forum\ncolosseum\npantheon\ntrastevere\n")
        page.wait("document.querySelector('#text').value === "
                  "'tickets\\nforum\\ncolosseum\\npantheon\\ntrastevere\\n'")
        page.wait("document.querySelector('#state').innerText.startsWith('Saved')")
        if page.evaluate("document.querySelector('#text').selectionStart") != len("tickets\n"):
            raise Failed("the caret has moved")
        self.picture("coming", dark=True)
        page.click(SAVE)
        page.wait(f"{text} === 'tickets\\nforum\\ncolosseum\\npantheon\\ntrastevere\\n'")
        self.holds("trips/Rome.txt", "tickets\nforum\ncolosseum\npantheon\ntrastevere\n")

        self.step("What is typed without a connection is sent when it is back")
        page.click("a[href$='/edit']")
        page.wait("document.readyState === 'complete' && document.querySelector('#text')")
        # Before anything is typed: the page saves by itself.
        self.connect(False)
        page.type("#text", "offline\n")
        page.click(SAVE)
        page.wait("document.querySelector('#state').innerText.startsWith('Offline')")
        self.picture("offline")
        self.connect(True)
        page.wait("document.querySelector('#state').innerText.startsWith('Saved')")
        page.click("[data-save]")
        page.wait(f"{text}.includes('offline')")

        self.step("A conflict is settled")
        page.click("a[href$='/edit']")
        page.wait("document.readyState === 'complete' && document.querySelector('#text')")
        # Both write before either is heard of, however long this takes: the page saves by itself.
        self.web.send_signal(signal.SIGSTOP)
        try:
            page.evaluate("document.querySelector('#text').select()")
            page.ask("Input.insertText", text="from the browser\n")
            self.write("trips/Rome.txt", "from the terminal\n")
            page.click(SAVE)
        finally:
            self.web.send_signal(signal.SIGCONT)
        page.wait("document.querySelector('.notice a[href$=\"/settle\"]')")
        self.picture("conflict", dark=True)
        page.click(".notice a[href$='/settle']")
        page.wait("document.querySelectorAll('.choice:not(.less)').length === 2")
        self.picture("settle", dark=True)
        page.evaluate("[...document.querySelectorAll('.choice:not(.less)')].find((side) => "
                      "side.innerText.includes('browser')).querySelector('input').click()")
        page.click("form.settle button")
        page.wait(f"{text} === 'from the browser\\n'")
        self.holds("trips/Rome.txt", "from the browser\n")
        if json.loads(self.notes("status", "--json").splitlines()[0])["conflicts"]:
            raise Failed("the conflict is still there")

        # notes-security(7), SIGNATURES: "A device signs the versions that it makes".
        made = subprocess.run(["git", "-C", str(self.notebook), "log", "--no-merges", "--format=%G?"],
                              capture_output=True, text=True, check=True).stdout.split()
        if set(made) != {"G"}:
            raise Failed(f"git verifies versions as {made}")

        self.step("The versions, and the filter")
        page.click("nav.sheet a[href$='/versions']")
        page.wait("document.querySelectorAll('.versions > li').length >= 6")
        if "You" not in page.evaluate("[...document.querySelectorAll('.versions b')].map((name) => name.innerText)"):
            raise Failed("the user's own versions have another name")
        self.picture("versions", dark=True)
        page.click("p.big a")
        page.wait("document.querySelector('#q') && document.querySelectorAll('.notes > li').length === 2")
        page.type("#q", "milk")
        page.wait("document.querySelectorAll('.notes > li').length === 1 && "
                  "document.querySelector('.notes').innerText.includes('Shopping')")
        self.picture("search")

        self.step("The devices")
        self.devices()

        self.step("All notebooks of the device")
        self.all_notebooks()
        page.ask("Page.navigate", url=self.root)
        page.wait("document.querySelector('#q')")

        self.step("All of it by the keyboard alone")
        keyboard = Keyboard(self)
        keyboard.play(lambda: json.loads(self.notes("web", "guests", "invite", "--json"))["link"])

        self.step("A guest says a name, writes, reads, and is sent away")
        invited = json.loads(self.notes("web", "guests", "invite", "--json"))
        page.ask("Page.navigate", url=invited["link"])
        page.type("#name", "Grandma")
        self.picture("welcome")
        page.click(SAVE)
        page.wait("document.querySelector('.who').innerText.includes('Grandma')")
        page.click(".notes a")
        page.click("a[href$='/edit']")
        page.type("#text", "from Grandma\n")
        page.click(SAVE)
        page.wait(f"{text}.includes('from Grandma')")
        page.click("nav.sheet a[href$='/versions']")
        page.wait("document.querySelector('.versions').querySelector('b').innerText === 'You'")
        self.picture("guest")
        self.notes("web", "guests", "role", "Grandma", "reader")
        page.click("a.back")
        page.wait("document.querySelector('.who').innerText.includes('reader')")
        self.picture("reader")
        self.notes("web", "guests", "remove", "Grandma")
        page.wait("document.querySelector('#state').innerText.startsWith('No access')")

        found = page.problems()
        if found:
            raise Failed("the browser complains: " + "\n".join(found))
