"""Cases of scripts/web-cases: lost answers, other tabs, closed tabs, other notebooks, and many at once."""
import json
import signal
import subprocess

from chromium import PATIENCE, Failed, expect
from play import SAVE
from tabs import SHOWN, STATE, VALUE, edit


def another_notebook(page, make):
    """What was typed for a notebook is not sent to another one that has its port."""
    first = make("first")
    edit(page, first)
    # The page saves by itself after a pause, so the server goes before anything is typed.
    first.stop()
    page.type("#text", "for the first\n")
    page.click(SAVE)
    page.wait(f"{STATE}.startsWith('Offline')")
    second = make("second", first.port)
    before = second.count()
    page.go(second.link)
    page.wait("document.querySelector('#notes')")
    # The first one's page may have asked the second one for its own files, which are not there.
    page.events = []
    # The page is told of this after it has sent what it keeps.
    second.write("Plan.txt", "second\n")
    second.notes("save")
    page.click(".notes a")
    page.wait(f"{SHOWN} === 'second\\n'")
    expect(second.count(), before + 1, "versions of the second notebook")
    second.stop()
    first.serve(first.port)
    page.go(first.link)
    page.wait(f"{STATE}.startsWith('Saved what you typed')")
    expect(first.text().endswith("five\nfor the first\n"), True, first.text())
    first.stop()


def lost_answer(page, make):
    """A new note whose answer was lost is one note."""
    notebook = make("lost")
    page.go(notebook.link)
    page.click("a[href$='/new']")
    page.wait("document.readyState === 'complete' && document.querySelector('#text')")
    page.hold("*/new", "Response")
    page.type("#title", "Once")
    page.type("#text", "said once\n")
    page.click(SAVE)
    lost = page.paused()
    expect(lost["responseStatusCode"], 200, "the answer that is lost")
    expect(notebook.text("Once.txt"), "said once\n", "the note that was made")
    page.ask("Fetch.failRequest", requestId=lost["requestId"], errorReason="ConnectionReset")
    # It is sent again, by itself.
    page.ask("Fetch.disable")
    page.wait(f"{STATE}.startsWith('Saved')")
    page.click(SAVE)
    page.wait(f"{SHOWN} === 'said once\\n'")
    expect(sorted(p.name for p in notebook.folder.glob("*.txt")), ["Once.txt", "Plan.txt"], "notes")
    expect(notebook.count(), 2, "versions")
    notebook.stop()


def typing_meanwhile(page, make):
    """What is typed while a save is on its way is an edit of what was saved, and no conflict."""
    notebook = make("meanwhile")
    edit(page, notebook)
    page.hold("*/edit/*")
    page.type("#text", "first\n")
    page.click(SAVE)
    sent = page.paused()
    page.type("#text", "second\n")
    # A second press while the first is under way sends nothing.
    page.click(SAVE)
    page.ask("Fetch.disable")
    page.ask("Fetch.continueRequest", requestId=sent["requestId"])
    page.wait(f"({SHOWN} ?? '').endsWith('first\\nsecond\\n')")
    expect(notebook.text().endswith("five\nfirst\nsecond\n"), True, "what was saved last")
    expect(notebook.count(), 3, "versions")
    notebook.stop()


def closed_tab(page, make):
    """A tab that is closed while somebody types loses nothing: the next page saves it."""
    notebook = make("closed")
    first = page.session
    address = edit(page, notebook)
    page.tab(page.own)
    page.go(address)
    # No save gets away before the tab is closed.
    page.hold("*/edit/*")
    page.type("#text", "half a wor")
    page.close_tab()
    page.session = first
    page.go(address)
    page.wait(f"{STATE}.startsWith('Saved') && {VALUE}.endsWith('half a wor')")
    expect(notebook.text().endswith("five\nhalf a wor\n"), True, "what was typed")
    expect(notebook.count(), 2, "versions")
    notebook.stop()


def under_the_fingers(page, make):
    """What others write comes into the field, and leaves the caret, what is marked and what is typed."""
    notebook = make("fingers")
    edit(page, notebook)

    def others_write(line):
        notebook.write("Plan.txt", notebook.text() + line)
        notebook.notes("save")

    page.evaluate("document.activeElement.blur()")
    others_write("six\n")
    page.wait(f"{VALUE}.endsWith('six\\n')")
    # Somebody has the caret in it, and has typed nothing yet.
    page.evaluate("document.querySelector('#text').focus(); document.querySelector('#text').setSelectionRange(2, 5)")
    others_write("seven\n")
    page.wait(f"{VALUE}.endsWith('six\\nseven\\n')")
    expect(page.evaluate("[document.activeElement.id, document.activeElement.selectionStart, "
                         "document.activeElement.selectionEnd]"), ["text", 2, 5], "the caret")
    page.type("#text", "mine\n", "start")
    others_write("eight\n")
    expect(page.evaluate(VALUE).startswith("mine\none\n"), True, "what was typed")
    page.click(SAVE)
    page.wait(f"({SHOWN} ?? '').startsWith('mine')")
    expect(notebook.text(), "mine\none\n\ntwo\n\nthree\n\nfour\n\nfive\nsix\nseven\neight\n", "the note")
    notebook.stop()


