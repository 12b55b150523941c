// Keeps parts of a page up to date. A part is an element with an id and the attribute
// data-live: the address of a stream (docs/accounts.md, "Pages"). When the stream tells
// of something, the page is read anew and its parts are exchanged. A part in which the
// reader types, or has opened a form, is left alone. A part with the attribute data-every,
// of which no stream tells, is read anew every so many seconds while it has it. The bell
// asks the address in its attribute data-count for its number. Without this script the page
// shows what was so when it was loaded, the bell is a link, and times have the zone of the
// server.
(() => {
  "use strict";

  // Times are shown in the reader's zone, with its name.
  const zoned = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  const spoken = document.documentElement.lang;
  const written = new Intl.DateTimeFormat(spoken === "en" ? "en-GB" : spoken, zoned);
  function localise(within) {
    for (const time of within.querySelectorAll("time[datetime*='T']")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = written.format(at);
    }
  }
  localise(document);

  // A menu that is wider than the window begins with the page that is shown.
  const menu = document.querySelector(".menu");
  const here = menu?.querySelector("[aria-current]");
  if (here) menu.scrollLeft = here.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;

  const names = ["message", "status", "step", "order", "notification", "deleted", "all_read", "reset"];
  const pause = 1000; // ms between two readings
  const parts = [...document.querySelectorAll("[data-live][id], [data-every][id]")];
  const bell = document.querySelector("[data-count]");
  const addresses = [...new Set([...parts, bell].map((part) => part?.dataset.live).filter(Boolean))];
  const policy = window.trustedTypes?.createPolicy("hostpanel-live", { createHTML: (text) => text });
  const parsed = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
  const isInUse = (part) => part.contains(document.activeElement) || [...part.querySelectorAll("details[open]")].some((d) => d.querySelector("form"));

  let isDue = false;
  let isReading = false;
  async function read() {
    isDue = true;
    if (isReading) return;
    isReading = true;
    while (isDue) {
      isDue = false;
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
        if (answer.ok) exchange(parsed(await answer.text()));
      } catch {
        // the stream tells again
      }
      await new Promise((done) => setTimeout(done, pause));
    }
    isReading = false;
  }

  async function count() {
    if (!bell) return;
    try {
      const answer = await fetch(bell.dataset.count, { headers: { Accept: "application/json" } });
      const { unread_count: unread } = await answer.json();
      bell.querySelector(".number").textContent = unread > 0 ? (unread > 99 ? "99+" : String(unread)) : "";
    } catch {
      // the stream tells again
    }
  }

  function exchange(page) {
    for (const { id } of parts) {
      const old = document.getElementById(id);
      const now = page.getElementById(id);
      if (now) localise(now);
      if (old && now && !isInUse(old) && old.outerHTML !== now.outerHTML) old.replaceWith(document.adoptNode(now));
    }
  }

  // Browsers have few connections for one server, so hidden pages give theirs back.
  let streams = [];
  function follow() {
    for (const stream of streams) stream.close();
    streams = document.hidden ? [] : addresses.map((address) => {
      const stream = new EventSource(address);
      for (const name of names) {
        if (parts.some((part) => part.dataset.live === address)) stream.addEventListener(name, read);
        if (bell?.dataset.live === address) stream.addEventListener(name, count);
      }
      return stream;
    });
  }

  // A part that no stream tells of says how soon to look again, until it is done.
  function wait() {
    const part = document.querySelector("[data-every][id]");
    if (part) setTimeout(() => (document.hidden ? Promise.resolve() : read()).then(wait), 1000 * part.dataset.every);
  }
  wait();

  if (!addresses.length || !window.EventSource) return;
  document.addEventListener("visibilitychange", () => {
    follow();
    if (document.hidden) return;
    count();
    if (parts.length) read();
  });
  follow();
})();
