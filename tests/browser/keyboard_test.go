//go:build system

package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"hostpanel/domain/account"
	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// A walker goes through pages with the keyboard alone.
type walker struct {
	*browsertest.Page
	t *testing.T
}

// to presses Tab until an element has the focus. On the way, the focus is seen, and goes
// through the page in the order of its text.
func (w walker) to(selector string) {
	w.t.Helper()
	const most = 60
	for range most {
		w.Keys(kb.Tab)
		at := strings.SplitN(w.Text(`(() => {
			const el = focused(), before = window.before;
			window.before = el;
			const box = el.getBoundingClientRect(), { outlineStyle, outlineWidth } = getComputedStyle(el);
			const isSeen = box.width > 1 && box.bottom > 0 && box.top < innerHeight &&
				outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
			const isNext = !before || Boolean(before.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING);
			return [el.matches(`+"`"+selector+"`"+`), isSeen, isNext, location.pathname + " " + el.outerHTML.slice(0, 120)].join("|");
		})()`), "|", 4)
		if at[1] != "true" || at[2] != "true" {
			w.t.Fatalf("the focus is seen: %s, in order: %s: %s", at[1], at[2], at[3])
		}
		if at[0] == "true" {
			return
		}
	}
	w.t.Fatalf("%d times Tab do not lead to %s", most, selector)
}

// follows goes to a link and presses Enter.
func (w walker) follows(link, page string) {
	w.t.Helper()
	w.to(link)
	w.enters("", page)
}

// enters types a text and presses Enter, which leads to a page.
func (w walker) enters(text, page string) {
	w.t.Helper()
	w.Keys(text + kb.Enter)
	w.Until("document.readyState === 'complete' && /^" + strings.ReplaceAll(page, "/", `\/`) +
		"$/.test(location.pathname)")
}

// skips goes past the menu.
func (w walker) skips() {
	w.t.Helper()
	w.to("a.skip")
	w.Keys(kb.Enter)
	w.Until(`location.hash === "#content"`)
}

func TestACustomerMakesASiteADatabaseAndAMailboxWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := paneltest.Office(t).Start(t)
	s.Resident(t, 950, "keys@example.com", "en", false)
	s.Tenant(t, 950, "Keys")
	s.Do(t, account.GrantMembership{User: 950, Tenant: 950, Role: account.Admin, At: time.Now()})
	w := walker{p, t}
	p.Go(s.Public + "/login/?next=/panel/")
	p.Until(`focused().id === "sign_in-username"`)
	p.Keys("keys@example.com")
	w.to("#sign_in-password")
	w.enters(paneltest.Password, "/panel/")
	w.skips()
	w.follows(`main a[href="/panel/sites/"]`, "/panel/sites/")
	w.skips()
	w.follows(`main a[href="/panel/sites/new/"]`, "/panel/sites/new/")
	w.skips()
	w.to("#panel_create-domain")
	w.enters("keys.example", "/panel/sites/[0-9]+/")
	w.follows(`nav a[href="/panel/databases/"]`, "/panel/databases/")
	w.skips()
	w.follows(`main a[href="/panel/databases/new/"]`, "/panel/databases/new/")
	w.skips()
	w.to("#panel_create-name")
	w.Keys("keys" + kb.Enter)
	w.See("Copy this now") // a password that was made up
	w.follows(`nav a[href="/panel/mail-domains/"]`, "/panel/mail-domains/")
	w.skips()
	w.follows(`main a[href="/panel/mail-domains/new/"]`, "/panel/mail-domains/new/")
	w.skips()
	w.to("#panel_create-domain")
	w.enters("keys.example", "/panel/mail-domains/[0-9]+/")
	w.skips()
	w.follows(`main a[href^="/panel/mailboxes/new/"]`, "/panel/mailboxes/new/")
	w.skips()
	w.to("#panel_create-local_part")
	w.Keys("ana")
	w.to("#panel_create-password")
	w.enters("a good password, really", "/panel/mailboxes/[0-9]+/")
	for _, kind := range []string{"site", "database", "mail_domain", "mailbox"} {
		if n := s.Count(t, `select count(*) from resources where kind = $1 and present`, kind); n != 1 {
			t.Errorf("%d of %s", n, kind)
		}
	}

	p.Size(320, 700) // a menu that is wider than the window begins with the page that is shown
	p.Go(s.Public + "/panel/mailboxes/")
	p.Until(`document.readyState === "complete"`)
	if seen := p.Text(paneltest.MenuShowsThePage); seen != "true" {
		t.Error("the menu does not show where one is")
	}
}
