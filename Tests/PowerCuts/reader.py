"""Somebody at the page of a device: opens a note, adds a line, and sends the form."""

import contextlib
import html
import http.cookiejar
import json
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

import play


class Reader:
    """The page of one device, and a browser that has been let in."""

    def __init__(self, device):
        self.device = device
        self.server = device.start(
            *device.before, device.binary, "web", "--no-open", "--json", stderr=subprocess.DEVNULL)
        shown = json.loads(play.lines_until(self.server, '"web"'))
        threading.Thread(target=self.server.stdout.read, daemon=True).start()
        self.base = f"http://127.0.0.1:{shown['port']}"
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.browser = urllib.request.build_opener(cookies)
        self.root = re.search(r'href="([^"]+)"', self.get(shown["link"])).group(1)

    def get(self, place):
        place = place if place.startswith("http") else self.base + place
        return self.browser.open(place, timeout=60).read().decode()

    def append(self, name, line):
        """Adds a line to a note by the page; false where the page shows no such note, or refuses."""
        with contextlib.suppress(urllib.error.HTTPError):
            title = re.escape(html.escape(name))
            row = rf'href="([^"]+)">\s*<span class="row-top"><span class="row-title"[^>]*>{title}<'
            note = re.search(row, self.get(self.root))
            if not note:
                return False
            page = self.get(note.group(1) + "/edit")
            # The form of the text: another one may stand before it, which saves the folder.
            form = re.search(r'<form[^>]*method="post"[^>]*>(?:(?!</form>).)*<textarea.*?</form>', page, re.S)
            field = re.search(r'<textarea[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', page, re.S)
            if not form or not field:
                return False
            sent = {
                html.unescape(key): html.unescape(value)
                for key, value in re.findall(r'<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"', form.group(0))
            }
            text = html.unescape(field.group(2).removeprefix("\n"))
            sent[html.unescape(field.group(1))] = (text + line + "\n").replace("\n", "\r\n")
            action = html.unescape(re.search(r'action="([^"]+)"', form.group(0)).group(1))
            headers = {"Origin": self.base, "Sec-Fetch-Site": "same-origin"}
            request = urllib.request.Request(self.base + action, urllib.parse.urlencode(sent).encode(), headers)
            self.browser.open(request, timeout=60).read()
            return True
        return False

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            self.server.send_signal(signal.SIGTERM)
        self.server.wait()
