// What the page does beyond HTML: times in the reader's zone, and entries as
// they appear. It writes text only, and loads nothing but the stream.
"use strict";
(() => {
  const local = (t) => {
    const at = new Date(t.dateTime);
    if (isNaN(at)) return;
    t.title = t.textContent;
    t.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  };
  document.querySelectorAll("time:not([data-ago])").forEach(local);

  // Ages grow while the page is open.
  const ages = document.querySelectorAll("time[data-ago]");
  const age = (t) => {
    const seconds = Math.max(0, (Date.now() - new Date(t.dateTime)) / 1000);
    if (isNaN(seconds)) return;
    for (const [unit, one] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
      if (seconds >= 2 * one || one === 1) {
        t.textContent = Math.floor(seconds / one) + " " + unit + " ago";
        return;
      }
    }
  };
  ages.forEach((t) => (t.title = new Date(t.dateTime).toLocaleString()));
  if (ages.length) setInterval(() => ages.forEach(age), 5000);

  // What went wrong with a form is where the keyboard goes on.
  document.querySelector("[role=alert][tabindex]")?.focus();

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
  const root = new URL(document.querySelector(".brand a").href);
  const show = (e) => {
    const li = document.createElement("li");
    li.dataset.id = e.id;
    li.dataset.publisher = e.publisher;
    li.dataset.story = e.story;
    li.className = "fresh";
    li.dir = "auto";
    if (e.language) li.lang = e.language;
    const title = make("h4", "", li);
    const address = webAddress(e.url);
    const a = make(address ? "a" : "span", e.title, title);
    if (address) {
      a.href = address;
      a.rel = "noopener noreferrer nofollow";
    }
    const meta = make("p", "", li);
    meta.className = "meta";
    meta.lang = "en";
    meta.dir = "ltr";
    make("span", e.source, meta).title = "Published by the peer " + e.publisher;
    meta.append(" ");
    const theme = make("span", e.theme ? "" : "private", meta);
    if (e.theme) make("a", e.theme, theme).href = new URL("group/" + encodeURIComponent(e.theme), root).href;
    else theme.className = "private";
    meta.append(" ");
    const at = make("time", e.published, meta);
    at.dateTime = e.published;
    local(at);
    if (e.text) make("p", e.text, li);
    return li;
  };

  // The list.
  let began = false, before = list.firstChild;
  const copies = (id) => [...list.children].filter((li) => li.dataset.id === id);
  const find = (e) => copies(e.id).find((li) => li.dataset.publisher === e.publisher);

  // One story that several feeds tell is shown once: package duplicate says the
  // same in Go.
  const keys = (s) => {
    const [feed, link, content, claim, entry] = (s || "").split(".");
    return { feed, entry, link: link === "0" ? "" : link, content: content === "0" ? "" : content, claim: Number(claim) };
  };
  const tells = (a, b) => a.feed !== b.feed && a.entry !== b.entry && ((a.content && a.content === b.content) || (a.link && a.link === b.link));
  const hides = (a, b) => tells(a, b) && a.claim >= b.claim;
  const replaces = (b, a) => tells(a, b) && a.claim < b.claim;
  const drop = (li) => li.remove();
  const told = (e) => {
    const mine = keys(e.story), others = [...list.children].map((li) => [li, keys(li.dataset.story)]);
    if (others.some(([, theirs]) => hides(theirs, mine))) return true;
    for (const [li, theirs] of others) if (replaces(mine, theirs)) drop(li);
    return false;
  };

  const on = {
    entry(e) {
      const same = find(e);
      if (same) {
        if (began) same.replaceWith(show(e)); // a new version keeps its place
        return;
      }
      if (e.supersedes) copies(e.id).forEach(drop); // the site's copy, after mirrors'
      else if (!began && copies(e.id).length) return; // the page has what this peer held
      if (told(e)) return;
      document.getElementById("no-entries")?.remove();
      // A first answer comes newest first, and what follows oldest first.
      if (began) list.prepend(show(e));
      else list.insertBefore(show(e), before?.parentNode === list ? before : null);
      while (list.children.length > most) drop(list.lastElementChild);
    },
    retracted(e) {
      const own = find(e);
      if (own) drop(own);
      else copies(e.id).forEach(drop);
    },
    // A feed was added, or came to be reached, whose entries are no news.
    older(e) {
      list.prepend(make("li", e.count + (e.count === 1 ? " older entry of " : " older entries of ") + e.provider));
      while (list.children.length > most) drop(list.lastElementChild);
    },
    reach(e) {
      const note = document.getElementById("reach");
      if (note.textContent !== e.note) note.textContent = e.note;
      note.hidden = !e.note;
      live = e.note ? e.state : "Live";
      say(live);
    },
  };
  on.answered = on.unsatisfied = on.incomplete = () => (began = true);

  // The stream. A browser's own EventSource gives up for good at any answer but
  // 200, as a proxy in front gives while this peer restarts.
  const state = document.getElementById("live-state");
  const button = document.getElementById("live-pause");
  const longest = 60e3, silence = 45e3, longestAsked = 600e3; // milliseconds
  let last = "", retry = 3e3; // as the stream said
  let running = null, timer = 0, failures = 0, notBefore = 0, paused = false;
  let live = document.getElementById("reach").hidden ? "Live" : "Cut off";
  const say = (s) => { if (state.textContent !== s) state.textContent = s; };

  const happened = (block) => {
    let name = "", id = null, data = "";
    for (const line of block.split("\n")) {
      const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) || [];
      if (field === "event") name = value;
      else if (field === "id") id = value;
      else if (field === "data") data += value;
      else if (field === "retry" && /^\d+$/.test(value)) retry = Number(value);
    }
    if (on[name]) {
      on[name](JSON.parse(data));
      failures = 0;
    }
    if (id !== null) last = id; // what comes after it is still due
  };
  const asked = (header) => {
    if (!header) return;
    const wait = /^\d+$/.test(header) ? header * 1000 : new Date(header) - Date.now();
    if (wait > 0) notBefore = Date.now() + Math.min(wait, longestAsked);
  };
  const follow = async (mine) => {
    let quiet = setTimeout(() => mine.abort(), silence);
    try {
      const headers = last ? { Accept: "text/event-stream", "Last-Event-ID": last } : { Accept: "text/event-stream" };
      const answer = await fetch(list.dataset.stream, { headers, cache: "no-store", signal: mine.signal });
      if (!answer.ok || !/^text\/event-stream/.test(answer.headers.get("Content-Type"))) {
        asked(answer.headers.get("Retry-After"));
        if ([400, 414, 431].includes(answer.status)) last = ""; // perhaps the id is too long for a proxy: begin anew
        return;
      }
      before = list.firstChild;
      if (!last) began = false;
      say(live);
      const reader = answer.body.getReader(), decoder = new TextDecoder();
      for (let rest = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(quiet);
        quiet = setTimeout(() => mine.abort(), silence);
        const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) if (running === mine) happened(block);
      }
    } finally {
      clearTimeout(quiet);
      mine.abort();
    }
  };
  const open = () => {
    clearTimeout(timer);
    if (running || paused || document.hidden) return;
    const wait = notBefore - Date.now();
    if (wait > 0) {
      timer = setTimeout(open, wait);
      return;
    }
    const mine = (running = new AbortController());
    follow(mine).catch(() => {}).then(() => {
      if (running !== mine) return; // it was closed here
      running = null;
      say("Connection lost, trying again");
      timer = setTimeout(open, Math.min(longest, retry * 2 ** Math.min(failures++, 10)) * (0.5 + Math.random() / 2));
    });
  };
  const close = () => {
    clearTimeout(timer);
    const mine = running;
    running = null;
    mine?.abort();
  };
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Resume" : "Pause";
    say(paused ? "Paused" : "Connecting…");
    paused ? close() : open();
  });
  // A page that nobody sees gives its connection back, and goes on from there.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("online", open);
  document.getElementById("live").hidden = false;
  say("Connecting…");
  open();
})();
