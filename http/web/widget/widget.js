// hostpanel's order form for other websites (docs/widget.md). Browsers get this
// file as it stands: there is no build step and no dependency. It holds no key.
(() => {
"use strict";

const script = document.currentScript || document.querySelector('script[src*="/storefront/widget"]');
if (!script || !window.customElements || customElements.get("hostpanel-widget")) return;
const panel = script.src.replace(/\/storefront\/widget.*$/, "");
const api = panel + "/storefront/api/";
const sharedKey = script.dataset.apiKey || "";

// ---- texts -----------------------------------------------------------------

const texts = {
  en: {
    plans: "Plans", period: "Billing period", monthly: "Monthly", yearly: "Yearly", save: "Save {0} %", perMonth: "/ month", perYear: "/ year",
    insteadOf: "instead of", youSave: "You save {0} a year", setup: "plus {0} once for setup", noSetup: "No setup fee", free: "Free",
    taxes: "Prices include tax.", chosen: "Your choice", plan: "Plan", features: "What you get", price: "Price", order: "Order", soldOut: "Sold out",
    hosting: "Web hosting", vps: "Virtual server", saas: "Platform", unlimited: "Unlimited {0}", loading: "Loading the plans …",
    slow: "This takes longer than usual. Please wait a moment.", none: "There are no plans on offer at the moment.",
    close: "Close", name: "Full name", email: "E-mail", phone: "Phone", company: "Company", domain: "Domain", optional: "optional",
    domainNote: "For example example.com. You can add it later.", emailNote: "Your access data goes there.", os: "Operating system", host: "Host name", sshKey: "Public SSH key", payment: "Payment method",
    keep: "The payment provider may keep my payment method, and my renewals are charged by it.", keepNote: "You can remove it at any time in the panel. Otherwise you pay each renewal on a page.",
    setupFee: "Setup, once", total: "Total", tax: "tax included", noTax: "without tax", reverse: "Tax, which you owe yourself (reverse charge)", outside: "Tax, which does not apply there",
    country: "Country", postal: "Postal code", taxID: "VAT number", taxIDNote: "Of a business, with the country: for example FR12345678901.", pay: "Continue to payment", payNote: "You pay on a secure page of the payment provider.",
    freeNote: "Nothing is charged.", test: "Test shop: no money is charged.", preview: "This is a preview: no order is placed.", sending: "Placing your order …", still: "Still trying …", leaving: "Taking you to the payment page …",
    check: "Please check the marked fields.", offline: "There is no connection at the moment. Nothing was ordered twice: please try again.",
    providerAway: "The payment page cannot be opened right now. Your order is kept: please try again in a moment.",
    tooMany: "There were too many requests. Please try again in {0} seconds.", closed: "Orders cannot be placed here at the moment. Please come back later, or contact us.",
    away: "The plans cannot be shown right now. Please try again in a moment.", again: "Try again", badPage: "The payment page has an unexpected address, so we do not send you there. Please contact us.",
    orderNumber: "Order", status: "Status", toPayment: "Continue to payment", toPanel: "Open the control panel", mailed: "The mail went to {0}.", mailAgain: "Nothing has come? Have a new link sent.", chooseAgain: "Choose a plan", lookAgain: "The connection was lost. Trying again …",
    steps: ["Ordered", "Paid", "Set up", "Ready"],
    states: {
      pending: "Your order is being prepared", payment_processing: "Your order waits for payment", paid: "Thank you! Your payment has arrived",
      provisioning: "Thank you! We are setting everything up", active: "Everything is ready", failed: "Setup takes a little longer",
      cancelled: "The order was cancelled", refunded: "The payment was refunded",
    },
    notes: { active: "We have sent you an e-mail with everything you need.", cancelled: "Nothing else will be charged. You can order again at any time.", open: "This page updates by itself. You can also close it: we will write to you." },
    units: {
      quota_sites: ["website", "websites"], quota_storage_gb: ["GB of storage", "GB of storage"], quota_databases: ["database", "databases"],
      quota_mailboxes: ["mailbox", "mailboxes"], quota_domains: ["domain", "domains"], quota_ftp_users: ["FTP account", "FTP accounts"],
      vps_cpu_cores: ["CPU core", "CPU cores"], memory: ["of memory"], vps_disk_gb: ["GB of disk", "GB of disk"], vps_bandwidth_tb: ["TB of traffic", "TB of traffic"],
      saas_max_vms: ["virtual server", "virtual servers"], saas_max_hosting_accounts: ["hosting account", "hosting accounts"], saas_max_agents: ["agent", "agents"],
    },
    whitelabel: "Your own brand",
    wrong: { required: "Please fill this in.", email: "Please enter a complete e-mail address.", choose: "Please choose one." },
  },
  es: {
    plans: "Planes", period: "Periodo de facturación", monthly: "Mensual", yearly: "Anual", save: "Ahorre un {0} %", perMonth: "/ mes", perYear: "/ año",
    insteadOf: "en lugar de", youSave: "Ahorra {0} al año", setup: "más {0} por el alta, una sola vez", noSetup: "Sin coste de alta", free: "Gratis",
    taxes: "Precios con impuestos incluidos.", chosen: "Su elección", plan: "Plan", features: "Qué incluye", price: "Precio", order: "Contratar", soldOut: "Agotado",
    hosting: "Alojamiento web", vps: "Servidor virtual", saas: "Plataforma", unlimited: "{0} sin límite", loading: "Cargando los planes …",
    slow: "Está tardando más de lo habitual. Espere un momento, por favor.", none: "Ahora mismo no hay planes disponibles.",
    close: "Cerrar", name: "Nombre completo", email: "Correo electrónico", phone: "Teléfono", company: "Empresa", domain: "Dominio", optional: "opcional",
    domainNote: "Por ejemplo, example.com. Puede añadirlo más tarde.", emailNote: "Ahí recibirá sus datos de acceso.", os: "Sistema operativo", host: "Nombre del servidor", sshKey: "Clave SSH pública", payment: "Forma de pago",
    keep: "El proveedor de pagos puede guardar mi forma de pago, y mis renovaciones se cobran con ella.", keepNote: "Puede eliminarla cuando quiera en el panel. Si no, pagará cada renovación en una página.",
    setupFee: "Alta, una sola vez", total: "Total", tax: "impuestos incluidos", noTax: "sin impuestos", reverse: "Impuesto a su cargo (inversión del sujeto pasivo)", outside: "Impuesto, que allí no se aplica",
    country: "País", postal: "Código postal", taxID: "NIF-IVA", taxIDNote: "De una empresa, con el país: por ejemplo, FR12345678901.", pay: "Continuar al pago", payNote: "Pagará en una página segura del proveedor de pagos.",
    freeNote: "No se cobra nada.", test: "Tienda de prueba: no se cobra nada.", preview: "Es una vista previa: no se hace ningún pedido.", sending: "Enviando su pedido …", still: "Seguimos intentándolo …", leaving: "Le llevamos a la página de pago …",
    check: "Revise los campos marcados, por favor.", offline: "Ahora mismo no hay conexión. No se ha pedido nada dos veces: inténtelo de nuevo, por favor.",
    providerAway: "Ahora mismo no se puede abrir la página de pago. Su pedido está guardado: inténtelo de nuevo en un momento.",
    tooMany: "Ha habido demasiadas peticiones. Inténtelo de nuevo dentro de {0} segundos.", closed: "Ahora mismo no se puede contratar aquí. Vuelva más tarde o póngase en contacto con nosotros.",
    away: "Ahora mismo no se pueden mostrar los planes. Inténtelo de nuevo en un momento.", again: "Intentar de nuevo", badPage: "La página de pago tiene una dirección inesperada, así que no le llevamos allí. Póngase en contacto con nosotros.",
    orderNumber: "Pedido", status: "Estado", toPayment: "Continuar al pago", toPanel: "Abrir el panel de control", mailed: "El correo se envió a {0}.", mailAgain: "¿No ha llegado nada? Pida otro enlace.", chooseAgain: "Elegir un plan", lookAgain: "Se ha perdido la conexión. Lo intentamos de nuevo …",
    steps: ["Pedido", "Pagado", "Instalado", "Listo"],
    states: {
      pending: "Estamos preparando su pedido", payment_processing: "Su pedido espera el pago", paid: "¡Gracias! Hemos recibido su pago",
      provisioning: "¡Gracias! Lo estamos preparando todo", active: "Todo está listo", failed: "La instalación tarda un poco más",
      cancelled: "El pedido se ha cancelado", refunded: "Se ha devuelto el pago",
    },
    notes: { active: "Le hemos enviado un correo con todo lo que necesita.", cancelled: "No se cobrará nada más. Puede volver a contratar cuando quiera.", open: "Esta página se actualiza sola. También puede cerrarla: le escribiremos." },
    units: {
      quota_sites: ["sitio web", "sitios web"], quota_storage_gb: ["GB de espacio", "GB de espacio"], quota_databases: ["base de datos", "bases de datos"],
      quota_mailboxes: ["buzón de correo", "buzones de correo"], quota_domains: ["dominio", "dominios"], quota_ftp_users: ["cuenta FTP", "cuentas FTP"],
      vps_cpu_cores: ["núcleo de CPU", "núcleos de CPU"], memory: ["de memoria"], vps_disk_gb: ["GB de disco", "GB de disco"], vps_bandwidth_tb: ["TB de tráfico", "TB de tráfico"],
      saas_max_vms: ["servidor virtual", "servidores virtuales"], saas_max_hosting_accounts: ["cuenta de alojamiento", "cuentas de alojamiento"], saas_max_agents: ["agente", "agentes"],
    },
    whitelabel: "Con su propia marca",
    wrong: { required: "Rellene este campo, por favor.", email: "Escriba una dirección de correo completa.", choose: "Elija una opción, por favor." },
  },
};

// What the API says of fields, in Spanish.
const messages = [
  [/^This field (is required|may not be (blank|null))\.$/, "Este campo es obligatorio."],
  [/^Enter a valid email address\.$/, "Escriba una dirección de correo válida."],
  [/^Enter a valid domain name\.$/, "Escriba un dominio válido."],
  [/already exists\.$/, "Ya está en uso."],
  [/SSH public key\.$/, "Escriba una clave SSH pública."],
  [/is sold out\.$/, "Este plan está agotado."],
  [/is not a valid choice\.$/, "Esta opción no está disponible."],
  [/no more than (\d+) characters/, "No puede tener más de {1} caracteres."],
  [/^Enter a valid VAT identification number/, "Escriba un NIF-IVA válido de su país."],
  [/^This value does not match/, "Tiene caracteres que no se permiten."],
];

const fill = (text, ...values) => text.replace(/\{(\d)\}/g, (_, i) => values[i]);

// ---- elements --------------------------------------------------------------

// h makes an element. Texts become text nodes, never markup.
const h = (tag, attributes, ...children) => {
  const isDrawn = /^(svg|path|circle)$/.test(tag);
  const el = isDrawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") el.addEventListener(name, value);
    else if (value != null && value !== false) el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...children.flat(9).filter((child) => child != null && child !== false && child !== ""));
  return el;
};

const drawing = (d, name) =>
  h("svg", { class: name, viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, h("path", { d }));
const tick = "M5 12.5l4.5 4.5L19 7.5", cross = "M6 6l12 12M18 6L6 18", clock = "M12 7v5l3.25 2M12 2.75a9.25 9.25 0 1 0 0 18.5a9.25 9.25 0 0 0 0-18.5", bang = "M12 7v6M12 16.8v.2";

// ---- colours ---------------------------------------------------------------

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const css = (c) => `rgb(${c.map(Math.round).join(" ")})`;
const mix = (a, b, part) => a.map((x, i) => x + (b[i] - x) * part);
const light = (c) => {
  const [r, g, b] = c.map((x) => (x / 255 <= 0.04045 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
  return (x + 0.05) / (y + 0.05);
};
const white = [255, 255, 255], black = [17, 19, 28];
const inkOn = (c) => (contrast(white, c) >= 4.5 ? white : contrast(black, c) >= 4.5 ? black : [0, 0, 0]);

// legible moves a colour away from a ground until it can be read there.
const legible = (c, ...grounds) => {
  const end = light(grounds[0]) > 0.2 ? [0, 0, 0] : white;
  let part = 0;
  while (part < 1 && grounds.some((ground) => contrast(mix(c, end, part), ground) < 4.6)) part += 0.04;
  return mix(c, end, Math.min(part, 1));
};

// ---- money -----------------------------------------------------------------

// Prices are exact: whole numbers of a hundred-thousandth.
const units = (text) => {
  const [whole, places = ""] = text.split(".");
  return BigInt(whole + places.padEnd(5, "0").slice(0, 5));
};
const cents = (exact) => (exact + 500n) / 1000n;
const periodPrice = (plan, period) => (period === "yearly" ? (units(plan.price) * 96n) / 10n : units(plan.price));
const total = (plan, period) => cents(periodPrice(plan, period) + units(plan.setup_fee));
// untaxed takes a tax in percent out of an amount in cents: half up, to steps of so many cents.
const untaxed = (amount, rate, step) => {
  const whole = (10000n + BigInt(rate.replace(".", ""))) * step;
  return ((amount * 20000n + whole) / (2n * whole)) * step;
};
const saving = (plan) => cents(units(plan.price) * 12n) - cents(periodPrice(plan, "yearly"));

// ---- what the browser keeps ------------------------------------------------

const memory = {};
const keep = (name, value) => {
  memory[name] = value;
  try { value ? sessionStorage.setItem(name, JSON.stringify(value)) : sessionStorage.removeItem(name); } catch { /* not allowed here */ }
};
const kept = (name) => {
  try { return JSON.parse(sessionStorage.getItem(name)) || memory[name]; } catch { return memory[name]; }
};

// digest tells whether two forms are the same, and nothing about what is in
// them: personal data is not kept.
const digest = (text) => {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761); b = Math.imul(b ^ c, 1597334677);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
};
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((x) => x.toString(16).padStart(2, "0")).join("");

// ---- calls -----------------------------------------------------------------

const pause = (ms, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, ms);
  signal?.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); });
});

