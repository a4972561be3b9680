"""README's picture of the page."""
import base64

from app import HOSTILE, NOTES, STATE, AppStory
from network import Browser, command
from play import SAVE, SOURCE


class Portrait(AppStory):
    """Three views of the page, side by side."""

    def portrait(self, target):
        """README's picture of the page."""
        page = self.browser = Browser(self.folder / "guest", self.told_authority())
        self.notes("rm", HOSTILE, "Long", "Cellar")
        for name, text in (("Birthdays", "Ada 12 May\n"), ("Bread", "500 g flour\n2 tsp salt\n"),
                           ("Shopping", "apples\nmilk for Sunday\nbread\n")):
            self.write(f"{name}.txt", text)
        page.size("phone")
        root = self.come_in("Grandma")
        page.wait("navigator.serviceWorker.controller !== null")
        shots = []

        def shoot():
            page.ask("Emulation.setDeviceMetricsOverride", width=360, height=600, deviceScaleFactor=1, mobile=True)
            page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            shots.append(page.ask("Page.captureScreenshot", format="png")["data"])

        shopping = root + self.note("Shopping")
        page.go(self.origin + shopping + "/edit")
        page.wait("document.querySelector('#text')")
        page.evaluate("document.querySelector('#text').value = 'apples\\noat milk for Sunday\\nbread\\n'")
        page.click(SAVE)
        page.wait("location.search.startsWith('?done')")
        page.go(self.origin + root + "/")
        page.wait(f"{NOTES}.includes('Shopping')")
        self.kept(root + "/")
        shoot()
        page.go(self.origin + shopping + "/versions")
        page.wait("document.querySelector('.versions').innerText.includes('oat')")
        shoot()
        self.end()
        page.go(self.origin + root + "/new")
        page.wait(f"{STATE}.startsWith('Offline')")
        page.type("#title", "trips/Rome")
        page.type("#text", "forum\ncolosseum\n")
        shoot()
        page.ask("Emulation.setDeviceMetricsOverride", width=1128, height=624, deviceScaleFactor=1, mobile=False)
        page.go("about:blank")
        images = "".join(f'<img src="data:image/png;base64,{shot}" style="margin:12px 0 12px 12px">' for shot in shots)
        page.evaluate(f"document.body.style = 'margin:0;background:#8a91a0;display:flex';"
                      f"document.body.innerHTML = `{images}`; Promise.all([...document.images].map((i) => i.decode()))")
        taken = self.folder / "page.png"
        taken.write_bytes(base64.b64decode(page.ask("Page.captureScreenshot", format="png")["data"]))
        command(SOURCE / "contrib" / "small-png", taken, target)