def no_room(page, make):
    """Where the browser has no room for drafts, it says so, asks before the page is left, and saves."""
    notebook = make("full")
    page.go(notebook.link)
    page.evaluate(
        "(() => { let size = 1 << 20; for (let n = 0; size; n++)"
        " try { localStorage.setItem('other' + n, 'x'.repeat(size)) } catch { size >>= 1 } })()")
    page.click("a[href$='/new']")
    page.wait("document.readyState === 'complete' && document.querySelector('#text')")
    page.hold("*/new")
    page.type("#title", "Much")
    page.type("#text", "typed without room\n")
    page.wait(f"{STATE}.startsWith('This browser\\'s storage is full')")
    asks = "(() => { const leave = new Event('beforeunload', {cancelable: true}); dispatchEvent(leave); return"
    expect(page.evaluate(f"{asks} leave.defaultPrevented }})()"), True, "whether it asks")
    page.ask("Fetch.disable")
    page.click(SAVE)
    page.wait(f"{SHOWN} === 'typed without room\\n'")
    expect(notebook.text("Much.txt"), "typed without room\n", "the note that was made")
    page.evaluate("localStorage.clear()")
    notebook.stop()


def windows_lines(page, make):
    """Line breaks of Windows stay, and are no characters of their own."""
    notebook = make("windows")
    notebook.write("Plan.txt", "a\r\nb\r\n")
    notebook.notes("save")
    edit(page, notebook)
    expect(page.evaluate(VALUE), "a\nb\n", "the field")
    expect(page.evaluate("document.querySelector('.coming')"), None, "a draft of nothing")
    page.type("#text", "c")
    page.click(SAVE)
    page.wait(f"{SHOWN} === 'a\\nb\\nc\\n'")
    expect(notebook.text(), "a\r\nb\r\nc\r\n", "the file")
    page.click("a[href$='/edit']")
    page.wait("document.readyState === 'complete' && document.querySelector('#text')")
    before = notebook.count()
    page.click(SAVE)
    page.wait(f"{SHOWN} === 'a\\nb\\nc\\n'")
    expect(notebook.count(), before, "versions")
    notebook.stop()


def all_at_once(page, make):
    """Two tabs, two phones and vi on one note: what they type in other places is merged, and all that they type in
    the same place is in the history."""
    notebook = make("crowd")
    tabs = {}
    tabs["tab 1"] = page.session
    address = edit(page, notebook)
    tabs["tab 2"] = page.tab(page.own)
    page.go(address)
    for name in ("phone 1", "phone 2"):
        invited = json.loads(notebook.notes("web", "guests", "invite", name, "--json"))
        tabs[name] = page.tab(page.phone())
        page.size("phone")
        page.go(invited["link"])
        page.click(SAVE)
        page.wait("document.querySelector('.who')")
        page.click(".notes a")
        page.click("a[href$='/edit']")
    words = dict(zip(["one", "two", "three", "four"], tabs))

    def all_write(change, vi):
        # All type and press the button while the page's process stands still, so that nobody sees what another
        # wrote: what has been seen would be taken away.
        for name in tabs:
            page.session = tabs[name]
            page.wait("document.readyState === 'complete' && document.querySelector('#text')")
        notebook.web.send_signal(signal.SIGSTOP)
        for word, name in words.items():
            page.session = tabs[name]
            page.evaluate(f"(() => {{ const field = document.querySelector('#text'); field.focus(); "
                          f"field.value = {change(word, name)}; "
                          "field.dispatchEvent(new Event('input', {bubbles: true})); })()")
        subprocess.run(["vi", "-e", "-s", "-u", "NONE", "-c", vi, "-c", "wq", "Plan.txt"],
                       cwd=notebook.folder, env=notebook.environment, stdin=subprocess.DEVNULL,
                       timeout=PATIENCE, check=True)
        for name in tabs:
            page.session = tabs[name]
            page.evaluate(f"void document.querySelector('{SAVE}').click()")
        notebook.web.send_signal(signal.SIGCONT)
        for name in tabs:
            page.session = tabs[name]
            page.wait("document.querySelector('pre.text')")

    all_write(lambda word, name: f"field.value.replace({json.dumps(word)}, "
                                 f"{json.dumps(word + ' by ' + name)})", "%s/five/five by vi/")
    wanted = "".join(f"{word} by {name}\n\n" for word, name in words.items()) + "five by vi\n"
    expect(notebook.text(), wanted, "the note after edits of other places")
    for name in tabs:
        page.session = tabs[name]
        page.click("a[href$='/edit']")
    all_write(lambda word, name: f"{json.dumps('only from ' + name)} + '\\n'", "%d|put ='only from vi'")
    past = notebook.git("log", "-p", "--all", "-m", "--format=%an")
    for name in [*tabs, "vi"]:
        if f"+only from {name}" not in past:
            raise Failed(f"what {name} typed is not in the history")
    expect(notebook.text().count("<<<<<<<"), 1, notebook.text())
    for name in [*tabs, "vi"]:
        expect(notebook.text().count(f"only from {name}\n"), 1, notebook.text())
    expect(notebook.git("log", "--all", "--format=%an").count("phone 1 (via desk)"), 2, "versions of a phone")
    notebook.stop()


