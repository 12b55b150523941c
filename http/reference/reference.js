// Adds to the reference what needs a script: search, copying, and trying calls out.
// The page is complete without it.
"use strict";

const h = (tag, attributes, ...children) => {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") el.addEventListener(name, value);
    else if (value != null && value !== false) el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...children.flat().filter((child) => child != null && child !== false));
  return el;
};
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
let numbered = 0;

// ---- anchors ---------------------------------------------------------------

// show opens what an address names.
const show = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let el = target; el; el = el.parentElement?.closest("details")) if (el.tagName === "DETAILS") el.open = true;
  target.closest("details")?.setAttribute("open", "");
  (target.closest(".operation") || target).scrollIntoView();
};
addEventListener("hashchange", show);

const narrow = matchMedia("(max-width: 60rem)");
if (narrow.matches) document.querySelector("nav details").open = false;

// ---- search ----------------------------------------------------------------

const operations = all(".operation"), sections = all("main section"), found = document.getElementById("found");
const texts = new Map(operations.map((op) => {
  const summary = op.querySelector("summary").textContent, id = op.querySelector(".inside").id;
  return [op, (summary + " " + id + " " + all(".rows > div[data-name]", op).map((row) => row.dataset.name).join(" ")).toLowerCase()];
}));
const find = (typed) => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const [op, text] of texts) {
    op.hidden = !words.every((word) => text.includes(word));
    if (!op.hidden) shown++;
  }
  for (const section of sections) section.hidden = words.length > 0 && !section.querySelector(".operation:not([hidden])");
  found.textContent = !words.length ? "" : shown === 1 ? "1 match" : shown + " matches";
};
const box = h("input", { type: "search", id: "find", placeholder: "Search calls and records ( / )", autocomplete: "off", spellcheck: "false", input: () => find(box.value) });
document.getElementById("search").append(h("label", { for: "find", class: "unseen" }, "Search calls and records"), box);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  box.focus();
});

// ---- copying ---------------------------------------------------------------

const copier = (text) => {
  const button = h("button", { type: "button", class: "copy", click: async () => {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  } }, "Copy");
  text.before(button);
};

// ---- trying out ------------------------------------------------------------

const token = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false" });
const key = h("input", { id: "api-key", autocomplete: "off", spellcheck: "false", autocapitalize: "none" });
const field = (label, input) => h("div", {}, h("label", { for: input.id }, label), input);
document.getElementById("credentials").append(h("div", { class: "credentials" },
  h("p", { class: "note" }, "Calls that you try out below are real. They use the token or the key that stands here, else the session of this browser, if you have signed in. Both stay on this page."),
  field("Access token", token), field("Key of the storefront", key)));

// formToken proves to the panel that this page of its own sends a change.
const formToken = async () => {
  const answer = await fetch("/account/", { headers: { Accept: "text/html" } });
  return (await answer.text()).match(/<meta name="csrf-token" content="([^"]*)"/)?.[1];
};

const headersOf = async (op, headers) => {
  if (/X-API-Key/.test(op.textContent.split("Parameters")[0]) && key.value.trim()) headers["X-API-Key"] = key.value.trim();
  else if (token.value.trim()) headers.Authorization = "Bearer " + token.value.trim();
  else if (op.dataset.method !== "GET") {
    const mine = await formToken();
    if (mine) headers["X-CSRF-Token"] = mine;
  }
  return headers;
};

const send = async (op, inputs, body, output) => {
  const headers = {}, query = new URLSearchParams();
  let path = op.dataset.path;
  for (const input of inputs) {
    const { name, where } = input.dataset, value = input.value.trim();
    if (where === "path") path = path.replaceAll(`{${name}}`, encodeURIComponent(value));
    else if (value && where === "query") query.set(name, value);
    else if (value && where === "header") headers[name] = value;
  }
  if (body?.value.trim()) headers["Content-Type"] = "application/json";
  output.textContent = "…";
  try {
    const address = path + (query.size ? "?" + query : "");
    const answer = await fetch(address, { method: op.dataset.method, headers: await headersOf(op, headers), body: body?.value.trim() || undefined });
    const shown = ["Content-Type", "Location", "ETag", "Retry-After", "X-Error-Code", "X-Request-ID"].filter((name) => answer.headers.get(name));
    output.textContent = `${answer.status} ${answer.statusText}\n${shown.map((name) => `${name}: ${answer.headers.get(name)}`).join("\n")}\n\n`;
    await read(answer, output);
  } catch (error) {
    output.textContent = "There was no answer: " + error.message;
  }
};

// read shows an answer; one that does not end is shown as it comes, for a minute.
const read = async (answer, output) => {
  if (answer.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(), end = Date.now() + 60000;
    for (let part = await reader.read(); !part.done && Date.now() < end; part = await reader.read()) output.append(part.value);
    return reader.cancel();
  }
  const text = await answer.text();
  try {
    output.append(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    output.append(text);
  }
};

// prepare adds to an operation what is made when it is opened.
const prepare = (op) => {
  if (op.dataset.ready) return;
  op.dataset.ready = "yes";
  for (const text of all("[data-copy]", op)) copier(text);
  if (!("try" in op.dataset)) return;
  const inputs = all("[data-name]", op).filter((row) => row.dataset.in !== "cookie").map((row) =>
    h("input", { id: "try-" + ++numbered, value: row.dataset.value, "data-name": row.dataset.name, "data-where": row.dataset.in, autocomplete: "off", spellcheck: "false" }));
  const sample = op.querySelector("pre.body"), takes = sample || !["GET", "DELETE"].includes(op.dataset.method);
  const body = takes ? h("textarea", { id: "try-" + ++numbered, rows: "8", spellcheck: "false" }) : null;
  if (body) body.value = sample?.textContent || "";
  const output = h("pre", { role: "status", hidden: true });
  op.querySelector(".inside").append(h("form", { class: "try", submit: (event) => {
    event.preventDefault();
    output.hidden = false;
    send(op, inputs, body, output);
  } },
  h("h4", {}, "Try it"),
  h("div", { class: "inputs" }, inputs.map((input) => field(`${input.dataset.name} (${input.dataset.where})`, input))),
  body && field("Body", body),
  h("p", {}, h("button", { class: "main" }, `Send ${op.dataset.method}`)), output));
};
for (const op of operations) {
  op.addEventListener("toggle", () => op.open && prepare(op));
  if (op.open) prepare(op);
}
show();
