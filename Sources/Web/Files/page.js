// The script of the pages, which also work without it.
const root = document.body.dataset.root;
const state = document.getElementById("state");
const form = document.querySelector("form.edit[data-note]");
// Drafts of several guests in one browser are kept apart, so that no page sends another guest's drafts.
const store = `notes-draft:${document.body.dataset.drafts}:`;
// Release 1.0 stored them under the guest's path.
const former = `notes-draft:${document.body.dataset.drafts.split("/")[0]}${root}:`;
for (const [name, draft] of Object.entries(localStorage).filter(([name]) => name.startsWith(former))) {
  localStorage.removeItem(name);
  localStorage.setItem(name.replace(former, store), draft);
}

const element = (kind, about, ...inside) => {
  const made = Object.assign(document.createElement(kind), about);
  made.append(...inside);
  return made;
};
const say = (text, kind = "") => {
  if (state.textContent !== text) state.textContent = text;
  state.dataset.is = kind;
};

// Drafts: typed text is stored in the browser until the notebook has it.

const fields = (form) => Object.fromEntries(new FormData(form));
const action = (form) => form.getAttribute("action").slice(root.length);
const textOf = (form) => form.querySelector("textarea");
// A form belongs to the version that its text was shown with: text, action and field name are always changed
// together, so a text never gets into another text's form.
const become = (other) => {
  form.setAttribute("action", root + other.action);
  for (const [name, value] of Object.entries(other.fields)) {
    const field = name.startsWith("text") ? textOf(form) : form.elements.namedItem(name);
    if (!field) continue;
    field.name = name;
    if (field.value !== value) field.value = value;
  }
};
// The values from the server, even if the browser has restored others.
const fieldsAsSent = (form) =>
  Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.defaultValue]));
let shown = form && fieldsAsSent(form);
// Whether two forms have equal values, without a copy of a long text.
const areSame = (a, b) => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};
const textName = (values) => Object.keys(values).find((name) => name.startsWith("text"));
// The text on which the form's edit is based; null if only the server has it.
let base = form && textOf(form).defaultValue;
const isDirty = () => form !== null && !areSame(fields(form), shown);

const namesOfDrafts = () => Object.keys(localStorage).filter((name) => name.startsWith(store));
const draftAt = (name) => JSON.parse(localStorage.getItem(name));
// Only one page at a time, while it is shown, can use a draft: another page begins its own.
const take = (name, options) =>
  new Promise((resolve) => {
    if (!navigator.locks) return resolve(true);
    const hold = () => {
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(`${name} is open`, options, hold).catch(() => resolve(false));
  });
const ownName = (note) => {
  const own = `${store}${note}-${Date.now()}`;
  take(own, {});
  return own;
};
const ownDraft = () => ownName(form.dataset.note);
// The storage key of this form's draft: the one in the address, otherwise this note's last draft.
let draftName = null;
const findDraft = async () => {
  const note = store + form.dataset.note;
  const wanted = store + location.hash.slice(1);
  let names = [wanted];
  if (!wanted.startsWith(note)) {
    const kept = namesOfDrafts().filter((name) => name.startsWith(note)).sort();
    names = form.dataset.note === "new" || !kept.length ? [note] : kept.reverse();
  }
  for (const name of names) {
    // A page that was just left releases its draft a moment later.
    const isFree = await take(name, { signal: AbortSignal.timeout(500) });
    const kept = draftAt(name);
    const isSame = () => action(form) === kept.action && areSame(fields(form), kept.fields);
    if (isFree && (!isDirty() || !kept || isSame())) return name;
  }
  return ownDraft();
};

// Whether the browser had enough space for the last draft.
let hasRoom = true;
const sayFull = () => say("This browser's storage is full: your text is not kept until you save.");
const write = (name, draft) => {
  try {
    localStorage.setItem(name, JSON.stringify(draft));
    if (!hasRoom) say("");
    hasRoom = true;
  } catch {
    hasRoom = false;
    sayFull();
  }
  return hasRoom;
};
// A long text is stored only when typing pauses, as storing it takes too long for each key press.
let keeping;
const isLong = () => textOf(form).textLength > 1e5;
// Returns whether the draft was stored. For an existing note, the next page sends it.
const keep = (isSent = form.dataset.note !== "new") => {
  clearTimeout(keeping);
  keeping = undefined;
  if (!draftName) return false;
  if (!isDirty()) {
    localStorage.removeItem(draftName);
    return false;
  }
  const title = form.elements.title?.value || document.querySelector("main h1").textContent;
  return write(draftName, { action: action(form), fields: fields(form), isSent, title });
};
const keepSoon = () => {
  if (!isLong()) return keep();
  clearTimeout(keeping);
  keeping = setTimeout(keep, 200);
};
// If a new note waits to be sent, the next new note gets another key.
const keepApart = () => {
  if (form.dataset.note !== "new" || draftName !== store + "new") return;
  const former = draftName;
  draftName += `-${Date.now()}`;
  if (!keep(true)) {
    draftName = former;
    return;
  }
  localStorage.removeItem(former);
  take(draftName, {});
  history.replaceState(null, "", "#" + draftName.slice(store.length));
};

// With a long text, each step of a save takes a noticeable time. Between the steps, the page handles pressed
// keys.
const breath = () => new Promise((resolve) => setTimeout(resolve));
const post = async (draft, headers = { Accept: "application/json" }) => {
  const body = String(new URLSearchParams(draft.fields));
  if (body.length > 1e5) await breath();
  // A request made while the page is being left can continue after it, up to a size that browsers allow.
  const keepalive = body.length < 60000;
  return fetch(root + draft.action, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
    body,
    keepalive,
    signal: AbortSignal.timeout(30000),
  });
};

