// Package browsertest drives a headless Chromium in tests: pages of other sites
// with the order form, and pages of the panel. `make browser` installs it;
// without it the tests are skipped.
package browsertest

import (
	"context"
	_ "embed" // axe
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Page is a tab of the test's own, with cookies and storage of its own.
type Page struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // chromedp keeps the tab in it
	mu      sync.Mutex
	console []string
}

const (
	life    = 8 * time.Minute
	enough  = time.Minute // for a state to come
	between = 20 * time.Millisecond
)

// opened lets tests see into closed shadow roots, and remember which were
// closed. `deep` finds an element through them; `deepAll` finds all.
const opened = `
(() => {
  const attach = Element.prototype.attachShadow;
  window.closedRoots = 0;
  Element.prototype.attachShadow = function (options) {
    if (options.mode === "closed") window.closedRoots++;
    return attach.call(this, { ...options, mode: "open" });
  };
  window.deepAll = (selector, root = document) => {
    const found = [...root.querySelectorAll(selector)];
    for (const host of root.querySelectorAll("*")) if (host.shadowRoot) found.push(...deepAll(selector, host.shadowRoot));
    return found;
  };
  window.deep = (selector) => {
    const shown = deepAll(selector).filter((el) => el.checkVisibility());
    return shown[shown.length - 1] ?? null;
  };
  document.addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI));
  window.painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  window.focused = () => {
    let el = document.activeElement;
    while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
    return el;
  };
})()`

// Open opens a tab. The test is skipped where there is no Chromium: all tests need Go alone,
// and `.ci/run` installs Chromium before it runs them.
func Open(t testing.TB) *Page {
	t.Helper()
	program := find()
	if program == "" {
		t.Skip("no Chromium is installed: `make browser` installs it")
	}
	browser, err := shared.open(program)
	if err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(browser, life)
	ctx, leave := chromedp.NewContext(limited, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close the tab: %v", err)
		}
		leave()
		cancel()
	})
	p := &Page{t: t, ctx: ctx}
	p.Before(opened)
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.Size(1280, 900)
	return p
}

// Before runs a script in each page that is opened from now on, before its own.
func (p *Page) Before(script string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// find returns the path of an installed Chromium; empty: there is none. CHROMIUM
// names the only one that is taken, or "none".
func find() string {
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"}
	if only := os.Getenv("CHROMIUM"); only != "" {
		names = []string{only}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// hear keeps what the page writes to its console.
func (p *Page) hear(event any) {
	line := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		line = string(e.Type) + ":"
		for _, a := range e.Args {
			line += " " + strings.Trim(string(a.Value), `"`) + a.Description
		}
	case *runtime.EventExceptionThrown:
		line = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			line += " " + e.ExceptionDetails.Exception.Description
		}
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.console = append(p.console, line)
}

// Console is what the pages have written to their consoles.
func (p *Page) Console() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.console, "\n")
}

func (p *Page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatalf("%v\n%s", err, p.Console())
	}
}

// Go opens an address.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address))
}

// Back goes back, as the browser's button does.
func (p *Page) Back() {
	p.t.Helper()
	p.Text("setTimeout(() => history.back())") // later: with the page, the answer would go
}

// Text evaluates an expression to a text.
func (p *Page) Text(expression string) string {
	p.t.Helper()
	text, err := p.evaluate(expression)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", expression, err, p.Console())
	}
	return text
}

func (p *Page) evaluate(expression string) (string, error) {
	return chromedp.Run(p.ctx, chromedp.Evaluate[string]("(async () => String(await ("+expression+")))()", chromedp.EvalAwaitPromise))
}

// Until waits until an expression holds. Pages may change meanwhile.
func (p *Page) Until(expression string) {
	p.t.Helper()
	var last error
	for end := time.Now().Add(enough); time.Now().Before(end); time.Sleep(between) {
		holds, err := p.evaluate("Boolean(" + expression + ")")
		if err == nil && holds == "true" {
			return
		}
		last = err
	}
	p.t.Fatalf(
		"it never came to %s (%v)\nat %s\n%s\n%s\n%s", expression, last, p.Text("location.href"),
		p.Text("focused()?.outerHTML"),
		p.Text("deepAll('*').filter(e=>e.shadowRoot).map(e=>e.shadowRoot.textContent).join()||document.body.innerText"),
		p.Console(),
	)
}

// See waits until the page shows a text.
func (p *Page) See(text string) {
	p.t.Helper()
	p.Until(
		fmt.Sprintf(
			`[document.body, ...deepAll("*").filter(e => e.shadowRoot).flatMap(e => [...e.shadowRoot.children])]`+
				`.some(e => e.innerText.replace(/\s+/g, " ").includes(%s))`,
			quoted(text),
		),
	)
}

// Click clicks an element with the mouse, once it is there and painted: before
// its first picture a browser drops what is done to a page.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(p.middle(selector)))
}

func (p *Page) middle(selector string) (x, y float64) {
	p.t.Helper()
	p.Until("deep(" + quoted(selector) + ")")
	var at [2]float64
	text := p.Text(
		fmt.Sprintf(
			`(async () => { await painted(); const el = deep(%s); `+
				`el.scrollIntoView({ block: "center", behavior: "instant" }); const r = el.getBoundingClientRect(); `+
				`return JSON.stringify([r.x + r.width / 2, r.y + r.height / 2]); })()`,
			quoted(selector),
		),
	)
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	return at[0], at[1]
}

// Type clicks a field and types a text into it.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Click(selector)
	p.Keys(text)
}

// Keys types on the keyboard; package kb has names for its keys.
func (p *Page) Keys(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// Size sets the size of the window.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// Prefers sets what the user prefers: {"prefers-color-scheme", "dark"}.
func (p *Page) Prefers(feature, value string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// Picture writes what the window shows to a file, if a folder is named in
// SCREENSHOTS.
func (p *Page) Picture(name string) {
	p.t.Helper()
	p.picture(name, chromedp.FullScreenshot(100))
}

func (p *Page) picture(name string, take chromedp.Action[[]byte]) {
	p.t.Helper()
	if folder := os.Getenv("SCREENSHOTS"); folder != "" {
		p.write(filepath.Join(folder, name+".png"), take)
	}
}

func (p *Page) write(file string, take chromedp.Action[[]byte]) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, take)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o750)
	}
	if err == nil {
		err = os.WriteFile(file, picture, 0o644) //nolint:gosec // a picture for all
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// View writes what is seen of the page without scrolling, as [Page.Picture] does.
func (p *Page) View(name string) {
	p.t.Helper()
	p.picture(name, chromedp.CaptureScreenshot())
}

//go:embed axe.min.js
var axe string

// Accessible runs axe-core on the page: the rules of WCAG 2.2 AA and best
// practices.
func (p *Page) Accessible(what string) {
	p.t.Helper()
	if p.Text("typeof window.axe") == "undefined" {
		if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[*runtime.RemoteObject](axe)); err != nil {
			p.t.Fatal(err)
		}
	}
	found := p.Text(`axe.run(document, {
			resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
		}).then((r) => r.violations.map((v) => v.id + ": " + v.help + " " +
			v.nodes.map((n) => n.target.flat().join(" ") + " " + n.failureSummary).join("; ")).join("\n"))`)
	if found != "" {
		p.t.Errorf("%s: %s", what, found)
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