// A Refusal is an answer that is no success; status 0 is none at all.
class Refusal extends Error {
  constructor(status, body, after, slug) {
    super(body?.detail || slug || "no answer");
    Object.assign(this, { status, body, after, slug });
  }
}

const causes = {
  invalid_api_key: "the API key is not valid. Make one at " + panel + "/storefront/ and put it into data-api-key.",
  api_key_expired: "the API key has expired. Make a new one at " + panel + "/storefront/.",
  not_authenticated: "no API key: set data-api-key at the script or at the container (api-key at the element).",
  origin_not_allowed: "the API key does not allow the origin " + location.origin + ". Add it to the allowed domains of the key at " + panel + "/storefront/.",
  not_found: "there is no active widget with this id. Compare data-widget-id with the widgets at " + panel + "/storefront/.",
  throttled: "the rate limit of the API key is reached. Raise it at " + panel + "/storefront/ if this happens often.",
};

// call asks the API. Without a key it asks the panel by the session of its page,
// for a preview there. An origin that the key does not allow cannot read its
// refusal; the first call asks without a key then, whether the panel answers.
async function call(key, path, { method = "GET", body, headers, signal, isFirst, wait = 30000 } = {}) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), wait);
  signal?.addEventListener("abort", () => limit.abort());
  let answer;
  try {
    answer = await fetch(key === null ? new URL(path, panel) : api + path, {
      method, body, signal: limit.signal, credentials: key === null ? "same-origin" : "omit", cache: "no-cache", referrerPolicy: "strict-origin-when-cross-origin",
      headers: { ...(key !== null && { "X-API-Key": key }), ...(body && { "Content-Type": "application/json" }), ...headers },
    });
    const content = await answer.json().catch(() => null);
    if (answer.ok && content) return content;
    throw new Refusal(answer.status, content, Number(answer.headers.get("Retry-After")) || 0, answer.headers.get("X-Error-Code") || "");
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (signal?.aborted) throw error;
    const reachable = isFirst && !limit.signal.aborted && (await fetch(api + "plans/", { credentials: "omit" }).then(() => true, () => false));
    throw new Refusal(reachable ? 403 : 0, null, 0, reachable ? "origin_not_allowed" : "unreachable");
  } finally {
    clearTimeout(timer);
  }
}

