//go:build system

package program_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

// Virtual servers were made, PayPal orders captured and messages delivered after the
// backup. The restored panel adopts the servers, captures nothing again, and repeats a
// message under its id.
func TestARestoredPanelAdoptsServersAndCaptures(t *testing.T) {
	t.Parallel()
	w := beforeServersAreLost(t)
	from := filepath.Join(t.TempDir(), "backup")
	w.Must("backup", "--out", from)
	w.goOn()
	url := eventstoretest.Database(t, "empty", nil)
	w.At = processtest.DatabaseAt(url)
	w.Must("restore", "--without-erasures", "--from", from)
	now := eventstoretest.Owner(t, url)
	keepOutside(t, w.first, now)
	w.first = now

	before := w.outside()
	w.open(url)
	late := w.there.Tell("CHECKOUT.ORDER.APPROVED", map[string]any{"id": w.atPayPal(w.lost).ID, "intent": "CAPTURE"})
	if status := w.tell(late); status != 200 {
		t.Errorf("a webhook is answered with %d", status)
	}
	w.ask(503, "POST", w.base+"/storefront/api/orders/", w.wish("new@customer.example"), "X-API-Key", w.key,
		"Content-Type", processtest.AsJSON)
	if list := w.Must("webhooks", "list"); !strings.Contains(list, "stored") {
		t.Errorf("the webhook waits in the inbox:\n%s", list)
	}
	w.stop()
	if after := w.outside(); after != before {
		t.Errorf("the panel reached outside in recovery mode:\n%s\ninstead of\n%s", after, before)
	}

	w.open(url)
	heard := len(w.hears())
	w.Must("recovery", "end", "--reason", "the servers and PayPal were compared", "--yes")
	for _, id := range w.bought() {
		w.becomes(id, "active")
	}
	again, _ := w.hearer.hears(t, "site.created", heard)
	if first := w.refused; again.head.Get("webhook-id") != first.head.Get("webhook-id") || again.body != first.body {
		t.Errorf("the message comes again as %v %s, and was %v %s", again.head, again.body, first.head, first.body)
	}
	w.stop()
	w.onceOutside()
	for _, m := range w.hears()[len(w.told):] {
		if slices.ContainsFunc(w.told, func(old message) bool { return old.head.Get("webhook-id") == m.head.Get("webhook-id") }) {
			t.Errorf("a message that the backup shows as delivered comes again: %s", m.body)
		}
	}
}

// A lossOfServers is a panel that sells virtual servers for PayPal, and loses its database.
type lossOfServers struct {
	processtest.Home
	*shop
	hearer  *hookHearer
	told    []message // delivered before the backup
	refused message   // that a site was created, before the backup
	first   *pgxpool.Pool
	unpaid  string // had nothing at the backup
	asked   string // was being captured at the backup
	halfway string // was waiting for its server
	lost    string // came after the backup
}

// beforeServersAreLost is such a panel, with orders in every state and a message on its way.
func beforeServersAreLost(t *testing.T) *lossOfServers {
	t.Helper()
	url, dir, there := eventstoretest.URL(t), t.TempDir(), paypaltest.Start()
	t.Cleanup(there.Close)
	w := &lossOfServers{
		Home: processtest.Home{T: t, Dir: dir, At: processtest.DatabaseAt(url)}, shop: &shop{there: there},
		hearer: hearing(t), first: eventstoretest.Owner(t, url),
	}
	w.open(url)
	w.Must("sandbox", "set", "busy", "--target", "compute", "--call", "create", "--times", "1000000")
	w.halfway = w.buys("halfway@customer.example")
	processtest.Eventually(t, "the setup waits for its server", func() bool { return w.step(w.halfway) == "vm" })
	w.there.Break(paypaltest.Fault{Call: "capture", What: paypaltest.FailBefore, Times: 1000000})
	calls := w.there.Calls("capture")
	w.asked = w.buys("asked@customer.example")
	processtest.Eventually(t, "the money is asked for", func() bool { return w.there.Calls("capture") > calls })
	w.unpaid, _ = w.order("unpaid@customer.example")
	d := w.Demo()
	login := w.ask(200, "POST", w.base+"/api/token/", processtest.PasswordLogin(d.TenantAdmin.Username,
		d.TenantAdmin.Password), "Content-Type", processtest.AsJSON)
	admin := []string{"Authorization", "Bearer " + login.Field(t, "access"), "Content-Type", processtest.AsJSON}
	w.ask(201, "POST", w.base+"/hosting/api/rest/webhook-endpoints/",
		fmt.Sprintf(`{"url":"%s/","events":["site.*"]}`, w.hearer.URL), admin...)
	w.ask(201, "POST", w.base+"/hosting/api/rest/sites/", `{"domain":"told.example"}`, admin...)
	w.delivered()
	w.told = w.hears()
	w.hearer.answers(503)
	w.ask(201, "POST", w.base+"/hosting/api/rest/sites/", `{"domain":"hooks.example"}`, admin...)
	w.refused, _ = w.hearer.hears(t, "site.created", len(w.told))
	return w
}

