"""The part of scripts/web-story that is played without a mouse: notes-web(1), "by the keyboard alone". On each
page Tab comes to every control, in the order in which they are read, and each is seen, named and in view; after
each act the focus is where one goes on.
"""
import json
import subprocess

from chromium import Failed
from play import SAVE

# What Tab is to come to, in the order of the document.
CONTROLS = """(() => {
  const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), textarea, summary")];
  const isTurn = (field) => field.type !== "radio" || field.checked ||
    !document.querySelector(`input[name="${CSS.escape(field.name)}"]:checked`);
  window.controls = all.filter((one) => one.checkVisibility() && !one.disabled && isTurn(one));
  document.querySelector(".skip").focus();
  return window.controls.length;
})()"""
# What has the focus: which of them it is, and what is wrong with it.
FOCUS = """(() => {
  const one = document.activeElement;
  const box = one.getBoundingClientRect();
  const top = document.elementFromPoint(Math.max(0, box.left + box.width / 2), box.top + Math.min(box.height, 20) / 2);
  const wrong = [];
  let fixed = one;
  while (fixed && !["fixed", "sticky"].includes(getComputedStyle(fixed).position)) fixed = fixed.parentElement;
  if (getComputedStyle(one).outlineStyle === "none") wrong.push("its focus is not seen");
  if (box.bottom < 1 || box.top > innerHeight - 1 || box.right < 1) wrong.push("it is not in view");
  else if (top && !one.contains(top) && !top.contains(one) && !top.closest("label")?.contains(one))
    wrong.push(`${top.outerHTML.slice(0, 80)} is above it`);
  return {place: window.controls.indexOf(one), what: one.outerHTML.slice(0, 120), wrong,
          from: box.top + scrollY, to: box.bottom + scrollY, pane: fixed?.className ?? (one.closest(".find") ? "find" : "")};
})()"""
NAMED = {"link", "button", "textbox", "searchbox", "radio", "checkbox", "image", "navigation", "radiogroup", "group"}