// events reads a stream of server-sent events until it ends.
async function* events(key, path, last, signal) {
  const quiet = new AbortController();
  signal.addEventListener("abort", () => quiet.abort());
  let timer = setTimeout(() => quiet.abort(), 8000); // a proxy that holds streams back
  try {
    const answer = await fetch(api + path, {
      signal: quiet.signal, credentials: "omit", headers: { "X-API-Key": key, Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) },
    });
    if (!answer.ok || answer.status === 204) throw new Refusal(answer.status, null, Number(answer.headers.get("Retry-After")) || 0, "");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), 40000); // heartbeats come every 15 seconds
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const field = (name) => part.split("\n").find((line) => line.startsWith(name + ": "))?.slice(name.length + 2);
        yield { id: field("id"), name: field("event"), data: field("data") };
      }
    }
  } finally {
    clearTimeout(timer);
    quiet.abort();
  }
}

const isOpen = (status) => status === "pending" || status === "payment_processing";
const isSettled = (status) => status === "active" || status === "cancelled" || status === "refunded";

const sheet = new CSSStyleSheet();

// ---- one order form --------------------------------------------------------

const { searchParams: brought } = new URL(location.href);
const planAgain = brought.get("plan_id"); // of an order that is placed again
let returned = brought.get("order_id");
if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(returned || "")) returned = null;