func (w *lossOfServers) open(url string) { w.shop = openShopAt(w.Home.T, w.there, url, w.Dir) }

// buys places an order and approves its payment.
func (w *lossOfServers) buys(email string) string {
	id, page := w.order(email)
	w.approves(page)
	return id
}

func (w *lossOfServers) approves(page string) {
	w.ask(303, "POST", page, "action=approve", "Content-Type", processtest.AsForm)
	for _, told := range w.there.Take() {
		w.tell(told)
	}
}

func (w *lossOfServers) step(id string) (step string) {
	_ = w.first.QueryRow(w.Context(), `select steps -> step ->> 'name' from saga_run where key = 'provision:' || $1`,
		id).Scan(&step)
	return step
}

func (w *lossOfServers) bought() []string { return []string{w.unpaid, w.asked, w.halfway} }

// goOn lets everything happen that the backup does not know of.
func (w *lossOfServers) goOn() {
	w.Must("sandbox", "clear")
	w.there.Repair()
	w.hearer.answers(200)
	w.there.Approve(w.atPayPal(w.unpaid).ID)
	for _, told := range w.there.Take() {
		w.tell(told)
	}
	w.lost = w.buys("lost@customer.example")
	for _, id := range append(w.bought(), w.lost) {
		w.becomes(id, "active")
	}
	w.delivered()
	w.stop()
}

// delivered waits until there are messages, and all are delivered.
func (w *lossOfServers) delivered() {
	w.Helper()
	processtest.Eventually(w.Home.T, "the messages are delivered", func() bool {
		var all, open int
		err := w.first.QueryRow(w.Context(),
			`select count(*), count(*) filter (where status <> 'done') from saga_run where key like 'webhook:%'`).Scan(&all, &open)
		return err == nil && all > 0 && open == 0
	})
}

// atPayPal is an order as PayPal has it.
func (w *lossOfServers) atPayPal(id string) paypaltest.Order {
	w.Helper()
	o, found := w.there.OrderOf(id)
	if !found {
		w.Fatalf("PayPal has no order %s", id)
	}
	return o
}

func (w *lossOfServers) hears() []message {
	w.hearer.mu.Lock()
	defer w.hearer.mu.Unlock()
	return slices.Clone(w.hearer.got)
}

// outside is all that was asked for outside.
func (w *lossOfServers) outside() string {
	var made string
	must(w.Home.T, w.first.QueryRow(w.Context(),
		`select string_agg(name || ' ' || tag, E'\n' order by made_at) from sandbox_compute.creations`).Scan(&made))
	return fmt.Sprintf("%d looks and %d captures at PayPal, %d messages, %d mails\n%s", w.there.Calls("get"),
		w.there.Calls("capture"), len(w.hears()), len(processtest.MailsAbout(w.Home.T, w.Dir, "ORD-")), made)
}

// onceOutside asks of the outside that each order has its money, server and mail once,
// and of the panel that it knows that server.
func (w *lossOfServers) onceOutside() {
	w.Helper()
	if made := w.there.Done("capture", ""); made != 4 {
		w.Errorf("%d captures for four orders", made)
	}
	for _, id := range append(w.bought(), w.lost) {
		var number, external, known string
		if o := w.atPayPal(id); len(o.Captures) != 1 || len(o.Refunds) != 0 {
			w.Errorf("%s at PayPal: %+v", id, o)
		}
		must(w.Home.T, w.first.QueryRow(w.Context(),
			`select min(id::text) from sandbox_compute.creations where tag = $1 having count(*) = 1`, id).Scan(&external))
		if id == w.lost {
			continue
		}
		must(w.Home.T, w.first.QueryRow(w.Context(), `select order_number from orders where id = $1`, id).Scan(&number))
		processtest.OnlyMail(w.Home.T, w.Dir, number)
		if story := w.Must("history", number); strings.Count(story, " arrived, payment ") != 1 {
			w.Errorf("paid not once:\n%s", story)
		}
		must(w.Home.T, w.first.QueryRow(w.Context(),
			`select external from resources where kind = 'vm' and requested_for = 'order:' || $1`, id).Scan(&known))
		if known != external {
			w.Errorf("the panel knows the server of %s as %s, and it is %s", number, known, external)
		}
	}
}
