"""A real Chromium for the plays of this folder, spoken to by the DevTools protocol. Every wait is for an event,
with a deadline that no machine is too slow for.
"""
import json
import os
import re
import select
import shutil
import signal
import ssl
import subprocess
import time
import urllib.request

PATIENCE = 240  # seconds
# The browser loses a command to a page that is left just then for one in another process. No answer takes as long.
ANSWER = 60  # seconds
SIZES = {"desktop": (1280, 800, False), "phone": (360, 740, True), "tablet": (768, 1000, True), "wide": (2000, 1000, False)}


class Failed(Exception):
    """Something in the play is not as it is told."""


class NoAnswer(Failed):
    """The browser did not answer in time."""


def expect(found, wanted, what):
    """Fails where two things differ."""
    if found != wanted:
        raise Failed(f"{what}: {found!r} and not {wanted!r}")


def answers(address):
    """True if an address is answered, and with no error."""
    try:
        with urllib.request.urlopen(address, timeout=ANSWER, context=ssl._create_unverified_context()):
            return True
    except OSError:
        return False


class Chromium:
    """A browser of its own, spoken to by the DevTools protocol over two pipes."""

    def __init__(self, folder, options=()):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise Failed("chromium is missing (scripts/deps installs it)")
        to_read, self.outgoing = os.pipe()
        self.incoming, to_write = os.pipe()

        def lead():
            # It reads from descriptor 3 and writes to 4.
            for source, target in ((os.dup(to_read), 3), (os.dup(to_write), 4)):
                os.dup2(source, target)

        self.log = open(folder / "chromium.log", "wb")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe", *options,
             f"--user-data-dir={folder / 'browser'}", "about:blank"],
            preexec_fn=lead, close_fds=False, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True, env={**os.environ, "HOME": str(folder)})
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        self.attach()

    def attach(self, **about):
        """Opens a tab, and speaks to it from now on; returns what spoke to the one before."""
        former, self.session = self.session, None
        target = self.ask("Target.createTarget", url="about:blank", **about)["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        return former

    def close(self):
        """Ends it, and all that it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()

    def receive(self, deadline, awaited):
        """The next message; fails if there is none, and names the command whose result is awaited."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.incoming], [], [], left)[0]:
                raise NoAnswer(f"the browser did not answer in time: {awaited}")
            part = os.read(self.incoming, 1 << 20)
            if not part:
                raise Failed("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, patience=PATIENCE, **parameters):
        """Sends a command, and returns its result; an error of the protocol is None."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.outgoing, data):]
        deadline = time.monotonic() + patience
        while True:
            answer = self.receive(deadline, f"{method} {json.dumps(parameters)[:400]}")
            if answer.get("id") == self.number:
                return answer.get("result")
            if "method" in answer:
                self.events.append(answer)

    def evaluate(self, expression):
        """The value of an expression; None where the page went away meanwhile."""
        try:
            result = self.ask("Runtime.evaluate", ANSWER, expression=expression, awaitPromise=True,
                              returnByValue=True)
        except NoAnswer:
            return None
        if not result or "exceptionDetails" in result:
            return None
        return result["result"].get("value")

    def wait(self, condition):
        """Waits until an expression holds in the page, whatever page that is by then."""
        deadline = time.monotonic() + PATIENCE
        # The page says when it has changed; one that is left answers nothing more.
        watching = f"""new Promise((resolve) => {{
            const holds = () => {{ try {{ return {condition}; }} catch {{ return false; }} }};
            const look = () => {{ if (holds()) {{ clearInterval(timer); resolve(true); }} }};
            const timer = setInterval(look, 50);
            setTimeout(() => {{ clearInterval(timer); resolve(false); }}, 2000);
            look();
        }})"""
        while time.monotonic() < deadline:
            if self.evaluate(watching):
                return
        shown = self.evaluate("location.pathname + '\\n' + document.body.innerText")
        raise Failed(f"this never came: {condition}\nThe page shows:\n{shown}")

    def click(self, selector):
        """Clicks what a selector finds, once it is there."""
        found = json.dumps(selector)
        self.wait(f"document.readyState === 'complete' && document.querySelector({found})")
        self.evaluate(f"document.querySelector({found}).click()")

    def type(self, selector, text, where="end"):
        """Puts the caret into a field, and types."""
        found = json.dumps(selector)
        self.wait(f"document.readyState === 'complete' && document.querySelector({found})")
        place = "0" if where == "start" else "f.value.length"
        self.evaluate(f"(() => {{ const f = document.querySelector({found}); f.focus(); "
                      f"const p = {place}; f.setSelectionRange(p, p); }})()")
        self.ask("Input.insertText", text=text)

    def press(self, key):
        """Presses a key."""
        code, text = {"Tab": (9, {}), "Enter": (13, {"text": "\r"}), "Escape": (27, {}),
                      "ArrowUp": (38, {}), "ArrowDown": (40, {})}[key]
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)

    def tab_to(self, selector):
        """Presses Tab until what a selector finds has the focus, which has to be seen."""
        found = json.dumps(selector)
        self.wait(f"document.readyState === 'complete' && document.querySelector({found})")
        for _ in range(80):
            self.press("Tab")
            if self.evaluate(f"document.activeElement.matches({found})"):
                if self.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none":
                    raise Failed(f"the focus on {selector} is not seen")
                return
        raise Failed(f"Tab does not come to {selector}")

    def size(self, name):
        """Becomes a phone or a desktop."""
        width, height, mobile = SIZES[name]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=mobile)

    def problems(self):
        """What the page did that its policy forbids, and scripts that failed."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                thrown = json.dumps(event["params"]["exceptionDetails"])
                # Chromium's own words for an answer that comes when the play has just forbidden scripts.
                if "callback is no longer runnable" not in thrown:
                    found.append(thrown[:400])
            entry = event.get("params", {}).get("entry", {})
            if event["method"] == "Log.entryAdded" and entry.get("source") == "security":
                # An error is a text, which is no style sheet, and the page of a program that ended may get one.
                style = re.match("Refused to apply style from '([^']*)'", entry.get("text", ""))
                if not style or answers(style[1]):
                    found.append(entry.get("text", ""))
        return found