def away(page, make):
    """A button or a link that is pressed while the notebook is away leaves its page open, and works when it is back."""
    notebook = make("away")
    notebook.write("Plan.txt", "one [[Trip]]\n")
    notebook.write("Trip.txt", "to Rome\n")
    notebook.notes("save")
    invited = json.loads(notebook.notes("web", "guests", "invite", "Ada", "--json"))
    page.go(invited["link"])
    page.click(SAVE)
    page.wait("document.querySelector('.who')")

    def stays(*selectors):
        page.wait("document.readyState === 'complete'")
        notebook.stop()
        page.wait(f"{STATE}.startsWith('Offline')")
        page.evaluate("window.isOld = true")
        for selector in selectors:
            page.click(selector)
            page.wait("document.querySelector('#coming')?.textContent.startsWith('The notebook does not answer')")
            expect(page.evaluate("window.isOld"), True, f"whether the page is there after {selector}")
            page.evaluate("document.querySelector('#coming').remove()")
        notebook.serve(notebook.port)
        page.wait(f"{STATE} === ''")

    page.wait("document.querySelector('#notes a')")
    stays(".notes a", "a[href$='/new']", "a[href$='/deleted']")
    page.click(".notes a:not([href='" + page.evaluate("[...document.querySelectorAll('.notes a')].find((a) => a.innerText.startsWith('Trip')).getAttribute('href')") + "'])")
    page.wait("document.readyState === 'complete' && document.querySelector('#note')")
    stays("a[href$='/edit']", "form[action$='/pin'] button", "#note a[href*='/n/']", ".back")
    is_edited = "document.querySelector('[data-save]')?.textContent === 'Done'"
    page.click("a[href$='/edit']")
    page.wait(is_edited)
    stays(SAVE, ".back")
    page.click(SAVE)
    page.wait(SHOWN)
    page.click("a[href$='/rename']")
    page.wait("document.readyState === 'complete' && document.querySelector('#title')")
    page.type("#title", " for Rome")
    stays("form.stack button", ".acts a")
    page.click("form.stack button")
    page.wait("document.querySelector('h1').textContent === 'Plan for Rome'")
    # A request that gets no answer at all: the page knows of no cut.
    page.click("a[href$='/edit']")
    page.wait(is_edited)
    notebook.web.send_signal(signal.SIGSTOP)
    page.click(SAVE)
    page.wait("document.querySelector('#coming')")
    expect(page.evaluate("document.querySelector('#text') !== null"), True, "whether the text is there")
    notebook.web.send_signal(signal.SIGCONT)
    page.wait(f"{STATE} === ''")
    page.click(SAVE)
    page.wait(SHOWN)
    notebook.stop()


def copied(page, make):
    """The text of a note is copied from its menu, also where the browser has no interface for it."""
    notebook = make("copied")
    page.go(notebook.link)
    page.click(".notes a")
    page.wait(f"document.readyState === 'complete' && {SHOWN}")
    press = "document.querySelector('#copy').click()"
    page.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
             browserContextId=page.own)
    page.evaluate(press)
    page.wait("document.querySelector('#coming')?.textContent === 'The text is copied.'")
    expect(page.evaluate("navigator.clipboard.readText()"), notebook.text(), "what was copied")
    page.evaluate("document.querySelector('#coming').remove(); "
                  "Object.defineProperty(navigator, 'clipboard', {value: undefined}); "
                  "addEventListener('copy', () => { window.copied = document.activeElement.value })")
    page.ask("Runtime.evaluate", expression=press, userGesture=True)
    page.wait("document.querySelector('#coming')?.textContent === 'The text is copied.'")
    expect(page.evaluate("window.copied"), notebook.text(), "what was copied without the interface")
    notebook.stop()


CASES = [another_notebook, lost_answer, typing_meanwhile, closed_tab, under_the_fingers, no_room, windows_lines,
         away, copied, all_at_once]