class Keyboard:
    """Somebody who has no mouse."""

    def __init__(self, story):
        self.story, self.page = story, story.browser

    def fail(self, what):
        """Ends the story."""
        raise Failed(f"{what}, on {self.page.evaluate('location.pathname')}")

    def enter(self, selector):
        """Goes there with Tab, through the menu that it is in, and presses Enter."""
        menu = self.page.evaluate(f"document.querySelector({json.dumps(selector)})?.closest('.sheet')?.id")
        if menu:
            self.page.tab_to(f"[popovertarget={menu}]")
            self.page.press("Enter")
            self.page.wait(f"document.querySelector('#{menu}:popover-open')")
        self.page.tab_to(selector)
        self.page.press("Enter")

    def follow(self, selector):
        """The same, where another page comes of it."""
        self.page.evaluate("window.isOld = true")
        self.enter(selector)
        self.page.wait("!window.isOld && document.readyState === 'complete'")

    def leave(self):
        """Presses Escape, which leaves a page that asks."""
        self.page.evaluate("window.isOld = true")
        self.page.press("Escape")
        self.page.wait("!window.isOld && document.readyState === 'complete'")

    def is_at(self, selector):
        """The focus is there."""
        self.page.wait(f"document.activeElement.matches({json.dumps(selector)})")

    def walk(self, name, sizes=("desktop", "phone")):
        """Goes through the whole page with Tab, and looks what a screen reader is told of it."""
        # The page does not glide to what has the focus: what is looked at has come.
        self.page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        for size in sizes:
            self.page.size(size)
            # The page has that size when it has been drawn once more.
            drawn = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))"
            self.page.evaluate(drawn)
            count, former = self.page.evaluate(CONTROLS), None
            for place in range(count):
                if place:
                    self.page.press("Tab")
                found = self.page.evaluate(FOCUS)
                where = f"{name} on a {size}: Tab {place + 1} of {count} is at {found['what']}"
                if found["place"] != place:
                    meant = self.page.evaluate(f"window.controls[{place}].outerHTML.slice(0, 120)")
                    self.fail(f"{where}, and not at {meant}")
                if found["wrong"]:
                    self.fail(f"{where}: {', '.join(found['wrong'])}")
                # The link that leads past the header lies above it.
                # A part that does not move with the page, or folds itself away, has no place in its order.
                if former and place > 1 and not found["pane"] + former["pane"] and found["to"] < former["from"]:
                    self.fail(f"{where}, above {former['what']}")
                former = found
        self.page.size("desktop")
        self.is_named(name)

    def is_named(self, name):
        """What can be used, seen or jumped to has a name; there is one main part."""
        roles = []
        for node in self.page.ask("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if node["ignored"]:
                continue
            roles.append(role)
            if role in NAMED and not node.get("name", {}).get("value"):
                self.fail(f"{name}: a {role} has no name: {json.dumps(node)[:300]}")
        if roles.count("main") != 1 or roles.count("banner") != 1:
            self.fail(f"{name} has not one header and one main part: {sorted(set(roles))}")

    # Notes

    def notes(self):
        """A note is made, edited and restored."""
        page, text = self.page, "document.querySelector('pre.text').textContent"
        page.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self.walk("the list")
        self.follow("a[href$='/new']")
        page.tab_to("#title")
        page.ask("Input.insertText", text="Keys")
        page.tab_to("#text")
        page.ask("Input.insertText", text="tab\n")
        self.enter(SAVE)
        page.wait(f"{text} === 'tab\\n'")
        self.is_at("p.done")
        self.follow("a[href$='/edit']")
        page.tab_to("#text")
        page.ask("Input.insertText", text="shift and ")
        self.story.picture("keyboard")
        self.enter(SAVE)
        page.wait(f"{text}.includes('shift and')")
        self.story.holds("Keys.txt", "shift and tab\n")
        self.follow("nav.sheet a[href$='/versions']")
        opened = "document.querySelector('.versions > li:last-child details').open"
        for _ in range(2):
            self.enter(".versions > li:last-child summary")
            page.wait(opened)
            page.tab_to(".versions > li:last-child details a")
            # Escape closes what was opened.
            page.press("Escape")
            page.wait(f"!{opened}")
            self.is_at(".versions > li:last-child summary")
        page.press("Enter")
        page.wait(opened)
        self.follow(".versions > li:last-child a")
        page.wait("document.querySelector('form[action*=\"/restore/\"]')")
        self.story.picture("version")
        self.enter("form[action*='/restore/'] button")
        page.wait("location.search === '?done=restored'")
        self.is_at("p.done")
        self.story.holds("Keys.txt", "tab\n")

    # Invitations and members

    def invite(self, key, role):
        """Chooses a role with an arrow, opens an invitation, and returns its code and its port."""
        page = self.page
        page.tab_to("#invite input[type=radio]")
        if key:
            page.press(key)
        page.wait(f"document.activeElement.matches('input[value={role}]:checked')")
        self.follow("form[action$='/invite'] button")
        page.wait("document.querySelector('#invitation svg')")
        self.is_at("h1")
        words = page.evaluate("document.querySelector('#invitation').innerText")
        if role not in words:
            self.fail(f"the invitation is for no {role}: {words}")
        code = page.evaluate("document.querySelector('pre.command').textContent").split()[-1]
        return code, page.evaluate("document.querySelector('#invitation .hint').textContent.match(/:(\\d+)/)[1]")

    def join(self, name, code, port):
        """Another device joins, or tries to; returns what it said where it did not."""
        home = self.story.folder / name
        (home / "run").mkdir(mode=0o700, parents=True)
        theirs = {**self.story.environment, "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run")}
        joined = subprocess.run(
            [self.story.binary, "join", code, home / "notes", "--yes", "--device-name", name, "--no-discovery",
             "--at", f"127.0.0.1:{port}"],
            cwd=home, env=theirs, capture_output=True, text=True, timeout=240, check=False)
        return None if joined.returncode == 0 else joined.stderr

    def invitations(self):
        """Invitations are opened, tried, cancelled and used, while somebody stands on a button."""
        page, outcome = self.page, "document.querySelector('#outcome').innerText"
        cancel = "form[action$='/cancel'] button"
        self.follow("nav.sheet a[href$='/devices']")
        page.wait("document.querySelector('#devices').innerText.includes('No open invitations')")
        self.walk("the devices")
        self.story.picture("keys-devices", dark=True)
        code, port = self.invite("ArrowUp", "reader")
        self.walk("an invitation")
        self.story.picture("keys-invitation", dark=True)
        page.tab_to(cancel)
        # What others do is told, and takes the focus from nobody.
        if not self.join("stranger", code[:2] + "-0000-000000", port):
            self.fail("a wrong code lets in")
        page.wait(f"{outcome}.includes('2 attempts left')")
        self.is_at(cancel)
        self.story.picture("keys-wrong-code", dark=True)
        page.evaluate("window.isOld = true")
        page.press("Enter")
        page.wait("!window.isOld && location.search === '?done=cancelled'")
        self.is_at("p.done")
        self.story.picture("keys-cancelled")

        code, port = self.invite(None, "writer")
        self.follow("a[href$='/devices']:not(nav a)")
        self.walk("the devices, with an invitation")
        self.story.picture("keys-invited", dark=True)
        self.follow("#devices a[href*='/invitation/']")
        page.tab_to(cancel)
        failed = self.join("phone" + "-" * 58 + "x", code, port)
        if failed:
            self.fail(f"notes join: {failed}")
        page.wait(f"{outcome}.includes('joined as a writer.')")
        # The button has gone.
        self.is_at("#invitation")
        self.walk("an invitation that was used")
        self.story.picture("keys-joined", dark=True)
        self.follow("a[href$='/devices']:not(nav a)")
        code, port = self.invite("ArrowDown", "admin")
        failed = self.join("אבא של דנה", code, port)
        if failed:
            self.fail(f"notes join: {failed}")
        page.wait(f"{outcome}.includes('joined as an admin.')")
        self.follow("a[href$='/devices']:not(nav a)")
        self.story.picture("keys-members", dark=True)

    def members(self):
        """A role is changed, a member removed, and one is removed that somebody else has removed already."""
        page, shown = self.page, "document.querySelector('#devices').innerText"
        links = "[...document.querySelectorAll('a.change')]"
        phone = page.evaluate(f"{links}.find((a) => a.innerText.includes('phone')).getAttribute('href')")
        other = page.evaluate(f"{links}.find((a) => !a.innerText.includes('phone')).getAttribute('href')")
        self.walk("the members")
        self.follow(f"a[href='{phone}']")
        self.is_at("h1")
        self.walk("a member")
        self.story.picture("keys-member", dark=True)
        page.tab_to("input[type=radio]")
        page.press("ArrowUp")
        page.wait("document.activeElement.matches('input[value=reader]:checked')")
        self.follow(SAVE)
        page.wait(f"location.search === '?done=role' && {shown}.includes('reader')")
        self.is_at("p.done")
        self.follow(f"a[href='{phone}']")
        self.enter("#removal summary")
        page.wait("document.querySelector('#removal').open")
        self.walk("a removal")
        self.story.picture("keys-removal", dark=True)
        page.tab_to("#removal button")
        page.press("Escape")
        page.wait("!document.querySelector('#removal').open")
        self.enter("#removal summary")
        self.follow("#removal button")
        page.wait(f"location.search === '?done=removed' && !{shown}.includes('phone')")
        self.is_at("p.done")
        self.story.picture("keys-removed", dark=True)
        self.follow(f"a[href='{other}']")
        self.enter("#removal summary")
        self.story.notes("members", "remove", "אבא של דנה", "--yes")
        self.follow("#removal button")
        page.wait("document.querySelector('h1').innerText === 'That did not work'")
        self.is_at("p.error")
        self.walk("what is not done")
        self.story.picture("keys-error", dark=True)
        self.follow("main a")

    def guest(self, link):
        """A guest says a name, looks at "This browser", and leaves."""
        page = self.page
        page.evaluate("window.isOld = true")
        page.ask("Page.navigate", url=link)
        page.wait("!window.isOld && document.readyState === 'complete' && document.querySelector('#name')")
        page.tab_to("#name")
        page.ask("Input.insertText", text="Grandpa <b>")
        self.follow(SAVE)
        page.wait("document.querySelector('.error')")
        self.is_at("#name")
        self.story.picture("keys-welcome", dark=True)
        self.is_named("the welcome")
        page.evaluate("document.querySelector('#name').select()")
        page.ask("Input.insertText", text="Grandpa")
        self.enter(SAVE)
        page.wait("document.querySelector('.who')?.innerText.includes('Grandpa')")
        self.follow("nav a[href$='/browser']")
        self.walk("this browser")
        self.story.picture("keys-browser", dark=True)
        self.enter("form[action$='/leave'] button")
        page.wait("document.querySelector('h1').innerText === 'You have left'")
        self.is_at("h1")
        self.story.picture("keys-left", dark=True)

    def play(self, invite_guest):
        """All of it. `invite_guest` makes a guest's link."""
        self.notes()
        self.story.step("Invitations, by the keyboard alone")
        self.invitations()
        self.story.step("Members, by the keyboard alone")
        self.members()
        self.story.step("A guest, by the keyboard alone")
        self.guest(invite_guest())