const noConnection = "Offline: ";
const sayOffline = () => {
  const time = Number(document.body.dataset.kept);
  const age = time ? `this page is from ${new Date(time).toLocaleString("sv").slice(0, 16)}. ` : "";
  const words = form && isDirty() ? "your text" : "what you type";
  const text = age ? words[0].toUpperCase() + words.slice(1) : words;
  const kept = hasRoom
    ? `${text} is kept on this device and will be saved later.`
    : "this browser's storage is full. Leave the page open.";
  say(noConnection + age + kept, "offline");
};
const ended =
  "No access: 'notes web' was restarted, or you are no longer a guest. Your text is kept in this browser.";

const refusal = async (response) => {
  if (response.status === 401) return ended;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector("[role=alert]")?.textContent ?? "Not saved.";
};
// Whether to send again later: the visitor is not admitted now, or there are too many requests.
const isForLater = (response) => [401, 429, 503].includes(response.status);

// Each page lists the drafts of other notes.
const showDrafts = () => {
  document.getElementById("drafts")?.remove();
  const names = namesOfDrafts().filter((name) => name !== draftName);
  if (!names.length) return;
  const list = element("p", { id: "drafts", className: "coming" }, "Not saved yet: ");
  for (const name of names.sort()) {
    const { action, page, title } = draftAt(name);
    const href = page ? root + page : `${root}${action}#${name.slice(store.length)}`;
    list.append(name === names[0] ? "" : ", ", element("a", { href }, title));
  }
  document.getElementById("main").prepend(list);
};

// One page at a time sends, and at most one further attempt is scheduled.
const alone = (work) => (navigator.locks ? navigator.locks.request(store, work) : work());
let retry;
const sendLater = () => {
  sayOffline();
  clearTimeout(retry);
  retry = setTimeout(sendRest, 2000);
};

// After a save, further edits are based on the text that was sent, even if it was merged with others.
const goOn = (said, sent) => {
  localStorage.removeItem(draftName);
  const rename = (values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.startsWith("text") ? `text-${said.blob}` : name, value]));
  become({ action: said.edit, fields: rename(fields(form)) });
  if (form.dataset.note === "new") {
    draftName = ownName(said.note);
    form.dataset.note = said.note;
    form.elements.title.readOnly = true;
    events?.close();
    events = null;
    listen();
  }
  base = sent[textName(sent)];
  shown = rename(sent);
};

