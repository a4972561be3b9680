// Stores the pages that a guest has opened, for use without a connection: notes-security(7), "The page as an
// app". The line `version` in front of it distinguishes these files from those of another release.
const root = new URL(self.registration.scope).pathname.replace(/\/$/, "");
const own = `notes:${root}:`;
const name = own + version;
const shell = ["/style.css", "/page.js", "/icon.svg"].map((file) => root + file);
const first = ["/", "/new", "/kept", "/kept/edit"].map((page) => root + page);
// The page's script stores the texts of all notes there.
const texts = own + "texts";
const note = /^\/n\/[0-9a-f]{12}(\/edit|\/versions)?$/;
const image = /^\/files\/[0-9a-f]{12}\/bytes$/;
const mostNotes = 200;
const [mostImages, largestImage] = [100, 5 << 20];
const patience = 3000;

const isImage = (path) => image.test(path.slice(root.length));
const isPage = (path) => first.includes(path) || note.test(path.slice(root.length));
// Without a connection a page for editing is shown as it was stored: its form belongs to the text that it shows.
const kept = (path) => caches.match(path.replace(/(\/edit)\/[0-9a-f]+\/[0-9a-f]+$/, "$1"), { cacheName: name });
const ownCaches = async () => (await caches.keys()).filter((other) => other.startsWith(own));

const formerCaches = async () => (await ownCaches()).filter((other) => other !== name && other !== texts);

// The guest was removed, or has left: all open pages are replaced.
let isGone = false;
const forget = async () => {
  isGone = true;
  for (const cache of await ownCaches()) await caches.delete(cache);
  await self.registration.unregister();
};

const store = async (path, response) => {
  if (response.status === 401) return forget();
  // The page for editing has another address for each text.
  if (isGone || (response.redirected && !pathOf(response).startsWith(path + "/"))) return;
  const cache = await caches.open(name);
  if ([403, 404, 409].includes(response.status)) return cache.delete(path);
  if (response.status !== 200) return;
  let { body } = response;
  // The page shows its age. Only the tag contains `<body`, as all texts are escaped.
  if (isPage(path))
    body = (await response.text()).replace("<body ", `<body data-kept="${Date.now()}" `);
  const headers = new Headers(response.headers);
  headers.delete("Content-Length");
  // Older pages are removed only after the new one is stored.
  await cache.put(path, new Response(body, { headers }));
  const notes = (await cache.keys()).filter((request) => note.test(pathOf(request).slice(root.length)));
  for (const old of notes.slice(0, -mostNotes)) await cache.delete(old);
  const images = (await cache.keys()).filter((request) => isImage(pathOf(request)));
  for (const old of images.slice(0, -mostImages)) await cache.delete(old);
  if (isGone) await caches.delete(name);
};

const pathOf = (request) => new URL(request.url).pathname;
const fetchAndStore = async (path) => store(path, await fetch(path));

// For an opened note, the page for editing is stored, too.
const keep = async (url, response) => {
  const path = url.pathname;
  if (response.status === 401) return forget();
  const isSmall = Number(response.headers.get("Content-Length")) <= largestImage;
  if (!isPage(path) && !shell.includes(path) && !(isImage(path) && isSmall)) return;
  // Not a search result, and not a page with a message such as "Saved.".
  if (!url.search) await store(path, response);
  else if (url.searchParams.has("done")) await fetchAndStore(path);
  else return;
  const isText = note.test(path.slice(root.length)) && path.split("/").length === 4;
  if (isText) await fetchAndStore(path + "/edit");
};

