// What makes the pages live. All of them work without it.
const root = document.body.dataset.root;
const state = document.getElementById("state");
const form = document.querySelector("form.edit[data-note]");
// A guest's own are not sent by another's page in the same browser.
const store = `notes-draft:${document.body.dataset.drafts}:`;

const say = (text) => {
  if (state.textContent !== text) state.textContent = text;
};

// Drafts: what is typed stays in the browser until the notebook has it.

const fields = (form) => Object.fromEntries(new FormData(form));
const action = (form) => form.getAttribute("action").slice(root.length);
const textOf = (form) => form.querySelector("textarea");
// A form is for the version that its text was shown with: what it holds goes with its action and the name of its
// field, and never into another text's form.
const become = (other) => {
  form.setAttribute("action", root + other.action);
  for (const [name, value] of Object.entries(other.fields)) {
    const field = name.startsWith("text") ? textOf(form) : form.elements.namedItem(name);
    if (!field) continue;
    field.name = name;
    if (field.value !== value) field.value = value;
  }
};
const isOf = (page) => ({ action: action(page), fields: fields(page) });
// The server's, not what a browser has filled in again.
const fieldsAsSent = (form) =>
  Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.defaultValue]));
let shown = form && JSON.stringify(fieldsAsSent(form));
const isDirty = () => form !== null && JSON.stringify(fields(form)) !== shown;

const namesOfDrafts = () => Object.keys(localStorage).filter((name) => name.startsWith(store));
const draftAt = (name) => JSON.parse(localStorage.getItem(name));
// One page at a time has a draft, as long as it is shown: another one begins its own.
const take = (name, options) =>
  new Promise((resolve) => {
    if (!navigator.locks) return resolve(true);
    const hold = () => {
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(`${name} is open`, options, hold).catch(() => resolve(false));
  });
const ownDraft = () => {
  const own = `${store}${form.dataset.note}-${Date.now()}`;
  take(own, {});
  return own;
};
// Where this form's draft is: where the address says, or else the last one of this note.
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
    // A page that was left a moment ago has its draft for a moment more.
    const isFree = await take(name, { signal: AbortSignal.timeout(500) });
    const kept = draftAt(name);
    const isSame = () => JSON.stringify(isOf(form)) === JSON.stringify({ action: kept.action, fields: kept.fields });
    if (isFree && (!isDirty() || !kept || isSame())) return name;
  }
  return ownDraft();
};

// Whether the browser had room for what was to be kept last.
let hasRoom = true;
const sayFull = () => say("This browser has no room left: what you type here is kept nowhere until you save.");
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
// Returns whether it is kept.
const keep = (isSent) => {
  if (!draftName) return false;
  if (!isDirty() && !isSent) {
    localStorage.removeItem(draftName);
    return false;
  }
  const title = form.elements.title?.value || document.querySelector("h1").textContent.replace(/ – edit$/, "");
  const draft = { action: action(form), fields: fields(form), isSent, title };
  return write(draftName, draft);
};
// A new note that is to be saved makes room for the next one.
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

const post = (draft, headers = { Accept: "application/json" }) =>
  fetch(root + draft.action, {
    method: "POST",
    headers,
    body: new URLSearchParams(draft.fields),
    signal: AbortSignal.timeout(30000),
  });

const noConnection = "No connection. ";
const sayOffline = () => {
  const time = Number(document.body.dataset.kept);
  const age = time ? `This page is of ${new Date(time).toLocaleString("sv").slice(0, 16)}. ` : "";
  const kept = hasRoom
    ? "What you type is kept in this browser, and sent when it is back."
    : "This browser has no room for what you type: leave the page open.";
  say(noConnection + age + kept);
};
const ended =
  "This page is shown no more: 'notes web' has ended, or you are no guest any more. What you typed is kept in this browser.";

const refusal = async (response) => {
  if (response.status === 401) return ended;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector("[role=alert]")?.textContent ?? "Not saved.";
};
// Sent again later: nobody is let in, or too much was asked.
const isForLater = (response) => [401, 429, 503].includes(response.status);

// What is kept of other notes is named on each page.
const showDrafts = () => {
  document.getElementById("drafts")?.remove();
  const names = namesOfDrafts().filter((name) => name !== draftName);
  if (!names.length) return;
  const list = document.createElement("p");
  list.id = "drafts";
  list.className = "coming";
  list.append("Not saved yet: ");
  for (const name of names.sort()) {
    const { action, title } = draftAt(name);
    const link = document.createElement("a");
    link.href = `${root}${action}#${name.slice(store.length)}`;
    link.textContent = title;
    list.append(name === names[0] ? "" : ", ", link);
  }
  document.getElementById("main").prepend(list);
};

// One page at a time sends, and one try is planned.
const alone = (work) => (navigator.locks ? navigator.locks.request(store, work) : work());
let retry;
const sendLater = () => {
  sayOffline();
  clearTimeout(retry);
  retry = setTimeout(sendRest, 2000);
};