// Without a connection a link or a button would show the browser's error page in place of the note. So the page
// first requests a file that no worker keeps, to see whether the notebook answers.
let isAsking = false;
const answers = async () => {
  if (isAsking) return false;
  isAsking = true;
  try {
    await fetch(root + "/icon.png", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    return true;
  } catch {
    sayOffline();
    tellOf("The notebook does not answer, so this page stays open. Try again later.");
    // The stream of events may not have noticed this. A new stream does, and reports when the notebook is back.
    events?.close();
    events = null;
    listen();
    return false;
  } finally {
    isAsking = false;
  }
};
// A worker shows the pages that the browser keeps.
const leaveFor = async (address, how = "assign") => {
  if (navigator.serviceWorker?.controller || (await answers())) location[how](address);
};

let isSending = false;
// Whether this page failed to send its draft. If another page has sent it too, there is no second version.
let isWaiting = false;
// The page to open when everything is saved; null to stay.
let goal = null;
const clock = () => new Date().toTimeString().slice(0, 5);
const sendOwn = async () => {
  if (isSending || !form.reportValidity()) return;
  isSending = isWaiting = true;
  clearTimeout(pause);
  keepApart();
  keep(true);
  say("Saving…");
  try {
    if (isLong()) await breath();
    const sent = fields(form);
    const response = await post({ action: action(form), fields: sent });
    isWaiting = isForLater(response);
    if (!response.ok) {
      keep(isWaiting);
      goal = null;
      return say("Not saved: " + (await refusal(response)), "bad");
    }
    const said = await response.json().catch(() => null);
    if (!said) return location.assign(response.url);
    if (said.edit) {
      goOn(said, sent);
      // The browser stores the whole field with the address.
      if (isLong()) await breath();
      history.replaceState(null, "", root + said.edit);
    } else if (areSame(fields(form), sent)) shown = sent;
    keepSoon();
    say(`Saved · ${clock()}`, "saved");
    if (said.done === "conflict") showConflict();
    if (!said.edit) followSoon();
    if (isDirty()) return saveSoon();
    if (goal) location.replace(goal === "note" ? `${root}${said.page}?done=${said.done}` : goal);
  } catch {
    goal = null;
    sendLater();
  } finally {
    isSending = false;
    if (isBehind) followSoon();
  }
};

// The text is saved automatically: when typing pauses, at intervals during typing, and when the user leaves
// the text or the page.
const shortPause = 700;
const longestPause = 5000;
let pause;
let firstTyped = 0;
const mayBeSaved = () => form.dataset.note !== "new" || (form.elements.title.value.trim() && document.activeElement === textOf(form));
const saveNow = () => {
  clearTimeout(pause);
  firstTyped = 0;
  if (isDirty() && !isComposing && mayBeSaved()) send();
};
const saveSoon = () => {
  clearTimeout(pause);
  firstTyped ||= Date.now();
  pause = setTimeout(saveNow, Math.min(shortPause, Math.max(0, firstTyped + longestPause - Date.now())));
};

// Sends the drafts of all pages that could not be sent without a connection.
const sendKept = async () => {
  if (isWaiting) await sendOwn();
  // An open page sends its own draft.
  const held = new Set((await navigator.locks?.query())?.held.map((lock) => lock.name));
  for (const name of namesOfDrafts()) {
    const draft = draftAt(name);
    if (!draft?.isSent || (name !== draftName && held.has(`${name} is open`))) continue;
    if (name === draftName) {
      if (!isWaiting) await sendOwn();
      continue;
    }
    try {
      const response = await post(draft);
      if (response.ok) {
        localStorage.removeItem(name);
        say("Saved what you typed while offline.", "saved");
        refresh();
      } else {
        if (!isForLater(response))
          write(name, { ...draft, isSent: false });
        say(await refusal(response));
      }
    } catch {
      return sendLater();
    }
  }
  showDrafts();
};
// While a request is in progress, a second press of the button sends nothing.
let isAsked = false;
const send = async () => {
  if (isAsked) return;
  isAsked = true;
  await alone(sendOwn).finally(() => (isAsked = false));
};
const sendRest = () => alone(sendKept);

// Restores the draft of a page that was closed, or whose browser was closed.
const offerDraft = () => {
  const kept = draftAt(draftName);
  if (!kept) return;
  const isSaved = Object.entries(kept.fields).every(([name, value]) =>
    (name.startsWith("text") ? textOf(form) : form.elements.namedItem(name))?.value === value);
  if (isSaved) return localStorage.removeItem(draftName);
  become(kept);
  base = null;
  if (form.dataset.note !== "new") saveSoon();
};

// Others' changes appear automatically, except where the user is typing.

let reload;
const load = async (address) => {
  const response = await fetch(address, { signal: AbortSignal.timeout(30000) });
  if (response.status === 401) say(ended);
  if (response.status === 503) sayOffline();
  clearTimeout(reload);
  // An event is sent only once, so a failed request is repeated.
  if ([429, 503].includes(response.status)) reload = setTimeout(refresh, 2000);
  if (!response.ok) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
};

// How many letters, lines or nodes two sequences have in common at the beginning, and in the rest at the end.
const common = (a, b, isSame = (one, other) => one === other) => {
  let [start, tail, most] = [0, 0, Math.min(a.length, b.length)];
  // A long text is compared for each key press, so large pieces are compared first.
  if (typeof a === "string")
    for (const piece of [1 << 14, 1 << 7])
      while (start + piece <= most && a.slice(start, start + piece) === b.slice(start, start + piece)) start += piece;
  while (start < most && isSame(a[start], b[start])) start++;
  most -= start;
  if (typeof a === "string")
    for (const piece of [1 << 14, 1 << 7])
      while (tail + piece <= most && a.slice(-tail - piece, a.length - tail) === b.slice(-tail - piece, b.length - tail))
        tail += piece;
  while (tail < most && isSame(a.at(-1 - tail), b.at(-1 - tail))) tail++;
  return [start, tail];
};

// Replaces only the nodes that differ; nodes before and after keep the focus and the selection.
const change = (old, fresh) => {
  let [was, is] = [[...old.childNodes], [...fresh.childNodes]];
  const [start, tail] = common(was, is, (one, other) => one.isEqualNode(other));
  const end = was[was.length - tail];
  [was, is] = [was, is].map((nodes) => nodes.slice(start, nodes.length - tail));
  const [a, b] = [was[0], is[0]];
  if (was.length === 1 && is.length === 1 && a.nodeName === b.nodeName && a.id === b.id && a.children?.length)
    if (a.cloneNode().isEqualNode(b.cloneNode())) return change(a, b);
  for (const node of was) node.remove();
  for (const node of is) old.insertBefore(node, end ?? null);
};

const replace = (page) => {
  for (const region of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(region.id);
    if (!fresh || fresh.innerHTML === region.innerHTML) continue;
    const focused = region.contains(document.activeElement) ? document.activeElement : null;
    for (const item of region.querySelectorAll("details")) {
      const same = fresh.querySelector("#" + CSS.escape(item.id));
      if (same) same.open = item.open;
    }
    change(region, fresh);
    if (!focused || focused === region || region.contains(document.activeElement)) continue;
    const place = focused.getAttribute("href");
    const opened = focused.matches("summary") && focused.parentElement.id;
    const same =
      (place && region.querySelector(`a[href="${CSS.escape(place)}"]`)) ||
      (opened && region.querySelector(`#${CSS.escape(opened)} > summary`));
    // If the focused element was removed, the next Tab continues from its place.
    if (!same) region.tabIndex = -1;
    (same || region).focus({ preventScroll: true });
  }
};

// Others' edits of an open text are put into the field if they do not touch text that was typed here since: the
// caret, the selection, the scroll position and an unfinished word are kept. Other edits wait until the typed
// text is saved and the server has merged it.

// The differing lines of two texts, reduced to the differing letters: [from, to, new text].
const hunksBetween = (old, fresh) => {
  if (old === fresh) return [];
  const [a, b] = [old, fresh].map((text) => text.split(/(?<=\n)/));
  const [start, tail] = common(a, b);
  const [left, right] = [a.slice(start, a.length - tail), b.slice(start, b.length - tail)];
  const pairs = [];
  if (left.length * right.length <= 1e6) {
    // The longest common subsequence of lines, computed from the ends.
    const width = right.length + 1;
    const best = new Uint32Array((left.length + 1) * width);
    for (let i = left.length - 1; i >= 0; i--)
      for (let j = right.length - 1; j >= 0; j--)
        best[i * width + j] = left[i] === right[j]
          ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < left.length && j < right.length; )
      if (left[i] === right[j]) pairs.push([i++, j++]);
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
      else j++;
  }
  const hunks = [];
  let [i, j, place] = [0, 0, a.slice(0, start).join("").length];
  for (const [nextI, nextJ] of [...pairs, [left.length, right.length]]) {
    const [was, is] = [left.slice(i, nextI).join(""), right.slice(j, nextJ).join("")];
    if (was !== is) {
      const [head, end] = common(was, is);
      hunks.push([place + head, place + was.length - end, is.slice(head, is.length - end)]);
    }
    place += was.length + (left[nextI]?.length ?? 0);
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return hunks;
};

// Whether two edits of a text touch each other, or the same word.
const doTouch = (text, [from, to], [start, end]) => {
  const isWord = (letter) => letter !== undefined && /\S/.test(letter);
  while (from > 0 && isWord(text[from - 1])) from--;
  while (isWord(text[to])) to++;
  return start <= to && from <= end;
};

let isComposing = false;
// Whether the field lacks others' changes.
let isBehind = false;

// Whether the script, and not the user, is changing the field.
let isChanging = false;
// Puts a text into the field, and keeps the selection. Setting a long text as a whole causes a new layout, which
// takes too long while somebody types: if the field has the focus, the browser edits it in place, as for a key.
const put = (text, from, to) => {
  const field = textOf(form);
  if (!isLong() || document.activeElement !== field) return field.setRangeText(text, from, to, "preserve");
  const moved = (place) => (place <= from ? place : place < to ? from + Math.min(place - from, text.length) : place + text.length - (to - from));
  const places = [moved(field.selectionStart), moved(field.selectionEnd), field.selectionDirection];
  isChanging = true;
  field.setSelectionRange(from, to);
  const isDone = document.execCommand(text ? "insertText" : "delete", false, text);
  isChanging = false;
  if (!isDone) field.setRangeText(text, from, to);
  field.setSelectionRange(...places);
};

const insert = (hunks) => {
  const field = textOf(form);
  for (const [from, to, text] of hunks.toReversed()) {
    const height = field.scrollHeight;
    const isAbove = from < field.selectionStart || from < field.value.length / 2;
    steps.others(from, to, text.length);
    put(text, from, to);
    grow();
    if (isAbove && document.activeElement === field) scrollBy({ top: field.scrollHeight - height, behavior: "instant" });
  }
  steps.text = field.value;
};

// Puts the note's present text into the field; returns false if that must wait.
const takeOver = (fresh) => {
  const field = textOf(form);
  if (isComposing || isSending || base === null) return false;
  const mine = hunksBetween(base, field.value);
  const theirs = field.value === fresh.text ? [] : hunksBetween(base, fresh.text);
  if (theirs.some((one) => mine.some((other) => doTouch(base, one, other)))) return false;
  const shift = (place) => mine.reduce((sum, [from, to, text]) => (from < place ? sum + text.length - (to - from) : sum), place);
  const wanted = theirs.map(([from, to, text]) => [shift(from), shift(to), text]);
  if (wanted.length) {
    insert(wanted);
    tellOf(`${fresh.by} changed this note: it is in the text.`);
  }
  const name = `text-${fresh.blob}`;
  become({ action: fresh.edit, fields: { [name]: field.value } });
  base = fresh.text;
  shown = { ...fields(form), [name]: base };
  history.replaceState(null, "", root + fresh.edit + location.hash);
  keep();
  return true;
};

const follow = async () => {
  isBehind = false;
  const known = form.action.split("/").pop();
  const response = await fetch(`${root}/n/${form.dataset.note}/text?known=${known}`, {
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(10000),
  });
  if (response.status === 401) say(ended, "bad");
  if (response.status === 404) tellOf("Somebody deleted this note. What you type is kept: it brings the note back.");
  if (!response.ok) return;
  const fresh = await response.json();
  if (fresh.title !== undefined) document.querySelector("main h1").textContent = fresh.title;
  if (action(form).endsWith("/" + fresh.blob) || fresh.blob === known) return;
  // Conflict blocks are never put into the field while the user types.
  if (fresh.isInConflict && !base?.includes("<<<<<<<")) return showConflict();
  if (!takeOver(fresh)) isBehind = true;
};
let following = Promise.resolve();
const followSoon = () => (following = following.then(follow).catch(sayOffline));

// Reports others' changes at the lower edge, so that nothing else on the page moves.
let toast;
const tellOf = (words, ...more) => {
  document.getElementById("coming")?.remove();
  const note = element("p", { id: "coming", className: "toast" });
  note.setAttribute("role", "status");
  document.getElementById("main").append(note);
  note.append(words, ...more);
  clearTimeout(toast);
  if (!more.length) toast = setTimeout(() => note.remove(), 8000);
};
const showConflict = () => {
  const link = element("a", { href: `${root}/n/${form.dataset.note}/settle` }, "Choose");
  tellOf("You and somebody else changed the same words. Both texts are kept. ", link);
};

// Undo for text that was typed here. The browser's own undo history is lost whenever the script changes the
// field.
const steps = {
  past: [],
  future: [],
  text: "",
  typed(field) {
    const [old, now] = [this.text, field.value];
    const [at, end] = common(old, now);
    const step = { at, was: old.slice(at, old.length - end), is: now.slice(at, now.length - end), time: Date.now() };
    const last = this.past.at(-1);
    this.text = now;
    this.future = [];
    if (last && !step.was && last.at + last.is.length === at && step.time - last.time < 1000 && !/\n/.test(step.is))
      Object.assign(last, { is: last.is + step.is, time: step.time });
    else this.past.push(step);
    if (this.past.length > 500) this.past.shift();
  },
  // Others' changes move the steps that are after them in the text, and remove the steps that they overlap.
  others(from, to, length) {
    this.future = [];
    let place = from;
    for (let i = this.past.length - 1; i >= 0; i--) {
      const step = this.past[i];
      if (place + (to - from) <= step.at) step.at += length - (to - from);
      else if (place >= step.at + step.is.length) place += step.was.length - step.is.length;
      else return this.past.splice(0, i + 1);
    }
  },
  go(from, to, back) {
    const step = from.pop();
    if (!step) return;
    const field = textOf(form);
    const [old, fresh] = back ? [step.is, step.was] : [step.was, step.is];
    put(fresh, step.at, step.at + old.length);
    field.setSelectionRange(step.at + fresh.length, step.at + fresh.length);
    this.text = field.value;
    to.push(step);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  },
  undo() { this.go(this.past, this.future, true); },
  redo() { this.go(this.future, this.past, false); },
};

// The field grows with its text. A long text scrolls inside, so that a key press causes no layout of the whole page.
const grow = () => {
  const field = textOf(form);
  field.classList.toggle("long", isLong());
  if (isLong()) field.style.height = "";
  if (isLong() || CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
};

let loading = null;
let isStale = false;
// Returns whether the page is up to date.
const refresh = async (event) => {
  isStale = true;
  if (form && form.dataset.note !== "new") followSoon();
  // A page with a long text is fetched again only for the names of other editors.
  if (form && isLong() && event?.type === "changed") return;
  return (loading ??= reloadRegions().finally(() => (loading = null)));
};
const reloadRegions = async () => {
  let isFresh = false;
  try {
    while (isStale) {
      isStale = false;
      // The address of a page for editing names the version and text that the page first showed.
      const page = await load(location.href);
      if (!page) continue;
      delete document.body.dataset.kept;
      replace(page);
      isFresh = true;
    }
  } catch {
    sayOffline();
    return false;
  }
  return isFresh;
};

// Only a visible page follows the events: a browser has few connections for all its pages.
let events = null;
const [, noteShown] = location.pathname.slice(root.length).match(/^\/n\/(\w+)$/) ?? [];
let hasLeft = false;
const listen = () => {
  if (events || hasLeft || document.hidden) return;
  const note = form ? form.dataset.note : noteShown;
  const isNote = note && note !== "new";
  const source = new EventSource(root + "/events" + (isNote ? `?${form ? "edit" : "read"}=${note}` : ""));
  events = source;
  source.addEventListener("ready", () => {
    if (state.textContent.startsWith(noConnection) || state.textContent === ended) say("");
    sendRest();
    refresh();
  });
  source.addEventListener("changed", refresh);
  source.addEventListener("changed", keepTextsSoon);
  source.addEventListener("presence", (event) => {
    const isMeant = !event.data || location.pathname.startsWith(`${root}/n/${event.data}`);
    if (isMeant && document.querySelector("[data-presence]")) refresh(event);
  });
  source.addEventListener("error", async () => {
    if (source !== events) return;
    if (source.readyState !== EventSource.CLOSED) return sayOffline();
    // After an unusable response the browser does not reconnect by itself: the visitor may no longer be
    // admitted.
    events = null;
    setTimeout(listen, 3000);
    try {
      await load(location.href);
    } catch {
      sayOffline();
    }
  });
};
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return listen();
  if (form) saveNow();
  events?.close();
  events = null;
});

