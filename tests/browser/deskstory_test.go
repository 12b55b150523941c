//go:build system

package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// An operator comes from the mail of an alarm, signs in, lands on the order that has
// stopped, sees why, lets it go on, and watches it become active without reloading.
func TestAnOperatorFollowsAnAlarmToItsOrderAndWatchesItBecomeActive(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := paneltest.Office(t).Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{
		Call: faults.Create, Kind: "site", Name: "fails.example",
		What: faults.Refuse, Times: 100,
	}); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"domain":"fails.example",`, 1)))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusFailed)
	var link string
	s.Until(t, "the alarm has gone out by mail", func() bool {
		return s.Owner.QueryRow(t.Context(), `select data->>'url' from events where name = 'notification.mail_requested' `+
			`and data->>'template' = 'order_parked' and data->>'user' = '901'`).Scan(&link) == nil
	})
	p.Go(s.Public + link)
	p.Until(`location.pathname === "/login/"`)
	p.Type("#sign_in-username", paneltest.OpMail)
	p.Type("#sign_in-password", paneltest.Password)
	p.Click("form button.main")
	p.Until(`location.pathname === "` + link + `"`)
	p.See("Failed")
	p.See("refused for good")
	p.See("Website of the domain")
	p.Accessible("the page of an order that has stopped")
	p.Picture("order-stopped")
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Click(`details:has(input[value="retry"]) summary`)
	p.Type("#retry-reason", "the engine is well again")
	p.Click(`details:has(input[value="retry"]) button.main`)
	p.See("The order goes on.")
	p.Text("window.here = true")
	p.Until(`document.querySelector("#state .badge").textContent === "Active"`)
	p.Until(`document.querySelector("#past").innerText.includes("Setup goes on")`)
	if p.Text("window.here") != "true" {
		// It was active before the page came, or it was loaded anew: what comes next tells.
		t.Error("the page was loaded anew")
	}
	s.Accepted(t, "orders/"+a.ID+"/resend_mail/", `{"reason":"it was lost"}`)
	p.Until(`document.querySelector("#past").innerText.includes("Welcome mail asked for")`)
	unread := p.Text(`Number(document.querySelector(".bell .number").textContent)`)
	s.Raise(t, 901, "Something new")
	p.Until(`Number(document.querySelector(".bell .number").textContent) > ` + unread)
	if p.Text("window.here") != "true" {
		t.Error("the page was loaded anew")
	}
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}

// Operators' pages are accessible in both colour schemes, on small and large screens,
// with and without something to show.
func TestTheOperatorsPagesAreAccessible(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	p.Go(s.Public + "/login/")
	p.Type("#sign_in-username", paneltest.OpMail)
	p.Type("#sign_in-password", paneltest.Password)
	p.Click("form button.main")
	p.Until(`location.pathname === "/storefront/"`)
	pages := map[string]string{
		"orders": "orders/", "orders-none": "orders/?search=none", "order": "orders/" + s.Known["running"] + "/",
		"order-failed": "orders/" + s.Known["failed"] + "/",
		"incidents":    "incidents/", "incidents-none": "incidents/?kind=log_broken", "runs": "runs/",
		"runs-none": "runs/?search=none",
		"run":       "runs/" + s.Known["parked"] + "/", "inbox": "inbox/", "inbox-none": "inbox/?search=none",
		"inbox-entry": "inbox/1/", "reconciliation": "reconciliation/",
	}
	pages["incident"] = strings.TrimPrefix(notice.IncidentPage(paneltest.ChangedAtEngine.ID()), "/storefront/")
	for name, width := range map[string]int64{"-320": 320, "": 1440} {
		p.Size(width, 900)
		for title, path := range pages {
			p.Go(s.Public + "/storefront/" + path)
			p.Until(`document.readyState === "complete"`)
			if at := p.Text("scrollY"); at != "0" {
				t.Errorf("%s%s begins at %s, below its header", title, name, at)
			}
			p.Text(`document.querySelectorAll("details").forEach((d) => d.open = true)`)
			for _, scheme := range []string{"light", "dark"} {
				p.Prefers("prefers-color-scheme", scheme)
				p.Accessible(title + name + " " + scheme)
				if p.Text("document.documentElement.scrollWidth > innerWidth") == "true" {
					t.Errorf("%s%s is wider than the screen", title, name)
				}
				p.Picture("desk-" + title + name + "-" + scheme)
			}
		}
	}
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
