"""The parts of scripts/web-story with other devices, and with other notebooks of this one."""
import json
import os
import shutil
import subprocess
import time

from chromium import PATIENCE, SIZES, Failed
from play import SAVE, Play


class DevicesPlay(Play):
    """A notebook that another device joins."""

    def devices(self):
        """The page of the devices, without a watcher and with one, and another device that joins by it."""
        page = self.browser
        shown = "document.querySelector('#main').innerText"
        page.click("nav.sheet a[href$='/devices']")
        page.wait(f"{shown}.includes('admin, this device') && {shown}.includes('is not running')")
        self.picture("devices")
        watcher, _ = self.begin("watch", "--json", "--no-discovery", "--listen", "127.0.0.1:0")
        page.wait(f"{shown}.includes('runs here. No other device')")

        self.step("A device joins by the code that the page shows")
        page.click("input[value='writer']")
        page.click("form[action$='/invite'] button")
        page.wait("document.querySelector('#invitation svg')")
        self.picture("invitation", SIZES, dark=True)
        left = page.evaluate("document.querySelector('[data-ends]').textContent")
        page.wait(f"document.querySelector('[data-ends]').textContent !== {json.dumps(left)}")
        code = page.evaluate("document.querySelector('pre.command').textContent").split()[-1]
        port = page.evaluate("document.querySelector('#invitation .hint').textContent.match(/:(\\d+)/)[1]")
        home = self.folder / "laptop"
        (home / "run").mkdir(mode=0o700, parents=True)
        theirs = {**self.environment, "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run")}
        joined = subprocess.run(
            [self.binary, "join", code, home / "notes", "--yes", "--device-name", "laptop",
             "--no-discovery", "--at", f"127.0.0.1:{port}"],
            cwd=home, env=theirs, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if joined.returncode:
            raise Failed(f"notes join: {joined.stderr}")
        page.wait("document.querySelector('#outcome').innerText.includes('laptop joined as a writer.')")

        self.step("Who is here, and edits what, appears by itself")
        page.click("a[href$='/devices']")
        page.wait(f"{shown}.includes('laptop')")
        other, _ = self.begin("watch", "--json", "--no-discovery", "--listen", "127.0.0.1:0",
                              environment=theirs, folder=home / "notes")
        page.wait(f"{shown}.includes('writer, here now, in sync')")
        done = home / "done"
        os.mkfifo(done)
        editor = subprocess.Popen(
            [self.binary, "edit", "Shopping"], cwd=home / "notes",
            env={**theirs, "EDITOR": f"sh -c 'read line <{done}; echo figs >>\"$0\"'"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        self.started.append(editor)
        page.wait(f"{shown}.includes('edits Shopping')")
        self.picture("presence", dark=True)
        page.click("a.back")
        page.click(self.link_to("Shopping"))
        page.wait("document.querySelector('#editors').innerText === 'laptop is writing'")
        self.picture("editing")
        # The moment when the page shows it, beside that at which the branch here moved.
        page.evaluate("""window.shownAt = 0; new MutationObserver(() => {
            const text = document.querySelector('pre.text').textContent;
            if (!window.shownAt && text.includes('figs')) window.shownAt = Date.now();
        }).observe(document.body, {childList: true, subtree: true})""")
        done.write_text("go\n")
        page.wait("document.querySelector('pre.text').textContent.includes('figs') && window.shownAt")
        arrived = (self.notebook / ".git/refs/heads/main").stat().st_mtime_ns / 1e6
        late = page.evaluate("window.shownAt") - arrived
        print(f"        a version was on the page {late:.0f} ms after it had arrived", flush=True)
        # 200 ms on a machine that does nothing else; this machine may do ten things.
        if late > 2000:
            raise Failed(f"a version was shown {late:.0f} ms after it had arrived")
        page.wait("!document.querySelector('#editors').innerText")
        editor.wait(PATIENCE)
        self.is_told(theirs, home / "notes", [])
        page.click("a[href$='/edit']")
        self.is_told(theirs, home / "notes", ["Shopping.txt"])
        page.click("a.back")
        self.is_told(theirs, home / "notes", [])

        self.step("A role is changed, and a device removed")
        page.click("nav.sheet a[href$='/devices']")
        page.click("a.change")
        # The form for an invitation, on the page before, has roles too.
        page.wait("document.querySelector('#removal')")
        page.click("input[name='role'][value='reader']")
        self.picture("member", dark=True)
        page.click(SAVE)
        page.wait(f"location.search === '?done=role' && {shown}.includes('reader, here now')")
        page.click("a.change")
        page.click("#removal summary")
        self.picture("removal")
        page.click("#removal button")
        page.wait("location.search === '?done=removed' && "
                  "!document.querySelector('#devices').innerText.includes('laptop')")
        self.stop(other)
        self.stop(watcher)
        page.wait(f"{shown}.includes('is not running')")
        page.click("a.back")
        page.wait("document.querySelector('#q')")

    def is_told(self, environment, folder, paths):
        """Waits until the other device is told that these notes are edited here, and no others."""
        deadline = time.monotonic() + PATIENCE
        told = None
        while told != paths:
            if time.monotonic() > deadline:
                raise Failed(f"the other device is told of {told} and not of {paths}")
            said = subprocess.run(
                [self.binary, "peers", "--json", "--no-discovery"], cwd=folder, env=environment,
                capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
            told = json.loads(said.splitlines()[0]).get("editing")

    def all_notebooks(self):
        """The list of the notebooks of the device."""
        page = self.browser
        other = self.folder / "recipes"
        other.mkdir()
        (other / "Soup.txt").write_text("leeks\n")
        self.notes("init", str(other), "--name", "Recipes")
        web, said = self.begin("web", "--all", "--no-open", "--json")
        page.ask("Page.navigate", url=said["link"])
        page.wait("document.querySelectorAll('.notes a').length === 2")
        self.picture("notebooks", dark=True)
        # One that is made, and one whose folder is deleted, are seen without anybody's doing.
        for count, change in ((3, lambda: self.notes("init", str(self.folder / "work"), "--name", "Work")),
                              (2, lambda: shutil.rmtree(self.folder / "work"))):
            page.evaluate("document.querySelector('.notes a').focus()")
            change()
            page.wait(f"document.querySelectorAll('.notes a').length === {count}")
            page.wait("document.activeElement.matches('.notes a')")
        page.click(self.link_to("Recipes"))
        page.wait("document.querySelector('#notes').innerText.includes('Soup')")
        page.click("a.back")
        page.click(self.link_to("Home"))
        page.wait("document.querySelector('#notes').innerText.includes('Shopping')")
        # A style sheet that is asked for while the program ends gets a text, of which the browser complains.
        page.wait("document.readyState === 'complete'")
        self.stop(web)