// All notes: if the page is an app, the browser stores their texts, up to a size that its user chooses.

const isApp = Boolean(document.body.dataset.app && navigator.serviceWorker && window.caches);
const texts = `notes:${root}:texts`;
const mostName = `notes-most:${root}`;
const mostKept = () => Number(localStorage.getItem(mostName) ?? 50e6);
const keptParts = async () => {
  const cache = await caches.open(texts);
  const parts = await cache.matchAll();
  return (await Promise.all(parts.map((part) => part.json()))).flat();
};
const sayKept = async () => {
  const hint = document.querySelector("#keeping .hint");
  if (!hint) return;
  const notes = await keptParts();
  const kept = notes.filter((note) => note.text !== undefined);
  const size = kept.reduce((sum, note) => sum + note.text.length, 0);
  hint.textContent = `${kept.length} of ${notes.length} notes are kept, ${(size / 1e6).toFixed(1)} MB, the newest first.`;
};
const keepTexts = async () => {
  const most = mostKept();
  const asked = await fetch(`${root}/texts?most=${most}`);
  if (!asked.ok) return;
  const cache = await caches.open(texts);
  for (const [digit, mark] of Object.entries(await asked.json())) {
    const place = `${root}/texts/${digit}`;
    const address = `${place}?most=${most}&mark=${mark}`;
    if (await cache.match(address)) continue;
    const response = await fetch(address);
    if (!response.ok) return;
    const body = await response.text();
    const former = await cache.match(place, { ignoreSearch: true });
    await cache.delete(place, { ignoreSearch: true });
    await cache.put(address, new Response(body, { headers: { Kept: Date.now() } }));
    // The stored pages of changed notes are fetched again.
    const blobs = new Map((former ? await former.json() : []).map((note) => [note.id, note.field]));
    for (const note of JSON.parse(body)) {
      const page = `${root}/n/${note.id}`;
      if (blobs.get(note.id) !== note.field && (await caches.match(page))) await fetch(page);
    }
  }
  notes = null;
  await sayKept();
};
let keepTimer;
const keepTextsSoon = () => {
  notes = null;
  clearTimeout(keepTimer);
  if (!isApp) return;
  keepTimer = setTimeout(
    () =>
      navigator.locks
        .request(texts, { ifAvailable: true }, (lock) => (lock ? keepTexts() : keepTextsSoon()))
        .catch((failure) => failure.name === "QuotaExceededError" && tell("This browser's storage is full: not all texts are kept.")),
    1000,
  );
};