// If a note's page is not stored, it is made from the note's text. Hidden characters are shown as escapes, unlike
// in a field, so no text can hide or reorder the text around it.
const escaped = (text) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt()};`);
const seen = (text) =>
  escaped(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) =>
    /[\t\n\u200c\u200d]/.test(letter) ? letter : `\\u{${letter.codePointAt().toString(16)}}`);
const make = async (path) => {
  const [, id, isEditor] = path.slice(root.length).match(/^\/n\/([0-9a-f]{12})(\/edit(?:\/.*)?)?$/) ?? [];
  const part = id && (await caches.match(`${root}/texts/${id[0]}`, { cacheName: texts, ignoreSearch: true }));
  const note = part && (await part.clone().json()).find((note) => note.id === id);
  const frame = await caches.match(`${root}/kept${isEditor ? "/edit" : ""}`, { cacheName: name });
  if (note?.text === undefined || !frame) return undefined;
  const values = {
    TITLE: seen(note.title), TEXT: isEditor ? escaped(note.text) : seen(note.text.slice(note.below)), ID: id,
    EDIT: note.edit, FIELD: note.field, STYLE: note.below ? "vh" : "edited",
  };
  const body = (await frame.text())
    .replace(/KEPT-(TITLE|TEXT|ID|EDIT|FIELD|STYLE)/g, (_, value) => values[value])
    .replace(/data-kept="\d+"/, `data-kept="${part.headers.get("Kept")}"`);
  return new Response(body, { headers: frame.headers });
};

const page = (title, text) =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
      '<meta name="viewport" content="width=device-width, initial-scale=1">' +
      `<link rel="stylesheet" href="${root}/style.css"></head>` +
      `<body class="one"><main class="page"><h1>${title}</h1><p>${text}</p>` +
      `<p><a class="btn" href="${root}/">The notes that are kept here</a></p></main></body></html>`,
    {
      status: 503,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": "default-src 'none'; style-src 'self'",
      },
    },
  );

const show = async (event, url) => {
  const network = fetch(event.request);
  const storing = network.then((response) => keep(url, response.clone()));
  event.waitUntil(storing.catch(() => {}));
  const isShown = event.request.mode === "navigate";
  // A request by a script must fail if there is no connection.
  const mayBeOld = isShown || shell.includes(url.pathname) || isImage(url.pathname);
  const old = mayBeOld && !isGone && ((await kept(url.pathname)) || (isShown && (await make(url.pathname))));
  if (old) {
    const late = new Promise((resolve) => setTimeout(resolve, patience));
    const response = await Promise.race([network, late]).catch(() => undefined);
    // The notebook is unavailable, or there are too many requests.
    return !response || response.status === 503 ? old : response;
  }
  return network.catch((failure) => {
    if (!isShown) throw failure;
    return page("Offline", "Not available offline: this page is not kept in this browser.");
  });
};

const submit = async (request, path) => {
  try {
    const response = await fetch(request);
    if (path === root + "/leave" && response.ok) await forget();
    return response;
  } catch (failure) {
    if (request.mode !== "navigate") throw failure;
    return page("Offline", "Nothing was changed. Try again when you are online.");
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin || !url.pathname.startsWith(root + "/")) return;
  // Only images are stored, not sound, video or downloads.
  if (isImage(url.pathname) && request.destination !== "image") return;
  if (request.method === "GET" && url.pathname !== root + "/events") {
    event.respondWith(show(event, url));
  } else if (request.mode === "navigate" || url.pathname === root + "/leave") {
    event.respondWith(submit(request, url.pathname));
  }
});

// Pages stored by another release are fetched again.
const install = async () => {
  const paths = new Set([...shell, ...first]);
  for (const other of await formerCaches()) {
    for (const request of await (await caches.open(other)).keys()) paths.add(pathOf(request));
  }
  for (const path of paths) await fetchAndStore(path);
  await self.skipWaiting();
};

const activate = async () => {
  for (const other of await formerCaches()) await caches.delete(other);
  await self.clients.claim();
  for (const client of await self.clients.matchAll()) {
    const url = new URL(pathOf(client), location);
    // Not awaited: no page is shown until this handler ends.
    fetch(url).then((response) => keep(url, response)).catch(() => {});
  }
};

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
