"""What the plays of this folder have in common: a notebook, its page, a terminal, a browser and pictures."""
import argparse
import base64
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time
import zipfile

from chromium import PATIENCE, Failed

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SAVE = "form.edit button, [data-save]"


class Play:
    """A notebook, its page, a terminal and a browser."""

    start = time.monotonic()

    def __init__(self, binary, folder, pictures, axe=None):
        self.binary, self.folder, self.pictures, self.axe = binary, folder, pictures, axe
        self.notebook = folder / "notes"
        self.notebook.mkdir()
        (folder / "run").mkdir(mode=0o700)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(folder / "run")}
        self.started, self.web, self.browser = [], None, None

    def close(self):
        """Ends what was started; the page ends as it is to."""
        if self.browser:
            self.browser.close()
        for process in self.started:
            if process is not self.web and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        if self.web:
            self.end()

    def end(self):
        """Ends the page."""
        self.web.send_signal(signal.SIGINT)
        status = self.web.wait(PATIENCE)
        self.web = None
        if status != 130:
            raise Failed(f"notes web ended with {status}")

    def notes(self, *words, given=""):
        """A command in the terminal."""
        result = subprocess.run([self.binary, *words], cwd=self.notebook, env=self.environment,
                                input=given, capture_output=True, text=True, timeout=PATIENCE,
                                check=False)
        if result.returncode:
            raise Failed(f"notes {' '.join(words)}: {result.stderr}")
        return result.stdout

    def write(self, name, text):
        """Somebody writes a file in an editor, and saves a version."""
        (self.notebook / name).write_text(text)
        self.notes("save")

    def holds(self, name, text):
        """The file has exactly that text."""
        found = (self.notebook / name).read_text()
        if found != text:
            raise Failed(f"{name} holds {found!r} and not {text!r}")

    def picture(self, name, sizes=("desktop", "phone"), dark=False):
        """Takes pictures of the page, and looks whether anything is cut off; also in the dark."""
        if dark:
            self.scheme("dark")
            self.picture(name + "-dark", sizes)
            self.scheme("light")
        for size in sizes:
            self.browser.size(size)
            wide = self.browser.evaluate("document.documentElement.scrollWidth - innerWidth")
            if wide is None or wide > 0:
                raise Failed(f"{name} is {wide} pixels too wide for a {size}")
            self.examine(f"{name} on a {size}")
            data = self.browser.ask("Page.captureScreenshot", format="png")["data"]
            (self.pictures / f"{name}-{size}.png").write_bytes(base64.b64decode(data))
        self.browser.size("desktop")

    def scheme(self, name):
        """Has the system say that it is light or dark."""
        self.browser.ask("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": name}])
        self.browser.wait(f"matchMedia('(prefers-color-scheme: {name})').matches")

    def examine(self, name):
        """Has axe-core look for what keeps people out."""
        if not self.axe:
            return
        self.browser.evaluate(self.axe + "; true")
        found = self.browser.evaluate(
            "axe.run(document).then((r) => r.violations.map((v) => "
            "`${v.id}: ${v.help}\\n${v.nodes.map((n) => n.html + '\\n' + n.failureSummary).join('\\n')}`))")
        if found is None:
            raise Failed(f"axe-core does not run on {name}")
        if found:
            raise Failed(f"axe-core finds on {name}:\n" + "\n".join(found))

    def begin(self, *words, environment=None, folder=None):
        """A command that goes on, and the first line that it writes."""
        process = subprocess.Popen(
            [self.binary, *words], cwd=folder or self.notebook,
            env=environment or self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.started.append(process)
        return process, self.next_line(process, words[0])

    def stop(self, process):
        """Ends what was started."""
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)

    def link_to(self, title):
        """A selector of a note's link in the list."""
        find = f"[...document.querySelectorAll('.notes a')].find((a) => a.querySelector('.row-title').innerText === {json.dumps(title)})"
        self.browser.wait(find)
        address = self.browser.evaluate(find + ".getAttribute('href')")
        return f".notes a[href='{address}']"

    def connect(self, isThere):
        """Cuts the browser off, or lets it on the network again."""
        self.browser.ask("Network.emulateNetworkConditions", offline=not isThere, latency=0,
                         downloadThroughput=-1, uploadThroughput=-1)

    def next_line(self, process, what):
        """The next line that a program writes, as JSON."""
        ready = select.select([process.stdout], [], [], PATIENCE)[0]
        line = process.stdout.readline() if ready else b""
        if not line:
            raise Failed(f"notes {what} says nothing")
        return json.loads(line)

    def step(self, what):
        """Says how far it has come."""
        print(f"{time.monotonic() - self.start:5.1f} s  {what}", flush=True)


def options(about):
    """The options that all plays have."""
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", default=os.environ.get("NOTES_BINARY", str(SOURCE / ".build/debug/notes")))
    return parser


def picture_options(about):
    """The same with those of pictures."""
    parser = options(about)
    parser.add_argument("--pictures", help="keep the pictures in this folder")
    parser.add_argument("--axe", action="store_true", help="have axe-core look at each page")
    return parser


def axe_core(folder):
    """The source of axe-core, which is on PyPI in a package for Selenium."""
    target = folder / "axe"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", target,
                    "axe-selenium-python==2.1.6"], check=True, timeout=PATIENCE)
    package = zipfile.ZipFile(next(target.glob("*.whl")))
    return package.read("axe_selenium_python/node_modules/axe-core/axe.min.js").decode()