// The notes for the filter: with the stored texts, otherwise with their titles.
let notes = null;
const allNotes = () => {
  notes ??= (async () => {
    let all = isApp ? await keptParts() : [];
    if (!all.length) all = await (await fetch(root + "/texts/all")).json();
    for (const note of all) note.words = `${note.folder} ${note.title} ${note.text ?? ""}`.toLowerCase();
    return all.sort((a, b) => b.time - a.time);
  })();
  notes.catch(() => (notes = null));
  return notes;
};
const isOffline = () => Boolean(document.body.dataset.kept) || state.dataset.is === "offline";
const missing = () => element("span", { className: "chip" }, "not on this device");
const row = document.createElement("template");
row.innerHTML =
  '<li><a class="row"><span class="row-top"><span class="row-title" dir="auto"></span></span>' +
  '<span class="row-text" dir="auto"></span><span class="row-meta"></span></a></li>';
const shownText = (text) => text.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
const rowOf = (note, word) => {
  const item = row.content.firstChild.cloneNode(true);
  const [link, title, text, meta] = ["a", ".row-title", ".row-text", ".row-meta"].map((part) => item.querySelector(part));
  link.href = `${root}/n/${note.id}`;
  title.textContent = shownText(note.title);
  const words = note.text?.slice(note.below) ?? "";
  text.textContent = shownText(words.slice(Math.max(0, words.toLowerCase().indexOf(word) - 40)).slice(0, 200));
  if (note.folder) meta.append(element("bdi", { className: "folder" }, shownText(note.folder)));
  if (note.text === undefined && isOffline()) meta.append(missing());
  return item;
};

