// Shows the screen of a virtual server (docs/machines-console.md). A call issues a ticket,
// which opens a WebSocket once. Without this script the page says what is needed.
import RFB from "./novnc/1.7.0/core/rfb.js";

const part = document.getElementById("console");
const state = document.getElementById("console-state");
const screen = document.getElementById("console-screen");
const said = JSON.parse(document.getElementById("console-texts").content.textContent);
const button = (name) => part.querySelector(`[data-act="${name}"]`);

let rfb = null; // the client of the screen that is shown
let turn = 0; // counts connections: what an earlier one tells is late

function tell(text, isOpen) {
  state.textContent = text;
  button("keys").disabled = !isOpen;
  part.dataset.state = isOpen ? "open" : "closed";
}

// ask asks for a ticket. The error is a text for people.
async function ask() {
  const answer = await fetch(part.dataset.tickets, {
    method: "POST", body: "{}", redirect: "error",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf-token]").content },
  }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  if (!answer?.ok || !told?.ticket) throw new Error(said[told?.code] ?? said[answer?.status] ?? said.failed);
  return told;
}

async function connect() {
  const mine = ++turn;
  rfb?.disconnect();
  rfb = null;
  screen.replaceChildren();
  tell(said.connecting, false);
  try {
    const { ticket, url } = await ask();
    if (mine !== turn) return;
    const address = new URL(new URL(url).pathname, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("ticket", ticket);
    show(mine, new WebSocket(address, ["binary"]));
  } catch (error) {
    if (mine === turn) tell(error.message, false);
  }
}

function show(mine, socket) {
  let code = 0;
  socket.addEventListener("close", (e) => { code = e.code; });
  rfb = new RFB(screen, socket, { shared: true });
  rfb.scaleViewport = true;
  rfb.background = "transparent";
  const canvas = screen.querySelector("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", part.dataset.screen);
  canvas.setAttribute("aria-describedby", "console-leave");
  rfb.addEventListener("connect", () => {
    if (mine === turn) tell(said.open, true);
  });
  rfb.addEventListener("disconnect", () => {
    if (mine !== turn) return;
    rfb = null;
    const hadFocus = screen.contains(document.activeElement) || document.activeElement === document.body;
    screen.replaceChildren();
    tell(said[code] ?? said.failed, false);
    if (hadFocus) button("again").focus();
  });
}

// Ctrl, Alt and Shift together leave the screen. Window loses the focus for noVNC, so that
// the machine is told that these keys are up again.
screen.addEventListener("keydown", (e) => {
  if (!(e.ctrlKey && e.altKey && e.shiftKey) || !["Control", "Alt", "Shift", "Meta"].includes(e.key)) return;
  e.preventDefault();
  e.stopPropagation();
  window.dispatchEvent(new Event("blur"));
  button("keys").focus();
}, true);

button("keys").addEventListener("click", () => rfb?.sendCtrlAltDel());
button("again").addEventListener("click", connect);
button("full").addEventListener("click", () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else part.requestFullscreen().catch(() => {});
});
button("full").hidden = !document.fullscreenEnabled;
part.hidden = false;
connect();