// What was typed while a save was on its way is an edit of what was sent, whatever that was merged with.
const goOn = (said, sent) => {
  localStorage.removeItem(draftName);
  const typed = fields(form);
  const rename = (values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.startsWith("text") ? said.field : name, value]));
  become({ action: said.edit, fields: rename(typed) });
  form.dataset.note = said.note;
  draftName = store + form.dataset.note;
  if (form.elements.title) form.elements.title.readOnly = true;
  history.replaceState(null, "", root + said.edit);
  shown = JSON.stringify(rename(sent));
  keep(false);
};

let isSending = false;
// What this page was to save, and could not. Another page may have sent it; it makes no second version.
let isWaiting = false;
const sendOwn = async () => {
  if (isSending) return;
  isSending = isWaiting = true;
  keepApart();
  keep(true);
  const before = JSON.stringify(fields(form));
  try {
    const response = await post({ action: action(form), fields: JSON.parse(before) });
    isWaiting = isForLater(response);
    if (!response.ok) {
      keep(isWaiting);
      return say(await refusal(response));
    }
    const said = await response.json().catch(() => null);
    if (said && JSON.stringify(fields(form)) !== before) {
      if (said.edit) goOn(said, JSON.parse(before));
      else keep(false);
      return say("Saved, but for what you typed since.");
    }
    localStorage.removeItem(draftName);
    shown = before;
    // Back leads to the page before this one, and not to a text that is saved.
    location.replace(said ? `${root}${said.page}?done=${said.done}` : response.url);
  } catch {
    sendLater();
  } finally {
    isSending = false;
  }
};

// What was to be saved while there was no connection, on whatever page it was.
const sendKept = async () => {
  if (isWaiting) await sendOwn();
  for (const name of namesOfDrafts()) {
    const draft = draftAt(name);
    if (!draft?.isSent) continue;
    if (name === draftName) {
      if (!isWaiting) await sendOwn();
      continue;
    }
    try {
      const response = await post(draft);
      if (response.ok) {
        localStorage.removeItem(name);
        say("Saved what was typed while there was no connection.");
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
// Pressed again meanwhile, it sends nothing more.
let isAsked = false;
const send = async () => {
  if (isAsked) return;
  isAsked = true;
  await alone(sendOwn).finally(() => (isAsked = false));
};
const sendRest = () => alone(sendKept);

const offerDraft = () => {
  const kept = draftAt(draftName);
  if (!kept) return;
  const former = isOf(form);
  const typed = Object.entries(kept.fields);
  const isSaved = typed.every(([name, value]) => (name.startsWith("text") ? textOf(form).value : former.fields[name]) === value);
  if (isSaved) return localStorage.removeItem(draftName);
  become(kept);
  const note = document.createElement("p");
  note.className = "coming";
  note.textContent = "This is what you typed and did not save. ";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Drop it";
  button.addEventListener("click", () => {
    become(former);
    localStorage.removeItem(draftName);
    isWaiting = false;
    note.remove();
  });
  note.append(button);
  form.before(note);
};

// What others write appears by itself, but never under somebody's fingers.

const load = async (address) => {
  const response = await fetch(address);
  if (response.status === 401) say(ended);
  if (response.status === 503) sayOffline();
  if (!response.ok) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
};

// What is the same before and behind the change stays as it is, with the focus and what is marked in it.
const change = (old, fresh) => {
  const [was, is] = [[...old.childNodes], [...fresh.childNodes]];
  const isSame = (a, b) => a && b && a.isEqualNode(b);
  while (isSame(was[0], is[0])) was.shift(), is.shift();
  while (isSame(was.at(-1), is.at(-1))) was.pop(), is.pop();
  const [a, b] = [was[0], is[0]];
  if (was.length === 1 && is.length === 1 && a.nodeName === b.nodeName && a.id === b.id && a.children?.length)
    if (a.cloneNode().isEqualNode(b.cloneNode())) return change(a, b);
  const place = old.insertBefore(document.createTextNode(""), a ?? null);
  for (const node of was) node.remove();
  place.replaceWith(...is);
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
    // What had the focus is gone: the next Tab goes on from where it was.
    if (!same) region.tabIndex = -1;
    (same || region).focus({ preventScroll: true });
  }
};

const showComing = () => {
  let note = document.getElementById("coming");
  if (!note) {
    note = document.createElement("p");
    note.id = "coming";
    note.className = "coming";
    note.setAttribute("role", "status");
    form.before(note);
  }
  note.textContent =
    "Somebody changed this note meanwhile. When you save, both changes are merged.";
};

const blobOf = (page) => action(page).split("/").at(-1);
const follow = (page) => {
  const fresh = page.querySelector("form.edit[data-note]");
  if (!fresh || blobOf(fresh) === blobOf(form)) return;
  if (isDirty() || form.contains(document.activeElement)) return showComing();
  become(isOf(fresh));
  shown = JSON.stringify(fields(form));
  if (form.dataset.note !== "new") history.replaceState(null, "", root + action(form) + location.hash);
  document.getElementById("coming")?.remove();
};

let isLoading = false;
let isStale = false;
const refresh = async () => {
  // The address of a page for editing is for ever that of the text that it showed.
  const isOfNote = form && form.dataset.note !== "new";
  isStale = true;
  if (isLoading) return;
  isLoading = true;
  try {
    while (isStale) {
      isStale = false;
      const page = await load(isOfNote ? `${root}/n/${form.dataset.note}/edit` : location.href);
      if (!page) continue;
      delete document.body.dataset.kept;
      replace(page);
      if (form) follow(page);
    }
  } catch {
    sayOffline();
  } finally {
    isLoading = false;
  }
};

// Only a page that is seen listens: a browser has few connections for all that it shows.
let events = null;
let hasLeft = false;
const listen = () => {
  if (events || hasLeft || document.hidden) return;
  const isNote = form && form.dataset.note !== "new";
  const source = new EventSource(root + "/events" + (isNote ? `?edit=${form.dataset.note}` : ""));
  events = source;
  source.addEventListener("ready", () => {
    if (state.textContent.startsWith(noConnection) || state.textContent === ended) say("");
    sendRest();
    refresh();
  });
  source.addEventListener("changed", refresh);
  source.addEventListener("presence", () => {
    if (document.querySelector("[data-presence]")) refresh();
  });
  source.addEventListener("error", async () => {
    if (source !== events) return;
    if (source.readyState !== EventSource.CLOSED) return sayOffline();
    // The browser does not try again by itself after a response that it could not use: it may be that
    // nothing is shown to it any more.
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
  events?.close();
  events = null;
});

// The filter: at once by title, then by what the notes hold.

const filter = (search) => {
  const words = search.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll(".notes > li")) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
  const query = new URLSearchParams(new FormData(search));
  history.replaceState(null, "", words.length ? `${root}/?${query}` : `${root}/`);
};

const search = document.querySelector("form.search");
if (search) {
  let timer;
  search.addEventListener("input", () => {
    filter(search);
    clearTimeout(timer);
    timer = setTimeout(refresh, 200);
  });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    filter(search);
    refresh();
  });
}
// Escape closes what was opened, and leaves a page that asks.
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const opened = document.activeElement.closest("details[open]");
  if (!opened) return document.querySelector("a[data-leave]")?.click();
  opened.open = false;
  opened.querySelector("summary").focus();
});