// The filter: first by the texts and titles in the browser, then by all texts on the server.

const list = document.getElementById("notes");
const found = element("div", { className: "lists" });
const atOnce = 100;
const showAll = (hits, words, most, more = "") => {
  const rows = hits.slice(0, most).map((note) => rowOf(note, words[0] ?? ""));
  const onclick = () => showAll(hits, words, most + atOnce, more);
  found.replaceChildren(
    element("p", { className: "label" }, `${hits.length} note${hits.length === 1 ? "" : "s"}${more}`),
    element("ul", { className: "group notes" }, ...rows),
    ...(hits.length > most ? [element("button", { className: "btn", onclick }, `${hits.length - most} more`)] : []));
  if (!found.isConnected) list.after(found);
  list.hidden = true;
};
const showList = () => {
  found.remove();
  list.hidden = false;
};
const wordsOf = (search) => search.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
const filter = async (search) => {
  const words = wordsOf(search);
  const query = new URLSearchParams(new FormData(search));
  history.replaceState(null, "", words.length ? `${root}/?${query}` : `${root}/`);
  if (!words.length) return showList();
  const all = await allNotes().catch(() => []);
  // Another key may have been pressed in the meantime.
  if (String(words) !== String(wordsOf(search)) || !all.length) return;
  // If texts are missing, the result is incomplete.
  const isWhole = all.every((note) => note.text !== undefined);
  const more = isWhole ? "" : isOffline() ? ", in the texts that this browser keeps" : " so far, by title";
  showAll(all.filter((note) => words.every((word) => note.words.includes(word))), words, atOnce, more);
};

const search = document.querySelector("form.search");
// Filters while the user types; on a note's page the search opens the list instead.
if (search && list) {
  let timer;
  const ask = async () => {
    const address = location.href;
    // Without a connection the result from the browser's texts stays.
    const isFresh = await refresh();
    if (address !== location.href) return;
    if (isFresh) showList();
    else filter(search);
  };
  search.elements.q.addEventListener("focus", () => allNotes().catch(() => {}));
  search.addEventListener("input", () => {
    filter(search);
    clearTimeout(timer);
    timer = setTimeout(ask, 200);
  });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    filter(search);
    ask();
  });
}
// On a stored list, marks the notes that cannot be opened now, and shows further notes from the browser's texts.
const markMissing = async () => {
  const all = new Map((await allNotes()).map((note) => [`${root}/n/${note.id}`, note]));
  for (const link of document.querySelectorAll("#notes a.row")) {
    const place = link.getAttribute("href");
    if (all.get(place)?.text !== undefined || (await caches.match(place))) continue;
    link.querySelector(".row-meta").append(missing());
  }
  list.addEventListener("click", (event) => {
    if (!isOffline() || !event.target.closest(`a[href^="${root}/?"]`)) return;
    event.preventDefault();
    showAll([...all.values()], [], 2 * atOnce);
  });
};
// Escape closes an opened part, and leaves a page with a question.
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  // The browser closes a menu by itself.
  if (document.querySelector(".sheet:popover-open")) return;
  const opened = document.activeElement.closest("details[open]");
  if (!opened) return [...document.querySelectorAll("a[data-leave]")].at(-1)?.click();
  opened.open = false;
  opened.querySelector("summary").focus();
});

