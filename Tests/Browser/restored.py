"""Cases of scripts/web-cases: all the ways in which a browser brings back what was typed, with scripts and without."""
from chromium import expect
from play import SAVE
from tabs import VALUE

OLD, THEIRS = "one\n\ntwo\n\nthree\n\nfour\n\nfive\n", "one\n\ntwo\n\n3 by another\n\nfour\n\nfive\n"


def begin(page, make, name, may_run):
    """A notebook, whose note is edited in a browser with or without scripts."""
    notebook = make(name + ("" if may_run else "-plain"))
    page.go(notebook.link)
    page.wait("document.querySelector('.notes a')")
    page.scripts(may_run)
    page.press_button(".notes a")
    page.press_button("a[href$='/edit']")
    return notebook


def types(page, old, new):
    """Replaces a part of the text, as somebody does who types over it. In one step: another's edit may move it."""
    there = page.evaluate(f"""(() => {{
        const field = document.querySelector('#text'), place = field.value.indexOf('{old}');
        field.focus();
        field.setSelectionRange(place, place + {len(old)});
        return place >= 0;
    }})()""")
    expect(there, True, f"{old} in the text")
    page.ask("Input.insertText", text=new)


def another_saves(notebook, text=THEIRS):
    """Another device's edit comes."""
    notebook.write("Plan.txt", text)
    notebook.notes("save")


def saves(page):
    """Presses Save, and waits for the note's page."""
    page.leave(lambda: page.evaluate(f"document.querySelector('{SAVE}').click()"))
    page.look("document.querySelector('pre.text')")


def has_both(notebook, *typed):
    """The note has what was typed, and what the other wrote."""
    for words in (*typed, "3 by another"):
        expect(notebook.text().count(words), 1, f"{words} in {notebook.text()!r}")
    expect(notebook.text().count("<<<<<<<"), 0, notebook.text())


def back_from_a_link(page, make, may_run):
    """Type, follow a link, the other saves, Back, Save."""
    notebook = begin(page, make, "link", may_run)
    types(page, "one", "one by me")
    page.press_button("a.back")
    another_saves(notebook)
    page.back()
    if page.evaluate("!document.querySelector('#text')"):
        # With scripts it is saved before the page is left.
        expect(may_run, True, "a page that is not the one that was left")
        page.press_button("a[href$='/edit']")
    page.look(f"{VALUE}?.startsWith('one by me')")
    saves(page)
    has_both(notebook, "one by me")
    return notebook


def back_after_save(page, make, may_run):
    """Save, merged with the other's; Back; Save; type; Save."""
    notebook = begin(page, make, "saved", may_run)
    types(page, "one", "one by me")
    another_saves(notebook)
    saves(page)
    has_both(notebook, "one by me")
    page.back()
    if page.evaluate("!document.querySelector('#text')"):
        # With scripts Back leads to what was before the page for editing.
        page.press_button("a[href$='/edit']")
    saves(page)
    has_both(notebook, "one by me")
    page.back()
    if page.evaluate("!document.querySelector('#text')"):
        page.press_button("a[href$='/edit']")
    types(page, "five", "five by me")
    saves(page)
    has_both(notebook, "one by me", "five by me")
    return notebook


def reloaded(page, make, may_run):
    """Type, the other saves, reload, Save."""
    notebook = begin(page, make, "reloaded", may_run)
    types(page, "one", "one by me")
    another_saves(notebook)
    page.leave(lambda: page.ask("Page.reload"))
    page.look(VALUE)
    if not page.evaluate(f"{VALUE}.startsWith('one by me')"):
        if may_run:
            page.wait(f"{VALUE}.startsWith('one by me')")
        else:
            types(page, "one", "one by me")
    saves(page)
    has_both(notebook, "one by me")
    return notebook


def forward_again(page, make, may_run):
    """Type, Back, the other saves, Forward, Save."""
    notebook = begin(page, make, "forward", may_run)
    types(page, "one", "one by me")
    page.back()
    another_saves(notebook)
    page.back(1)
    page.look(f"{VALUE}?.startsWith('one by me')")
    saves(page)
    has_both(notebook, "one by me")
    return notebook


def copied_tab(page, make, may_run):
    """Another tab of the page: each saves what it was shown, after the other has."""
    notebook = begin(page, make, "copy", may_run)
    address, first = page.evaluate("location.href"), page.session
    types(page, "one", "one by me")
    page.tab(page.own)
    page.scripts(may_run)
    page.leave(lambda: page.ask("Page.navigate", url=address))
    page.look(VALUE)
    another_saves(notebook)
    types(page, "five", "five by me")
    saves(page)
    page.session = first
    saves(page)
    has_both(notebook, "one by me", "five by me")
    return notebook


def filled_in(page, make, may_run):
    """Something fills in a fresh page's field with what an old page's had: it has no field of that name."""
    notebook = begin(page, make, "filled", may_run)
    name = page.evaluate("document.querySelector('#text').name")
    action = page.evaluate("document.querySelector('form.edit').getAttribute('action')")
    another_saves(notebook)
    page.leave(lambda: page.ask("Page.navigate", url=page.evaluate("location.href").split("/edit/")[0] + "/edit"))
    page.look(VALUE)
    expect(page.evaluate("document.querySelector('#text').name") == name, False, "the same field")
    expect(page.evaluate("document.querySelector('form.edit').getAttribute('action')") == action, False, "the same form")
    sent = page.evaluate(f"(() => {{ const f = document.querySelector('form.edit'); "
                         f"return fetch(f.action, {{method: 'POST', body: new URLSearchParams([['{name}', 'mine']])}})"
                         ".then((a) => a.status); })()")
    expect(sent, 400, "a text of another page's field")
    expect(notebook.text(), THEIRS, "the note")
    return notebook


def settled_again(page, make, may_run):
    """A text of one's own for a conflict, typed and left, is not taken for the next conflict's."""
    notebook = begin(page, make, "settle", may_run)
    page.evaluate("document.querySelector('#text').select()")
    page.ask("Input.insertText", text="all by me\n")
    another_saves(notebook, "all by another\n")
    saves(page)
    page.press_button(".notice a[href$='/settle']")
    field = "document.querySelector('textarea')"
    page.evaluate("document.querySelector('input[value=own]').click()")
    page.evaluate(f"{field}.select()")
    page.ask("Input.insertText", text="settled by me\n")
    page.press_button("a.back")
    another_saves(notebook, notebook.text().replace("all by another", "more by another"))
    page.back()
    page.look(f"{field}?.value.startsWith('settled by me')")
    page.press_button("form.settle button")
    for words in ("settled by me", "more by another"):
        expect(words in notebook.text(), True, f"{words} in {notebook.text()!r}")
    return notebook


def in_both(case):
    """A case that is played with scripts and without."""
    def play(page, make):
        for may_run in (True, False):
            if not may_run:
                page.own = page.phone()
                page.tab(page.own)
            case(page, make, may_run).stop()
            page.scripts(True)
    play.__name__, play.__doc__ = case.__name__, "With scripts and without: " + case.__doc__
    return play


CASES = [in_both(case) for case in (back_from_a_link, back_after_save, reloaded, forward_again, copied_tab, filled_in,
                                    settled_again)]