// How long an invitation is open yet.
const count = (span) => {
  const left = Math.max(0, span.dataset.ends - Math.floor(Date.now() / 1000));
  span.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
};
if (document.querySelector("[data-ends]"))
  setInterval(() => document.querySelectorAll("[data-ends]").forEach(count), 1000);

if (form) {
  form.addEventListener("input", () => {
    isWaiting = false;
    // What is typed before a draft is found is kept at once.
    draftName ??= ownDraft();
    keep(false);
  });
  // Whoever leaves what is kept nowhere is asked.
  addEventListener("beforeunload", (event) => {
    if (!hasRoom && isDirty()) event.preventDefault();
  });
  const found = findDraft();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await found;
    send();
  });
  const name = await found;
  draftName ??= name;
  if (isDirty()) keep(false);
  else offerDraft();
}
if (form)
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#" + form.dataset.note)) location.reload();
  });

// A guest who leaves takes along what is kept here.

const leaving = document.querySelector("form[action$='/leave']");
leaving?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const response = await post({ action: action(leaving), fields: {} }, {});
    if (!response.ok) return say(await refusal(response));
    hasLeft = true;
    events?.close();
    for (const name of namesOfDrafts()) localStorage.removeItem(name);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.title = page.querySelector("h1").textContent;
    document.body.replaceWith(page.body);
    document.querySelector("h1").focus();
  } catch {
    sayOffline();
  }
});

// What opens the page without a connection.

const tell = (text) => {
  const told = document.getElementById("app");
  if (told) told.textContent = text;
};
if (document.body.dataset.app) {
  const worker = navigator.serviceWorker;
  worker
    ?.register(root + "/worker.js", { scope: root + "/" })
    .then(() => worker.ready)
    .then(() => tell("In this browser it opens without a connection already."))
    .catch(() => tell("This browser does not know the certificate, so it does not open without a connection."));
}
showDrafts();
// The page that a text was typed in cannot be shown any more: the text can.
const lost = !form && draftAt(store + location.hash.slice(1));
if (lost) {
  const text = document.createElement("textarea");
  text.readOnly = true;
  text.rows = 20;
  text.setAttribute("aria-label", "What you typed");
  text.value = Object.entries(lost.fields).find(([name]) => name.startsWith("text"))?.[1] ?? "";
  document.getElementById("main").append(text);
}
// Until the notebook answers.
if (document.body.dataset.kept) sayOffline();
listen();