// Keys of the page: / searches, e edits, n begins a note, Ctrl-S and Ctrl-Enter save.
addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.ctrlKey || event.metaKey) {
    if (!form || !["s", "Enter"].includes(event.key)) return;
    event.preventDefault();
    return event.key === "s" ? saveNow() : form.requestSubmit();
  }
  if (event.altKey || event.target.closest("input, textarea")) return;
  const isSeen = (one) => one.checkVisibility();
  const target = event.key === "/"
    ? document.getElementById("q")
    : ["e", "n"].includes(event.key) && [...document.querySelectorAll(`[data-key=${event.key}]`)].find(isSeen);
  if (!target) return;
  event.preventDefault();
  if (target.id) target.focus();
  else target.click();
});

// A box changes at once, and then the tick is sent. Ticks of one page are sent one after the other, each based
// on the text after the one before. Without a connection they are stored like typed text.

const ticks = (box) => box.form.matches(".ticks");
const moved = new Map();
const show = (box) => box.setAttribute("aria-checked", box.getAttribute("aria-checked") !== "true");
let ticking = Promise.resolve();
const sendTick = async (tick) => {
  while (moved.has(tick.action)) Object.assign(tick, moved.get(tick.action));
  const draft = { action: tick.action, fields: { [tick.field]: tick.line } };
  const name = `${store}tick-${tick.action.split("/").pop()}-${tick.line}`;
  // Two ticks without a connection cancel out.
  if (draftAt(name)) return localStorage.removeItem(name);
  const keepTick = () => write(name, { ...draft, isSent: true, page: tick.page, title: tick.title });
  try {
    const response = await post(draft);
    if (response.ok) {
      const said = await response.json();
      if (said.tick) moved.set(tick.action, { action: said.tick, field: `line-${said.blob}` });
      return refresh();
    }
    if (isForLater(response)) keepTick();
    say(await refusal(response), "bad");
    refresh();
  } catch {
    keepTick();
    sendLater();
  }
};
addEventListener("click", (event) => {
  const box = event.target.closest("button.tick");
  if (!box || !ticks(box)) return;
  event.preventDefault();
  show(box);
  const tick = { action: action(box.form), field: box.name, line: box.value };
  tick.page = tick.action.split("/tick/")[0];
  tick.title = document.querySelector("main h1").textContent;
  ticking = ticking.then(() => sendTick(tick));
});
// Shows ticks that are not sent yet.
for (const box of document.querySelectorAll(".ticks button.tick"))
  if (draftAt(`${store}tick-${action(box.form).split("/").pop()}-${box.value}`)) show(box);

// The time left until an invitation expires.
const count = (span) => {
  const left = Math.max(0, span.dataset.ends - Math.floor(Date.now() / 1000));
  span.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
};
if (document.querySelector("[data-ends]"))
  setInterval(() => document.querySelectorAll("[data-ends]").forEach(count), 1000);

// Photos and files are sent in pieces, so that an interrupted upload can continue. The link is put below the
// line with the caret.

const smaller = async (file) => {
  const picture = await createImageBitmap(file).catch(() => null);
  const scale = picture && 2048 / Math.max(picture.width, picture.height);
  if (!picture || scale >= 1) return file;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height].map((side) => Math.round(side * scale));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const made = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
  return made ? new File([made], file.name.replace(/\.\w+$/, "") + ".jpg") : file;
};
const sendFile = async (file, keepsPlaces) => {
  const query = new URLSearchParams({ name: file.name, size: file.size, upload: crypto.randomUUID() });
  if (form.dataset.note !== "new") query.set("beside", form.dataset.note);
  if (keepsPlaces) query.set("places", "keep");
  for (let from = 0; ; ) {
    say(`Adding ${file.name}: ${Math.floor((100 * from) / file.size)} %`);
    query.set("from", from);
    const response = await fetch(`${root}/files/add?${query}`, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/octet-stream" },
      body: file.slice(from, from + (1 << 20)),
      signal: AbortSignal.timeout(60000),
    }).catch(() => null);
    if (!response || isForLater(response)) {
      say("Waiting for a connection to add the file. Leave the page open.", "offline");
      await new Promise((resolve) => setTimeout(resolve, 2000));
      continue;
    }
    if (!response.ok) throw new Error(await refusal(response));
    const said = await response.json();
    if (said.link) return said.link;
    from = said.from;
  }
};
const insertLink = async (link, last) => {
  const field = textOf(form);
  if (isComposing) await new Promise((resolve) => form.addEventListener("compositionend", resolve, { once: true }));
  const end = field.value.indexOf("\n", Math.max(field.selectionEnd, last ? field.value.indexOf(last) : 0));
  const place = end < 0 ? field.value.length : end;
  const isAlone = !place || field.value[place - 1] === "\n";
  put((isAlone ? "" : "\n") + link, place, place);
  // A new note is saved after its text is begun.
  if (form.dataset.note === "new") field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
let isAdding = false;
let adding = Promise.resolve();
const addFiles = (files) => {
  const [isSmaller, keepsPlaces] = ["smaller", "places"].map((id) => document.getElementById(id).checked);
  let last = "";
  for (const file of [...files])
    adding = adding.then(async () => {
      isAdding = true;
      try {
        const sent = isSmaller && /^image\/(?!gif)/.test(file.type) ? await smaller(file) : file;
        const link = await sendFile(sent, keepsPlaces);
        await insertLink(link, last);
        last = link;
      } catch (failure) {
        say("Not added", "bad");
        tellOf(`${file.name} was not added. ${failure.message}`);
      } finally {
        isAdding = false;
      }
    });
};

// Saves what was typed, and then opens a page.
let finish;
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("download")) return;
  if (link.hash && link.href.split("#")[0] === location.href.split("#")[0]) return;
  const isTyped = form !== null && isDirty() && mayBeSaved();
  const isThere = form === null && navigator.onLine && events?.readyState === EventSource.OPEN;
  if (!isTyped && (isThere || link.origin !== location.origin)) return;
  event.preventDefault();
  // Without a connection the browser keeps the text.
  if (isTyped) finish(link.href).finally(() => isDirty() && leaveFor(link.href));
  else leaveFor(link.href);
});
let answered = null;
addEventListener("submit", async (event) => {
  if (event.defaultPrevented || event.target === answered) return;
  event.preventDefault();
  if (!(await answers())) return;
  answered = event.target;
  event.target.requestSubmit(event.submitter);
  answered = null;
});

