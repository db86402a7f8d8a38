// What the page does beyond HTML: times in the reader's zone, and entries as
// they appear. It writes text only, and loads nothing but the stream.
"use strict";
(() => {
  const excerpt = 280;

  const local = (t) => {
    const at = new Date(t.dateTime);
    if (isNaN(at)) return;
    t.title = t.textContent;
    t.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  };
  document.querySelectorAll("time").forEach(local);

  const list = document.getElementById("entries");
  if (!list || !list.dataset.stream) return;
  const most = list.children.length + 100; // entries in the list

  const make = (tag, text, parent) => {
    const e = document.createElement(tag);
    if (text) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  const webAddress = (s) => {
    try {
      const u = new URL(s);
      return u.protocol === "http:" || u.protocol === "https:" ? u.href : "";
    } catch {
      return "";
    }
  };
  const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
  const plain = (s) =>
    s.slice(0, 8192)
      .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ")
      .replace(/<\/?[a-z!][^>]*>/gi, " ")
      .replace(/&(\w+);/g, (all, name) => named[name] || all)
      .replace(/\s+/g, " ")
      .trim();
  const show = (e) => {
    const li = document.createElement("li");
    li.dataset.id = e.id;
    li.className = "fresh";
    li.dir = "auto";
    if (e.language) li.lang = e.language;
    const title = make("h4", "", li);
    const address = webAddress(e.url);
    const a = make(address ? "a" : "span", (e.title || "").trim() || e.url || "Untitled", title);
    if (address) {
      a.href = address;
      a.rel = "noopener noreferrer nofollow";
    }
    const meta = make("p", "", li);
    meta.className = "meta";
    meta.lang = "en";
    meta.dir = "ltr";
    make("span", e.provider, meta);
    meta.append(" ");
    const theme = make("span", e.theme ? "" : "private", meta);
    if (e.theme) make("a", e.theme, theme).href = new URL("group/" + encodeURIComponent(e.theme), root).href;
    else theme.className = "private";
    meta.append(" ");
    const at = make("time", e.published, meta);
    at.dateTime = e.published;
    local(at);
    let text = plain(e.summary || e.content_html || "");
    if ([...text].length > excerpt) text = [...text].slice(0, excerpt).join("").trim() + "…";
    if (text) make("p", text, li);
    return li;
  };

  const root = new URL(document.querySelector(".brand a").href);
  const state = document.getElementById("live-state");
  const button = document.getElementById("live-pause");
  const shown = new Set([...list.children].map((li) => li.dataset.id));
  let source = null, last = "", paused = false, began = false, before = list.firstChild;

  const say = (s) => { if (state.textContent !== s) state.textContent = s; };
  const add = (message) => {
    if (message.lastEventId) last = message.lastEventId;
    const e = JSON.parse(message.data);
    if (shown.has(e.id)) {
      if (began) find(e.id)?.replaceWith(show(e)); // a new version keeps its place
      return;
    }
    shown.add(e.id);
    document.getElementById("no-entries")?.remove();
    // A first answer comes newest first, and what follows oldest first.
    if (began) list.prepend(show(e));
    else list.insertBefore(show(e), before?.parentNode === list ? before : null);
    while (list.children.length > most) {
      shown.delete(list.lastElementChild.dataset.id);
      list.lastElementChild.remove();
    }
  };
  const find = (id) => [...list.children].find((li) => li.dataset.id === id);
  const retract = (message) => {
    if (message.lastEventId) last = message.lastEventId;
    const id = JSON.parse(message.data).id;
    find(id)?.remove();
    shown.delete(id);
  };
  const whole = (message) => {
    if (message.lastEventId) last = message.lastEventId;
    began = true;
  };
  const open = () => {
    if (source || paused) return;
    const address = new URL(list.dataset.stream, location.href);
    if (last) address.searchParams.set("lastEventId", last);
    before = list.firstChild;
    source = new EventSource(address);
    source.onopen = () => say("Live");
    source.onerror = () => {
      say("Connecting…");
      if (source.readyState === EventSource.CLOSED) close();
    };
    source.addEventListener("entry", add);
    source.addEventListener("retracted", retract);
    for (const name of ["answered", "unsatisfied", "incomplete"]) source.addEventListener(name, whole);
  };
  const close = () => {
    if (source) source.close();
    source = null;
  };
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) { close(); say("Paused"); } else open();
  });
  // A page that nobody sees gives its connection back, and goes on from there.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  document.getElementById("live").hidden = false;
  say("Connecting…");
  if (!document.hidden) open();
})();
