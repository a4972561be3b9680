"""A browser with several tabs, and the notebooks of the cases of scripts/web-cases."""
import json
import os
import select
import signal
import subprocess
import time

from chromium import PATIENCE, Chromium, Failed

VALUE = "document.querySelector('#text').value"
SHOWN = "document.querySelector('pre.text')?.textContent"
STATE = "document.querySelector('#state').textContent"



class Browser(Chromium):
    """A browser with several tabs, of which one is spoken to at a time."""

    # The one that a case begins with.
    own = None

    def tab(self, phone):
        """Opens a tab there, in a window that is seen, and goes to it."""
        self.attach(newWindow=True, browserContextId=phone)
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        return self.session

    def phone(self):
        """A browser that keeps nothing of the others."""
        self.session = None
        return self.ask("Target.createBrowserContext")["browserContextId"]

    def close_tab(self):
        """Closes the tab, as a person does who asks nothing."""
        self.ask("Page.close")

    def hold(self, addresses, stage="Request"):
        """Stops what the page sends there, or its answers, until Fetch.disable: also the saves that it makes by itself."""
        self.ask("Fetch.enable", patterns=[{"urlPattern": addresses, "requestStage": stage}])

    def paused(self):
        """Waits for a form that was stopped on its way, or whose answer was; returns what is said of it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for event in [e for e in self.events if e["method"] == "Fetch.requestPaused"]:
                self.events.remove(event)
                if event["params"]["request"]["method"] == "POST":
                    return event["params"]
                self.ask("Fetch.continueRequest", requestId=event["params"]["requestId"])
            message = self.receive(deadline, "a form that is stopped on its way")
            if "method" in message:
                self.events.append(message)

    def go(self, address):
        """Goes to an address, and waits until its page is there."""
        self.ask("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.protocol !== 'about:'")

    def scripts(self, may_run):
        """Lets the page's scripts run, or not; those of the play always do."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not may_run)

    def leave(self, act):
        """Does what leads to another page, and waits until that is there."""
        self.evaluate("window.isOld = true")
        act()
        self.look("window.isOld !== true && document.readyState === 'complete'")

    def back(self, steps=-1):
        """Goes back, or forward, in the tab's history."""
        found = self.ask("Page.getNavigationHistory")
        entry = found["entries"][found["currentIndex"] + steps]
        self.leave(lambda: self.ask("Page.navigateToHistoryEntry", entryId=entry["id"]))

    def press_button(self, selector):
        """Clicks what leads to another page, as a mouse does: also where no script may run."""
        found = json.dumps(selector)
        self.look(f"document.querySelector({found})")
        self.leave(lambda: self.evaluate(f"document.querySelector({found}).click()"))

    def look(self, condition):
        """Waits as `wait` does, without a clock of the page's: there is none where no script may run."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise Failed(f"this never came: {condition}\n{self.evaluate('document.body.innerText')}")
            select.select([self.incoming], [], [], 0.05)


class Notebook:
    """A notebook of its own, and its page."""

    def __init__(self, binary, folder, port=None):
        self.binary, self.folder = binary, folder / "notes"
        self.folder.mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        self.write("Plan.txt", "one\n\ntwo\n\nthree\n\nfour\n\nfive\n")
        self.notes("init", "--name", folder.name, "--device-name", "desk")
        self.web = None
        self.serve(port)

    def serve(self, port=None):
        """Serves the page, at the port that it had."""
        words = ["web", "--no-open", "--json"] + (["--port", str(port)] if port else [])
        self.web = subprocess.Popen([self.binary, *words], cwd=self.folder, env=self.environment,
                                    stdout=subprocess.PIPE, start_new_session=True)
        ready = select.select([self.web.stdout], [], [], PATIENCE)[0]
        line = self.web.stdout.readline() if ready else b""
        if not line:
            raise Failed("notes web does not start")
        said = json.loads(line)
        self.port, self.link = said["port"], said["link"]

    def stop(self):
        """Ends the page, also one that was stopped for a while."""
        self.web.send_signal(signal.SIGINT)
        self.web.send_signal(signal.SIGCONT)
        self.web.wait(PATIENCE)

    def notes(self, *words):
        """A command in the terminal."""
        result = subprocess.run([self.binary, *words], cwd=self.folder, env=self.environment,
                                capture_output=True, text=True, timeout=PATIENCE, check=False)
        if result.returncode:
            raise Failed(f"notes {' '.join(words)}: {result.stderr}")
        return result.stdout

    def write(self, name, text):
        """Writes a file as it is."""
        (self.folder / name).write_bytes(text.encode())

    def text(self, name="Plan.txt"):
        """What a file holds."""
        return (self.folder / name).read_bytes().decode()

    def count(self):
        """How many versions people have made."""
        return int(self.git("rev-list", "--count", "--no-merges", "HEAD"))

    def git(self, *words):
        """What git says."""
        return subprocess.run(["git", "-C", str(self.folder), *words], capture_output=True,
                              text=True, check=True).stdout.strip()


def edit(page, notebook, link=None):
    """Opens the page that edits the note, and returns its address."""
    page.go(link or notebook.link)
    page.wait("document.querySelector('.notes a')")
    page.click(".notes a")
    page.click("a[href$='/edit']")
    page.wait("document.readyState === 'complete' && document.querySelector('#text')")
    return page.evaluate("location.href")