if (form) {
  const field = textOf(form);
  const undo = document.getElementById("undo");
  undo.hidden = false;
  undo.addEventListener("click", () => steps.undo());
  // The field keeps the focus, and a phone its keyboard.
  undo.addEventListener("pointerdown", (event) => event.preventDefault());
  // Everything is saved automatically, so the button only ends the editing.
  document.querySelector("[data-save]").textContent = "Done";
  form.addEventListener("input", () => {
    if (isChanging) return;
    isWaiting = false;
    if (field.value !== steps.text) steps.typed(field);
    undo.disabled = !steps.past.length;
    grow();
    // Text that was typed before a draft was found is stored at once.
    draftName ??= ownDraft();
    keepSoon();
    saveSoon();
  });
  form.addEventListener("compositionstart", () => (isComposing = true));
  form.addEventListener("compositionend", () => {
    isComposing = false;
    if (isBehind) followSoon();
    saveSoon();
  });
  form.addEventListener("focusout", saveNow);
  addEventListener("pagehide", () => {
    // A draft that waits to be sent keeps waiting.
    if (keeping) keep();
    saveNow();
  });
  const goBack = (event) => {
    const isRedo = event.inputType === "historyRedo" || event.key === "y" || event.shiftKey;
    event.preventDefault();
    if (isRedo) steps.redo();
    else steps.undo();
  };
  field.addEventListener("beforeinput", (event) => {
    if (event.inputType.startsWith("history") && !isChanging) goBack(event);
  });
  field.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y", "Z"].includes(event.key)) goBack(event);
  });
  const tools = document.getElementById("adding");
  const chosen = tools.querySelector("[type=file]");
  tools.hidden = false;
  chosen.addEventListener("change", () => {
    addFiles(chosen.files);
    chosen.value = "";
  });
  field.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    addFiles(event.clipboardData.files);
  });
  // Asks before the user leaves a page whose text could not be stored.
  addEventListener("beforeunload", (event) => {
    if ((!hasRoom && isDirty()) || isAdding) event.preventDefault();
  });
  const found = findDraft();
  finish = async (target) => {
    goal = target;
    await found;
    await adding;
    await following;
    if (isDirty()) return send();
    await leaveFor(target === "note" ? `${root}/n/${form.dataset.note}` : target, "replace");
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.note !== "new" || isDirty()) finish("note");
  });
  const name = await found;
  draftName ??= name;
  steps.text = field.value;
  if (isDirty()) {
    keep();
    saveSoon();
  } else offerDraft();
  steps.text = field.value;
  grow();
}
if (form)
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#" + form.dataset.note)) location.reload();
  });

// Copies the note's text, also in a browser without the new interface of the clipboard.
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", { value: text, className: "vh" });
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    if (!isDone) return tellOf("The browser did not allow it.");
  }
  tellOf("The text is copied.");
};
const copying = document.getElementById("copy");
if (copying) copying.hidden = false;
copying?.addEventListener("click", async () => {
  copying.closest("[popover]").hidePopover?.();
  const response = await fetch(copying.value, { headers: { Accept: "application/json" } }).catch(sayOffline);
  if (!response) return;
  if (!response.ok) return tellOf(await refusal(response));
  copy((await response.json()).text);
});

// When a guest leaves, the texts stored in this browser are deleted.

const leaving = document.querySelector("form[action$='/leave']");
leaving?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const response = await post({ action: action(leaving), fields: {} }, {});
    if (!response.ok) return say(await refusal(response));
    hasLeft = true;
    events?.close();
    for (const name of [mostName, ...namesOfDrafts()]) localStorage.removeItem(name);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.title = page.querySelector("h1").textContent;
    document.body.replaceWith(page.body);
    document.querySelector("h1").focus();
  } catch {
    sayOffline();
  }
});

// Opens the page without a connection.

const tell = (text) => {
  const told = document.getElementById("app");
  if (told) told.textContent = text;
};
if (isApp) {
  const worker = navigator.serviceWorker;
  worker
    .register(root + "/worker.js", { scope: root + "/" })
    .then(() => worker.ready)
    .then(() => tell("This browser already opens the page without a connection."))
    .then(keepTextsSoon)
    .catch(() => tell("This browser cannot open the page offline: install the certificate first."));
}
const most = document.getElementById("most");
if (most && isApp) {
  most.value = mostKept();
  most.closest("[hidden]").hidden = false;
  most.addEventListener("change", () => {
    localStorage.setItem(mostName, most.value);
    keepTextsSoon();
  });
  sayKept();
}
if (list && isApp && document.body.dataset.kept) markMissing().catch(() => {});
showDrafts();
// If the page for editing can no longer be shown, its draft is still shown.
const lost = !form && draftAt(store + location.hash.slice(1));
if (lost) {
  const text = element("textarea", { readOnly: true, rows: 20, value: lost.fields[textName(lost.fields)] ?? "" });
  text.setAttribute("aria-label", "What you typed");
  document.getElementById("main").append(text);
}
// A stored page is offline until the notebook answers.
if (document.body.dataset.kept) sayOffline();
listen();