class Form {
  constructor(host) {
    this.host = host;
    this.shadow = host.attachShadow({ mode: "closed" });
    this.shadow.adoptedStyleSheets = [sheet];
    this.body = h("div", { class: "body" });
    this.said = h("p", { class: "unseen", role: "status" });
    this.root = h("div", { class: "w" }, this.said, this.body);
    this.shadow.append(this.root);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.widget && this.dress());
    addEventListener("pageshow", (event) => event.persisted && this.comeBack?.());
  }

  setting(name) {
    return this.host.getAttribute(name) ?? this.host.getAttribute("data-" + name) ?? "";
  }

  tell(name, detail) {
    this.host.dispatchEvent(new CustomEvent("hostpanel:" + name, { bubbles: true, composed: true, detail }));
  }

  say(text) { this.said.textContent = text; }

  show(...content) { this.body.replaceChildren(...content.flat().filter(Boolean)); }

  speak(language) {
    this.tag = language || "es";
    this.language = /^es/.test(this.tag) ? "es" : "en";
    this.t = texts[this.language];
    this.root.lang = this.language;
  }

  // blame tells the owner of the page in the console what is wrong, and the page
  // by an event. Visitors read other words.
  blame(refusal) {
    const code = refusal.slug || (refusal.status >= 500 ? "unavailable" : "error");
    console.error("hostpanel widget: " + (causes[code] || `${api} answered ${refusal.status || "nothing"}: ${refusal.message}`));
    this.tell("error", { code, status: refusal.status, message: refusal.message });
  }

  async start() {
    this.stop();
    const { signal } = (this.running = new AbortController());
    this.key = this.setting("api-key") || sharedKey;
    this.id = this.setting("widget-id");
    this.memory = "hostpanel:" + this.id;
    this.speak(this.setting("lang") || document.documentElement.lang);
    this.dress();
    if (returned) { this.order = returned; returned = null; }
    this.showLoading();
    const slow = setTimeout(() => this.showSlow(), 6000);
    try {
      this.preview = this.setting("preview");
      this.widget = await (this.preview ? call(null, this.preview, { signal }) : call(this.key, `widget/${encodeURIComponent(this.id)}/?language=${this.setting("lang")}`, { signal, isFirst: true }));
      this.begin();
      if (this.order && !this.preview) await this.follow(this.order, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      this.blame(error);
      this.showFailure(error, signal);
    } finally {
      clearTimeout(slow);
    }
  }

  stop() {
    this.running?.abort();
    this.dialog?.close();
  }

  begin() {
    this.speak(this.setting("lang") || this.widget.language);
    const asked = this.setting("period");
    this.period = asked === "yearly" || asked === "monthly" ? asked : "monthly";
    const wanted = planAgain || this.setting("plan");
    this.chosen = this.widget.plans.find((plan) => wanted && (String(plan.id) === wanted || plan.slug === wanted));
    this.dress();
    if (!this.order || this.preview) this.showOffers();
    this.tell("loaded", { widget_id: this.id, plans: this.widget.plans.map(({ id, slug }) => ({ id, slug })) });
  }

  dress() {
    const look = this.widget || { theme: "auto", primary_color: "#3f37c9", accent_color: "#14632f", border_radius: 12 };
    const dark = look.theme === "dark" || (look.theme !== "light" && this.dark.matches);
    const primary = rgb(look.primary_color), accent = rgb(look.accent_color);
    const card = rgb(dark ? "#1b1e27" : "#ffffff"), paper = rgb(dark ? "#12141a" : "#f5f6f9");
    const tint = mix(card, primary, dark ? 0.18 : 0.08), glow = mix(card, accent, dark ? 0.18 : 0.1);
    const edge = contrast(primary, card) < 1.6 ? mix(primary, dark ? white : black, 0.3) : primary;
    const colours = {
      card, paper, tint, glow, button: primary, "button-edge": edge, "on-button": inkOn(primary), "button-over": mix(primary, light(primary) > 0.4 ? black : white, 0.1),
      link: legible(primary, card, paper, tint), good: legible(accent, card, paper, glow),
    };
    for (const [name, colour] of Object.entries(colours)) this.root.style.setProperty("--" + name, css(colour));
    this.root.style.setProperty("--r", `${look.border_radius}px`);
    this.root.style.setProperty("--r-small", `${Math.min(look.border_radius, 10)}px`);
    this.root.classList.toggle("dark", dark);
  }

  places(currency) {
    return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
  }

  money(amount, currency) {
    const places = this.places(currency);
    return new Intl.NumberFormat(this.tag, { style: "currency", currency, minimumFractionDigits: amount % 100n ? Math.max(places, 2) : places }).format(Number(amount) / 100);
  }

  // -- before the plans are there --

  showLoading() {
    this.say(this.t.loading);
    const bone = (name) => h("span", { class: "bone " + name });
    this.show(h("div", { class: "cards", "aria-hidden": "true" },
      [0, 1, 2].map(() => h("div", { class: "card bones" }, bone("short"), bone("tall"), bone(""), bone("button"), bone(""), bone("short")))));
  }

  showSlow() {
    this.say(this.t.slow);
    this.body.prepend(h("p", { class: "note centre" }, this.t.slow));
  }

  showFailure(refusal, signal) {
    const isClosed = [401, 403, 404].includes(refusal.status);
    const text = isClosed ? this.t.closed : refusal.status === 429 ? fill(this.t.tooMany, refusal.after || 60) : this.t.away;
    this.say("");
    this.show(h("div", { class: "card empty" },
      h("span", { class: "mark" }, drawing(bang, "icon")), h("p", { role: "alert" }, text), h("slot"),
      !isClosed && h("button", { type: "button", class: "main", click: () => this.start() }, this.t.again)));
    if (refusal.status === 429 && refusal.after) pause(refusal.after * 1000, signal).then(() => this.start(), () => {});
  }

  // -- the offers --

  showOffers() {
    const { plans } = this.widget;
    this.say("");
    if (!plans.length) return this.show(h("div", { class: "card empty" }, h("p", {}, this.t.none), h("slot")));
    this.offers = h("div", { class: "offers" });
    this.show(this.result, this.periods("period", () => this.fillOffers()), this.offers, h("p", { class: "note centre" }, this.t.taxes));
    this.mixed = new Set(plans.map((plan) => plan.resource_type)).size > 1;
    this.fillOffers();
  }

  fillOffers() {
    this.offers.replaceChildren(this.widget.layout === "table" ? this.table() : h("ul", { class: "cards", role: "list" }, this.widget.plans.map((plan) => this.card(plan))));
  }

  periods(name, changed) {
    const best = Math.max(...this.widget.plans.map((plan) => (units(plan.price) ? Number((saving(plan) * 100n) / cents(units(plan.price) * 12n)) : 0)));
    const choice = (period) => h("label", {},
      h("input", { type: "radio", name, value: period, checked: this.period === period, change: () => { this.period = period; changed(); } }),
      h("span", { class: "choice" }, this.t[period], period === "yearly" && best > 0 && h("span", { class: "pill" }, fill(this.t.save, best))));
    return h("fieldset", { class: "periods" }, h("legend", { class: "unseen" }, this.t.period), h("div", { class: "switch" }, choice("monthly"), choice("yearly")));
  }

  price(plan) {
    const { t, period } = this, isYearly = period === "yearly", saved = saving(plan);
    const amount = cents(periodPrice(plan, period));
    return [
      h("p", { class: "price" },
        h("span", { class: "amount" }, amount ? this.money(amount, plan.currency) : t.free), amount > 0n && h("span", { class: "per" }, isYearly ? t.perYear : t.perMonth)),
      h("p", { class: "extra" },
        isYearly && saved > 0n && h("span", { class: "saved" },
          h("s", {}, h("span", { class: "unseen" }, t.insteadOf + " "), this.money(cents(units(plan.price) * 12n), plan.currency)), h("span", { class: "good" }, fill(t.youSave, this.money(saved, plan.currency)))),
        h("span", {}, units(plan.setup_fee) ? fill(t.setup, this.money(cents(units(plan.setup_fee)), plan.currency)) : t.noSetup)),
    ];
  }

  features(plan) {
    const { t, tag } = this, number = (n) => new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }).format(n), all = [];
    for (const [name, [one, many]] of Object.entries(t.units)) {
      const n = plan[name];
      if (n === -1) {
        const text = fill(t.unlimited, many);
        all.push(text[0].toUpperCase() + text.slice(1));
      } else if (n > 0) all.push(`${number(n)} ${n === 1 ? one : many}`);
      if (name === "memory" && plan.vps_memory_mb) {
        const mb = plan.vps_memory_mb;
        all.push(`${mb >= 1024 ? number(mb / 1024) + " GB" : number(mb) + " MB"} ${one}`);
      }
    }
    if (plan.saas_whitelabel) all.push(t.whitelabel);
    if (plan.vps_os_options?.length) all.push(plan.vps_os_options.slice(0, 3).map(system).join(", ") + (plan.vps_os_options.length > 3 ? " …" : ""));
    return this.widget.show_features && all.length > 0 && h("ul", { class: "features", role: "list" }, all.map((text) => h("li", {}, drawing(tick, "icon"), h("span", {}, text))));
  }

  orderButton(plan) {
    if (plan.sold_out) return h("button", { type: "button", class: "main", disabled: true, "aria-label": `${this.t.soldOut}: ${plan.name}` }, this.t.soldOut);
    const text = this.widget.cta_text || this.t.order;
    return h("button", { type: "button", class: "main", "aria-label": `${text}: ${plan.name}`, "aria-haspopup": "dialog", click: () => this.choose(plan) }, text);
  }

  title(plan) {
    return [
      (this.mixed || plan === this.chosen) && h("p", { class: "above" }, this.mixed && h("span", { class: "sort" }, this.t[plan.resource_type]), plan === this.chosen && h("span", { class: "pill" }, this.t.chosen)),
      h("h3", {}, plan.name),
    ];
  }

  card(plan) {
    return h("li", { class: plan === this.chosen ? "card chosen" : "card" },
      h("div", {}, this.title(plan), h("p", { class: "about" }, plan.description)),
      h("div", {}, this.price(plan)), this.orderButton(plan), this.features(plan) || h("span"));
  }

  table() {
    const cell = (name, label, ...content) => h("td", { role: "cell", class: name, "data-label": label }, content);
    const { t } = this, head = (text, name) => h("th", { role: "columnheader", scope: "col", class: name }, text);
    return h("table", { role: "table" },
      h("caption", { class: "unseen" }, t.plans),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head(t.plan), this.widget.show_features && head(t.features), head(t.price), h("td", { role: "cell" }))),
      h("tbody", { role: "rowgroup" }, this.widget.plans.map((plan) => h("tr", { role: "row", class: plan === this.chosen ? "chosen" : null },
        h("th", { role: "rowheader", scope: "row" }, this.title(plan), h("p", { class: "about" }, plan.description)),
        this.widget.show_features && cell("what", t.features, this.features(plan)), cell("cost", t.price, this.price(plan)), cell("do", "", this.orderButton(plan))))));
  }

  // -- the order --

  choose(plan) {
    this.tell("plan-selected", { plan_id: plan.id, slug: plan.slug, period: this.period });
    const { t } = this, put = (name, label, more = {}) => this.field(name, label, more);
    this.summary = h("div", { class: "summary" });
    this.problem = h("p", { class: "alert", role: "alert", hidden: true, tabindex: "-1" });
    this.progress = h("p", { class: "progress", role: "status" });
    this.submit = h("button", { type: "submit", class: "main wide" });
    const { payment_methods: methods = [], require_phone, require_company, tax } = this.widget;
    this.form = h("form", { novalidate: true, input: tax && (() => this.sum(plan)), submit: (event) => { event.preventDefault(); this.send(plan); } },
      this.problem,
      put("customer_name", t.name, { required: true, autocomplete: "name", maxlength: 200 }),
      put("customer_email", t.email, { type: "email", required: true, autocomplete: "email", maxlength: 254, note: t.emailNote, plain: true }),
      require_company && put("customer_company", t.company, { required: true, autocomplete: "organization", maxlength: 200 }),
      require_phone && put("customer_phone", t.phone, { type: "tel", required: true, autocomplete: "tel", maxlength: 32 }),
      tax && put("customer_country", t.country, { options: this.countries(tax), value: tax.seller_country }),
      tax && put("customer_postal_code", t.postal, { autocomplete: "postal-code", maxlength: 20, plain: true }),
      tax && put("customer_tax_id", t.taxID, { note: t.taxIDNote, maxlength: 20, plain: true }),
      plan.resource_type === "hosting" && put("domain", t.domain, { note: t.domainNote, value: this.setting("domain"), maxlength: 253, plain: true, inputmode: "url" }),
      plan.vps_os_options?.length > 1 && put("os_choice", t.os, { options: plan.vps_os_options.map((os) => [os, system(os)]), value: plan.vps_default_os }),
      plan.resource_type === "vps" && [put("hostname", t.host, { maxlength: 253, plain: true, inputmode: "url" }), put("ssh_key", t.sshKey, { maxlength: 2048, plain: true })],
      this.methods(methods, () => this.offerKeeping(plan)),
      this.consent(),
      this.summary,
      h("p", { class: "do" }, this.submit, this.progress, h("span", { class: "note" }, this.preview ? t.preview : /^sfk_test_/.test(this.key) ? t.test : t.payNote)));
    this.dialog = h("dialog", { "aria-labelledby": "hp-title", close: (event) => event.target.remove(), cancel: (event) => this.busy && event.preventDefault(), click: (event) => event.target === this.dialog && !this.busy && this.dialog.close() },
      h("div", { class: "sheet" },
        h("div", { class: "head" },
          h("div", {}, h("h2", { id: "hp-title" }, plan.name), plan.description && h("p", { class: "about" }, plan.description)),
          h("button", { type: "button", class: "close", "aria-label": t.close, click: () => !this.busy && this.dialog.close() }, drawing(cross, "icon"))),
        this.periods("form_period", () => { this.sum(plan); this.fillOffers(); this.syncPeriods(); }), this.form));
    this.rest();
    this.sum(plan);
    this.offerKeeping(plan);
    this.root.querySelector("dialog")?.remove(); // one that is still closing has fields with the same names
    this.root.append(this.dialog);
    this.dialog.showModal();
    this.form.elements.customer_name.focus();
    this.comeBack = () => this.rest();
  }

  syncPeriods() {
    for (const input of this.body.querySelectorAll('input[name="period"]')) input.checked = input.value === this.period;
  }

  field(name, label, { note, options, value, required, plain, ...more }) {
    const id = "hp-" + name;
    const described = [note && id + "-note", id + "-wrong"].filter(Boolean).join(" ");
    const common = { id, name, "aria-describedby": described, "aria-required": required ? "true" : null, input: () => this.right(name) };
    const input = options
      ? h("select", common, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)))
      : h("input", { type: "text", ...common, ...more, value, required, autocapitalize: plain ? "none" : null, spellcheck: plain ? "false" : null });
    return h("div", { class: "field" },
      h("label", { for: id }, label, !required && !options && h("span", { class: "note" }, ` (${this.t.optional})`)), input,
      note && h("p", { class: "note", id: id + "-note" }, note), h("p", { class: "mistake", id: id + "-wrong" }));
  }

  methods(all, changed) {
    if (all.length < 2) return h("div", { class: "field" }, h("input", { type: "hidden", name: "payment_method", value: all[0]?.name || "" }), h("p", { class: "mistake", id: "hp-payment_method-wrong" }));
    return h("fieldset", { class: "field methods", "aria-describedby": "hp-payment_method-wrong" }, h("legend", {}, this.t.payment),
      all.map(({ name, label }, i) => h("label", { class: "method" }, h("input", { type: "radio", name: "payment_method", value: name, checked: i === 0, change: () => { this.right("payment_method"); changed(); } }), h("span", {}, label[this.language]))),
      h("p", { class: "mistake", id: "hp-payment_method-wrong" }));
  }

  // consent asks whether the provider keeps the method for renewals: a box that is never ticked beforehand.
  consent() {
    const id = "hp-save_payment_method";
    return h("div", { class: "field methods", hidden: true },
      h("label", { class: "method" }, h("input", { type: "checkbox", id, name: "save_payment_method", value: "true", "aria-describedby": `${id}-note ${id}-wrong`, change: () => this.right("save_payment_method") }), h("span", {}, this.t.keep)),
      h("p", { class: "note", id: id + "-note" }, this.t.keepNote), h("p", { class: "mistake", id: id + "-wrong" }));
  }

  offerKeeping(plan) {
    const { payment_method: chosen, save_payment_method: box } = this.form.elements;
    const method = (this.widget.payment_methods || []).find(({ name }) => name === chosen.value);
    box.disabled = !method?.saves || !plan.billing_period || !units(plan.price);
    if (box.disabled) box.checked = false;
    box.closest(".field").hidden = box.disabled;
  }

  countries({ countries, untaxed, territories }) {
    const names = new Intl.DisplayNames(this.tag, { type: "region" });
    const all = new Set([...countries, ...untaxed.filter((code) => code.length === 2), ...territories.map(({ country }) => country)]);
    return [...all].map((code) => [code, names.of(code)]).sort((a, b) => a[1].localeCompare(b[1], this.tag));
  }

  // taxedAt is the customer's country, or its territory by the postal code.
  taxedAt({ territories }) {
    const { customer_country: country, customer_postal_code: code } = this.form.elements;
    const bare = code.value.toUpperCase().replace(/[ .-]/g, ""), plain = country.value === "GB" ? bare : bare.replace(/^[A-Z]{1,2}(?=\d{4})/, "");
    let place = country.value, longest = -1;
    for (const { country: of, postal_codes: starts, counts_as: as } of territories) {
      for (const start of starts.length ? starts : [""]) {
        if (of === country.value && plain.startsWith(start) && start.length > longest) [place, longest] = [as, start.length];
      }
    }
    return place;
  }

  relief() {
    const { tax } = this.widget;
    if (!tax) return "";
    const place = this.taxedAt(tax), id = this.form.elements.customer_tax_id.value.trim();
    if (tax.untaxed.includes(place)) return this.t.outside;
    return id && place !== tax.seller_country && tax.member_states.includes(place) ? this.t.reverse : "";
  }

  sum(plan) {
    const { t, period } = this, line = (name, amount, strong) => h("div", { class: strong ? "line strong" : "line" }, h("dt", {}, name), h("dd", {}, this.money(amount, plan.currency)));
    const fee = cents(units(plan.setup_fee)), gross = total(plan, period), saved = saving(plan), relief = this.relief();
    const all = relief ? untaxed(gross, this.widget.tax.seller_rate, this.places(plan.currency) ? 1n : 100n) : gross;
    this.summary.replaceChildren(h("dl", {},
      line(`${plan.name}, ${t[period].toLowerCase()}`, cents(periodPrice(plan, period))), fee > 0n && line(t.setupFee, fee), relief && line(relief, all - gross),
      h("div", { class: "line strong" }, h("dt", {}, t.total, h("span", { class: "note" }, ` (${relief ? t.noTax : t.tax})`)), h("dd", {}, this.money(all, plan.currency)))),
    ...(period === "yearly" && saved > 0n ? [h("p", { class: "good" }, fill(t.youSave, this.money(saved, plan.currency)))] : []));
    if (!this.busy) this.submit.textContent = `${t.pay} · ${this.money(all, plan.currency)}`;
    this.amount = this.submit.textContent;
  }

  // rest lets the form be sent: it was not yet, or its customer came back.
  rest() {
    this.busy = false;
    this.submit.removeAttribute("aria-disabled");
    this.submit.classList.remove("busy");
    if (this.amount) this.submit.textContent = this.amount;
    this.progress.textContent = "";
  }

  work(text) {
    this.busy = true;
    this.submit.setAttribute("aria-disabled", "true");
    this.submit.classList.add("busy");
    this.progress.textContent = text;
  }

  right(name) {
    this.wrong(name, "");
    this.problem.hidden = true;
  }

  wrong(name, text) {
    const at = this.shadow.getElementById(`hp-${name}-wrong`);
    if (!at) return false;
    at.textContent = text;
    at.closest(".field").classList.toggle("wrong", !!text);
    const input = this.form.elements[name];
    if (input?.setAttribute) text ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    return true;
  }

  complain(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
    this.problem.scrollIntoView({ block: "nearest" });
  }

  mistakes(fields) {
    const rest = [];
    for (const [name, all] of Object.entries(fields)) {
      const text = [].concat(all).map((message) => this.inWords(String(message))).join(" ");
      if (!this.wrong(name, text)) rest.push(text);
    }
    this.complain([this.t.check, ...rest].join(" "));
    const first = this.form.querySelector(".wrong input:not([type=hidden]), .wrong select");
    (first || this.problem).focus();
  }

  inWords(message) {
    if (this.language === "en") return message;
    const [found, text] = messages.find(([pattern]) => pattern.test(message)) || [];
    return found ? text.replace("{1}", message.match(found)[1]) : message;
  }

  // filled is what the customer typed, or nothing if it cannot be sent yet.
  filled(plan) {
    const wrong = {}, typed = { plan_id: plan.id, widget_id: this.id, billing_period: this.period, language: this.tag.length > 2 ? this.tag.slice(0, 3) + this.tag.slice(3).toUpperCase() : this.tag };
    if (!/^[a-z]{2}(-[A-Z]{2})?$/.test(typed.language)) typed.language = this.language;
    for (const [name, value] of new FormData(this.form)) if (name !== "form_period") typed[name] = name === "save_payment_method" || value.trim();
    for (const input of this.form.elements) {
      if (!input.name || input.validity.valid && !(input.required && !input.value.trim())) continue;
      wrong[input.name] = input.validity.typeMismatch ? this.t.wrong.email : this.t.wrong.required;
    }
    if (typed.customer_email && !/^\S+@\S+\.\S+$/.test(typed.customer_email)) wrong.customer_email = this.t.wrong.email;
    if (!Object.keys(wrong).length) return typed;
    for (const [name, text] of Object.entries(wrong)) this.wrong(name, text);
    this.complain(this.t.check);
    this.form.querySelector(".wrong input, .wrong select").focus();
  }

  async send(plan) {
    if (this.busy) return;
    const typed = this.filled(plan);
    if (!typed) return;
    if (this.preview) {
      this.complain(this.t.preview);
      return this.problem.focus();
    }
    this.problem.hidden = true;
    this.work(this.t.sending);
    const body = JSON.stringify(typed), { signal } = this.running;
    try {
      const order = await this.place(body, signal);
      this.tell("order-created", { order_id: order.order_id, order_number: order.order_number, status: order.status, plan_id: plan.id, period: this.period });
      this.leave(order.payment_url);
    } catch (error) {
      if (signal.aborted) return;
      this.rest();
      if (!(error instanceof Refusal)) throw error;
      this.refused(error);
    }
  }

  // place sends the order until there is an answer. A form that is filled in the
  // same way has one key, and so one order, as long as that can be paid.
  async place(body, signal) {
    let mine = kept(this.memory);
    if (mine?.digest !== digest(body) || (mine.order && !(await this.isPayable(mine.order, signal)))) mine = { digest: digest(body), key: newKey() };
    keep(this.memory, mine);
    for (let tries = 0; ; tries++) {
      try {
        const order = await call(this.key, "orders/", { method: "POST", body, signal, headers: { "Idempotency-Key": mine.key } });
        keep(this.memory, { ...mine, order: order.order_id, url: order.payment_url, mail: JSON.parse(body).customer_email?.replace(/^(.)[^@]*/u, "$1…") });
        return order;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.status === 422) keep(this.memory, (mine = { ...mine, key: newKey() }));
        else if (error.status && ![409, 500, 502, 503, 504].includes(error.status)) throw error;
        if (tries === 2) throw error;
        this.work(this.t.still);
        await pause(Math.min((error.after || 1 + 2 * tries) * 1000, 5000), signal);
      }
    }
  }

  async isPayable(order, signal) {
    try {
      return isOpen((await call(this.key, `orders/${order}/`, { signal })).status);
    } catch (error) {
      return error.status !== 404;
    }
  }

  refused(error) {
    if (error.status === 400 && error.body && !error.body.detail) return this.mistakes(error.body);
    this.blame(error);
    const { t } = this;
    this.complain(error.status === 429 ? fill(t.tooMany, error.after || 60)
      : error.body?.code === "payment_provider_unavailable" ? t.providerAway
      : [400, 401, 403, 404, 405, 413, 415, 422].includes(error.status) ? t.closed : t.offline);
    this.problem.focus();
  }

  // leave goes to the payment page: on https or at the panel itself, and only to
  // an origin that the panel has named.
  leave(address) {
    let to = null;
    try { to = new URL(address); } catch { /* no address */ }
    const origins = this.widget.payment_origins || [];
    if (!to || !origins.includes(to.origin) || !(to.protocol === "https:" || to.origin === new URL(panel).origin)) {
      this.rest();
      console.error(`hostpanel widget: the payment page ${to?.origin} is none of payment_origins (${origins.join(", ")}).`);
      this.tell("error", { code: "payment_origin_refused", status: 0, message: String(to?.origin) });
      this.complain(this.t.badPage);
      return;
    }
    this.work(this.t.leaving);
    location.assign(to.href);
  }

  // -- after the return --

  // follow shows how an order stands until it is where it has to be: by a
  // stream, and by polling where that does not get through.
  async follow(id, signal) {
    let order = null, last = "", streams = true;
    for (let wait = 2000; !isSettled(order?.status); wait = Math.min(wait * 1.5, 10000)) {
      try {
        order = await call(this.key, `orders/${id}/`, { signal });
        this.showOrder(order);
        wait = 2000;
        if (isSettled(order.status)) return;
        if (streams) {
          for await (const event of events(this.key, `orders/${id}/events/`, last, signal)) {
            last = event.id || last;
            if (event.name === "order") this.showOrder((order = JSON.parse(event.data)));
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if ([401, 403, 404].includes(error.status)) {
          this.order = null;
          this.showOffers();
          return;
        }
        if (order) streams = false; // by polling from now on
        else this.showWaiting();
        wait = Math.max(wait, (error.after || 0) * 1000);
      }
      await pause(wait, signal).catch(() => {});
      if (signal.aborted) return;
    }
  }

  showWaiting() {
    this.say(this.t.lookAgain);
    this.show(h("div", { class: "card empty" }, h("span", { class: "mark spin" }, drawing(clock, "icon")), h("p", {}, this.t.lookAgain)));
  }

  showOrder(order) {
    const { t } = this, status = order.status;
    const done = { pending: 0, payment_processing: 1, paid: 2, provisioning: 2, failed: 2, active: 4 }[status];
    const isBad = status === "cancelled" || status === "refunded", mine = kept(this.memory);
    if (mine?.order === order.id && mine.url && !isOpen(status)) keep(this.memory, { order: order.id, mail: mine.mail });
    const payment = status === "payment_processing" && mine?.order === order.id && mine.url;
    const again = isBad || isOpen(status) || status === "active", ready = status === "active";
    const mail = ready && mine?.order === order.id && mine.mail;
    const steps = !isBad && h("ol", { class: "steps", role: "list" }, t.steps.map((text, i) =>
      h("li", { class: i < done ? "done" : i === done ? "now" : "", "aria-current": i === done ? "step" : null }, h("span", { class: "dot" }, i < done && drawing(tick, "icon")), h("span", {}, text))));
    const icon = status === "active" ? tick : isBad ? cross : status === "failed" ? bang : clock;
    const headline = t.states[status] || order.status_message;
    this.result = h("div", { class: "card result " + status },
      h("div", { class: "top" }, h("span", { class: "mark" }, drawing(icon, "icon")),
        h("div", {}, h("h3", {}, headline), h("p", { class: "about" }, order.status_message))),
      steps,
      h("dl", { class: "facts" },
        [[t.orderNumber, order.order_number], [t.plan, `${order.plan_name}, ${(t[order.billing_period] || "").toLowerCase()}`], [t.total, this.money(cents(units(order.total)), order.currency)]]
          .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      h("p", { class: "note" }, t.notes[status] || (isBad ? t.notes.cancelled : t.notes.open)),
      ready && h("p", { class: "note" }, mail && fill(t.mailed, mail) + " ", h("a", { href: panel + "/password-reset/" }, t.mailAgain)),
      (payment || again) && h("p", { class: "buttons" },
        ready && h("a", { class: "main", href: panel + "/panel/" }, t.toPanel),
        payment && h("button", { type: "button", class: "main", click: () => this.leaveFrom(payment) }, t.toPayment),
        again && h("button", { type: "button", class: payment || status === "active" ? "plain" : "main", click: () => this.chooseAgain() }, t.chooseAgain)));
    if (this.offers?.isConnected) return; // the customer is choosing anew
    this.show(this.result);
    const said = `${headline}. ${order.status_message}`;
    if (this.said.textContent !== said) this.say(said);
  }

  leaveFrom(address) {
    this.problem = h("p", { class: "alert", role: "alert", hidden: true });
    this.progress = h("p", { class: "progress", role: "status" });
    this.submit = this.result.querySelector("button");
    this.amount = this.submit.textContent;
    this.result.append(this.problem, this.progress);
    this.comeBack = () => this.rest();
    this.leave(address);
  }

  chooseAgain() {
    this.result = null;
    this.showOffers();
    this.body.querySelector("input, button").focus();
  }
}

const system = (name) => name.replace(/(^|-)(\w)/g, (_, dash, letter) => (dash ? " " : "") + letter.toUpperCase());

// ---- the element and the container -----------------------------------------

const forms = new WeakMap();
const formOf = (host) => forms.get(host) || forms.set(host, new Form(host)).get(host);

customElements.define("hostpanel-widget", class extends HTMLElement {
  static observedAttributes = ["widget-id", "api-key", "plan", "period", "lang", "domain"];
  connectedCallback() { formOf(this).start(); }
  disconnectedCallback() { formOf(this).stop(); }
  attributeChangedCallback(_, before, now) { if (this.isConnected && before !== now && forms.has(this)) formOf(this).start(); }
});

const scan = () => {
  for (const host of document.querySelectorAll("div[data-widget-id]")) if (!forms.has(host)) formOf(host).start();
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", scan);
else scan();

// ---- the look --------------------------------------------------------------

sheet.replaceSync(`
:host { all: initial; display: block; container-type: inline-size; }
:host([hidden]) { display: none; }
*, ::before, ::after { box-sizing: border-box; }
.w {
  --ink: #1a1d27; --soft: #565d6d; --line: #dcdfe7; --edge: #868da0; --alert: #9b1c1c; --alert-paper: #fdf0f0;
  --shade: 0 1px 2px rgb(20 22 40 / 6%), 0 8px 24px rgb(20 22 40 / 5%); --lift: 0 2px 4px rgb(20 22 40 / 7%), 0 16px 40px rgb(20 22 40 / 10%);
  color-scheme: light; padding: 1.75rem; border-radius: calc(var(--r) + .5rem); background: var(--paper); color: var(--ink);
  font: 1rem/1.55 var(--hostpanel-font, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif); text-align: start; overflow-wrap: anywhere;
}
.w.dark {
  --ink: #eceef4; --soft: #a8afbf; --line: #303543; --edge: #7b8397; --alert: #ffb3b3; --alert-paper: #3a1b1f; --shade: none; --lift: 0 16px 40px rgb(0 0 0 / 45%);
  color-scheme: dark;
}
h2, h3, p, ul, ol, dl, dd, fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
ul, ol { list-style: none; }
h2 { font-size: 1.5rem; font-weight: 700; line-height: 1.25; letter-spacing: -.015em; }
h3 { font-size: 1.25rem; font-weight: 700; line-height: 1.3; letter-spacing: -.01em; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.note { color: var(--soft); font-size: .875rem; font-weight: 400; }
.about { margin-top: .25rem; color: var(--soft); white-space: pre-line; }
.good { color: var(--good); font-weight: 600; }
.centre { text-align: center; }
.icon { flex: none; width: 1.25em; height: 1.25em; fill: none; stroke: currentcolor; stroke-width: 2.25; stroke-linecap: round; stroke-linejoin: round; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }

.periods { display: grid; justify-content: center; margin-bottom: 1.75rem; }
.switch { display: flex; gap: .25rem; padding: .25rem; border: 1px solid var(--line); border-radius: 99px; background: var(--card); }
.switch label { position: relative; }
.switch input { position: absolute; inset: 0; min-height: 0; margin: 0; opacity: 0; cursor: pointer; }
.choice { overflow-wrap: normal; display: flex; align-items: center; gap: .5rem; min-height: 2.5rem; padding: 0 1.125rem; border-radius: 99px; color: var(--soft); font-weight: 600; cursor: pointer; }
.choice:hover { color: var(--ink); }
.switch :checked + .choice { background: var(--tint); color: var(--link); }
.switch :focus-visible + .choice { outline: 3px solid var(--link); outline-offset: 2px; }
.pill { padding: .0625rem .5rem; border-radius: 99px; background: var(--glow); color: var(--good); font-size: .8125rem; font-weight: 650; white-space: nowrap; }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16.5rem), 1fr)); gap: 1.25rem; margin-bottom: 1.25rem; }
.card { padding: 1.75rem; border: 1px solid var(--line); border-radius: var(--r); background: var(--card); box-shadow: var(--shade); }
.cards > .card { display: grid; grid-row: span 4; grid-template-rows: subgrid; align-content: start; gap: 1.25rem; max-width: 30rem; }
.cards > .card:hover { border-color: var(--edge); box-shadow: var(--lift); }
.cards > .card.chosen { border-color: var(--link); box-shadow: inset 0 0 0 1px var(--link), var(--shade); }
.above { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .625rem; margin-bottom: .375rem; }
.sort { color: var(--link); font-size: .8125rem; font-weight: 650; letter-spacing: .02em; }
.price { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .375rem; }
.amount { font-size: 2.25rem; font-weight: 750; line-height: 1.15; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.per { color: var(--soft); }
.saved { display: flex; flex-wrap: wrap; gap: 0 .375rem; }
.extra { display: grid; margin-top: .375rem; color: var(--soft); font-size: .875rem; }
.features { display: grid; align-content: start; gap: .625rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: .9375rem; }
.features li { display: flex; gap: .625rem; }
.features .icon { margin-top: .125em; color: var(--good); }

a { color: var(--link); }
button, a.main { min-height: 2.875rem; padding: .5rem 1.25rem; border: 1px solid var(--edge); border-radius: var(--r-small); background: transparent; color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
button:hover { border-color: var(--ink); }
button.main, a.main { border-color: var(--button-edge); background: var(--button); color: var(--on-button); }
a.main { text-decoration: none; }
button.main:disabled { opacity: .6; cursor: default; }
button.main:enabled:hover, a.main:hover { background: var(--button-over); }
button.wide { width: 100%; min-height: 3.25rem; font-size: 1.0625rem; }
button.busy { cursor: progress; opacity: .75; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }

table { width: 100%; margin-bottom: 1.25rem; border: 1px solid var(--line); border-spacing: 0; border-radius: var(--r); background: var(--card); box-shadow: var(--shade); }
th, td { padding: 1.375rem 1.5rem; border-top: 1px solid var(--line); text-align: start; vertical-align: top; font-weight: 400; }
thead th, thead td { padding-block: .875rem; border-top: 0; color: var(--soft); font-size: .875rem; font-weight: 600; }
tbody th { width: 26%; }
tr.chosen > :first-child { box-shadow: inset 4px 0 var(--link); }
td.what .features { grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .375rem 1rem; padding: 0; border: 0; }
td .amount { font-size: 1.5rem; }
td.cost { width: 24%; }
td.do { width: 1%; white-space: nowrap; vertical-align: middle; }

dialog { width: min(35rem, 100vw - 2rem); max-width: none; max-height: calc(100dvh - 2rem); margin: auto; padding: 0; overflow: auto; border: 0; border-radius: calc(var(--r) + .25rem); background: var(--card); color: var(--ink); box-shadow: 0 24px 80px rgb(0 0 0 / 35%); overscroll-behavior: contain; }
dialog::backdrop { background: rgb(10 12 20 / 60%); }
.sheet { padding: 2rem; }
.head { display: flex; gap: 1rem; justify-content: space-between; margin-bottom: 1.25rem; }
.close { flex: none; display: grid; place-items: center; width: 2.75rem; min-height: 2.75rem; height: 2.75rem; margin: -.5rem -.5rem 0 0; padding: 0; border-color: transparent; color: var(--soft); }
.sheet .periods { justify-content: stretch; margin-bottom: 1.5rem; }
.sheet .switch { background: var(--paper); }
.sheet .switch label { flex: 1; }
.sheet .choice { justify-content: center; }
.sheet .switch :checked + .choice { background: var(--card); box-shadow: var(--shade), inset 0 0 0 1px var(--line); }
.field { margin-bottom: 1.125rem; }
.field label, legend { display: block; font-weight: 600; }
.field > .note { margin-top: .25rem; }
input, select { width: 100%; min-height: 2.875rem; margin: .375rem 0 0; padding: .5rem .875rem; border: 1px solid var(--edge); border-radius: var(--r-small); background: var(--card); color: inherit; font: inherit; }
input:hover, select:hover { border-color: var(--ink); }
input:focus-visible, select:focus-visible { outline-offset: 0; }
.wrong input, .wrong select { border-color: var(--alert); box-shadow: inset 0 0 0 1px var(--alert); }
.mistake:empty, .progress:empty { display: none; }
.mistake { margin-top: .25rem; color: var(--alert); font-size: .9375rem; font-weight: 600; }
.alert { margin-bottom: 1.25rem; padding: .75rem 1rem; border: 1px solid var(--alert); border-radius: var(--r-small); background: var(--alert-paper); color: var(--alert); }
.methods .method { display: flex; gap: .75rem; align-items: center; min-height: 2.875rem; margin-top: .5rem; padding: .5rem .875rem; border: 1px solid var(--line); border-radius: var(--r-small); font-weight: 500; cursor: pointer; }
.methods .method:has(:checked) { border-color: var(--link); background: var(--tint); }
.methods input { flex: none; width: 1.25rem; min-height: 1.25rem; margin: 0; accent-color: var(--link); }
.summary { margin: 1.5rem 0; padding: 1rem 1.25rem; border-radius: var(--r-small); background: var(--paper); }
.line { display: flex; gap: 1rem; justify-content: space-between; padding: .25rem 0; }
.line dd { font-variant-numeric: tabular-nums; white-space: nowrap; }
.line.strong { margin-top: .375rem; padding-top: .625rem; border-top: 1px solid var(--line); font-weight: 700; font-size: 1.0625rem; }
.do { display: grid; gap: .75rem; text-align: center; }
td.do { display: table-cell; }
.progress { color: var(--soft); }

.empty { display: grid; justify-items: center; gap: 1rem; padding: 2.5rem 1.5rem; text-align: center; }
.mark { flex: none; display: grid; place-items: center; width: 3rem; height: 3rem; border-radius: 50%; background: var(--tint); color: var(--link); font-size: 1.25rem; }
.active .mark { background: var(--glow); color: var(--good); }
.cancelled .mark, .refunded .mark { background: var(--paper); color: var(--soft); }
.result { display: grid; gap: 1.5rem; max-width: 40rem; margin: 0 auto; }
.top { display: flex; gap: 1.125rem; align-items: flex-start; }
.steps { display: grid; grid-template-columns: repeat(4, 1fr); }
.steps li { position: relative; display: grid; justify-items: center; gap: .375rem; color: var(--soft); font-size: .875rem; text-align: center; }
.steps li + li::before { content: ""; position: absolute; top: .6875rem; right: calc(50% + .875rem); left: calc(-50% + .875rem); height: 2px; background: var(--line); }
.steps .done::before { background: var(--good) !important; }
.dot { display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border: 2px solid var(--edge); border-radius: 50%; background: var(--card); font-size: .75rem; }
.done .dot { border-color: var(--good); background: var(--good); color: var(--card); }
.done .dot .icon { stroke-width: 4; }
.now { color: var(--ink) !important; font-weight: 600; }
.now .dot { border-color: var(--link); box-shadow: 0 0 0 4px var(--tint); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, auto)); justify-content: space-between; gap: 1rem; padding: 1.125rem 1.25rem; border-radius: var(--r-small); background: var(--paper); }
.facts dt { color: var(--soft); font-size: .875rem; }
.facts dd { font-weight: 600; }

.bones { pointer-events: none; }
.bone { display: block; height: 1rem; border-radius: .375rem; background: var(--line); }
.bone.short { width: 45%; } .bone.tall { height: 2.25rem; width: 60%; } .bone.button { height: 2.875rem; }

@container (max-width: 52rem) {
  table, tbody, tbody tr, tbody th, tbody td { display: block; width: auto !important; border: 0; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table { background: none; box-shadow: none; }
  tbody tr { margin-bottom: 1.25rem; padding: 1.5rem; border: 1px solid var(--line); border-radius: var(--r); background: var(--card); box-shadow: var(--shade); }
  tbody th, tbody td { padding: 0 0 1rem; }
  tbody tr.chosen { border-color: var(--link); }
  tr.chosen > :first-child { box-shadow: none; }
  tbody td.do { display: block; padding: 0; }
  td.do button { width: 100%; }
}
@container (max-width: 30rem) {
  .w { padding: 1rem; }
  .card { padding: 1.375rem; }
  .choice { padding: 0 .75rem; font-size: .9375rem; }
  .periods { justify-content: stretch; }
  .switch { border-radius: 1.5rem; }
  .switch label { flex: 1; }
  .switch .choice { flex-wrap: wrap; align-content: center; justify-content: center; gap: 0 .375rem; height: 100%; border-radius: 1.25rem; }
  .facts { grid-template-columns: 1fr; gap: .625rem; }
  .buttons { display: grid; }
}
@media (max-width: 32rem) {
  dialog { width: 100vw; max-height: 100dvh; height: 100dvh; border-radius: 0; }
  .sheet { padding: 1.375rem 1.125rem 2rem; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .card, .choice, input, select { transition: background-color .14s, border-color .14s, box-shadow .14s, color .14s; }
  dialog[open] { animation: rise .2s ease-out; }
  .bone { animation: breathe 1.6s ease-in-out infinite alternate; }
  .now .dot { animation: pulse 1.6s ease-in-out infinite alternate; }
}
@media (forced-colors: active) {
  .switch :checked + .choice, .now .dot { outline: 2px solid Highlight; }
  .pill, .mark, .dot, .summary, .facts { border: 1px solid; }
}
@keyframes rise { from { opacity: 0; transform: translateY(.75rem); } }
@keyframes breathe { to { opacity: .45; } }
@keyframes pulse { to { box-shadow: 0 0 0 7px var(--tint); } }
`);
})();
