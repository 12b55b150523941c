package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
)

// A backup is restored beside an outside that is newer: orders were set up, paid and
// refunded after it. Until an operator ends the recovery mode nothing is asked of the
// outside. Then what is there is found, and nothing is done twice.
func TestARestoredPanelDoesNothingTwice(t *testing.T) {
	t.Parallel()
	w := beforeTheLoss(t)
	from := filepath.Join(t.TempDir(), "backup.zip")
	w.must("backup", "--out", from)
	w.goOn()
	w.loseDatabase(from)

	before := w.outside()
	r := w.start()
	w.bank.DeliverTo(r.base + "/storefront/webhooks/stripe/")
	body := strings.Replace(fmt.Sprintf(ordered, w.d.Plans.Hosting, "new@customer.example", "new.example"), `"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	if a := r.ask(503, "POST", "/storefront/api/orders/", body, "X-API-Key", w.d.APIKey, "Content-Type", asJSON); a.field(t, "code") != "payment_provider_unavailable" {
		t.Errorf("%s", a.body)
	}
	told := w.bank.Event("checkout.session.completed", map[string]any{
		"id": w.bank.Sessions(w.lost.id)[0].ID, "object": "checkout.session", "client_reference_id": w.lost.id, "payment_status": "paid",
	})
	r.ask(200, "POST", "/storefront/webhooks/stripe/", string(told.Body), stripe.Header, stripetest.Sign(told.Body, time.Now(), stripetest.Secret))
	if list := w.must("webhooks", "list"); !strings.Contains(list, "stored") {
		t.Errorf("the webhook waits in the inbox:\n%s", list)
	}
	if open := w.must("incidents", "list"); !strings.Contains(open, operations.RecoveryMode) {
		t.Errorf("%s", open)
	}
	if figures := r.ask(200, "GET", "/metrics", "").body; !strings.Contains(figures, "\nhostpanel_recovery_mode 1\n") {
		t.Error("the figures do not tell of the recovery mode")
	}
	r.stop()
	if now := w.outside(); now != before {
		t.Errorf("the panel reached outside in recovery mode:\n%s\ninstead of\n%s", now, before)
	}

	r = w.start()
	w.must("recovery", "end", "--reason", "the bank and the engine were compared", "--yes")
	r.awaitActive(w.halfway.id, w.d.APIKey, patience)
	w.awaitStatus(w.refunded, "refunded")
	w.awaitStatus(w.unpaid, "failed")
	if shown := w.must("orders", "show", w.unpaid.number); !strings.Contains(shown, "name_taken") {
		t.Errorf("the site of a lost tenant is named to the operator:\n%s", shown)
	}
	w.onceOutside()
	if now := w.outside(); strings.Contains(now, "\ntenant t1000") { // ids go on 10,000 higher
		t.Errorf("another client was made:\n%s\ninstead of\n%s", now, before)
	}
	if story := w.must("history", w.halfway.number); !strings.Contains(story, "welcome mail") {
		t.Errorf("%s", story)
	}
	if told := w.must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
	if _, complaint, code := w.command("recovery", "end", "--reason", "again", "--yes"); code != console.Failed || !strings.Contains(complaint, "not in recovery mode") {
		t.Errorf("%d: %s", code, complaint)
	}
	r.stop()
}

// A lossOf is a panel whose database is lost, and the outside that stays.
type lossOf struct {
	home
	t       *testing.T
	bank    *stripetest.Server
	d       serve.Demo
	r       *running
	first   *pgxpool.Pool // the database that is lost, which has the sandboxes
	now     *pgxpool.Pool
	halfway bought // was being set up at the backup
	unpaid  bought // was not paid at the backup
	early   bought // was active
	lost    bought // came after the backup

	refunded bought // was active at the backup, and was refunded after it
}

type bought struct{ id, number string }

// beforeTheLoss is a panel with orders in every state.
func beforeTheLoss(t *testing.T) *lossOf {
	t.Helper()
	w := &lossOf{home: newHome(t), t: t, bank: stripetest.Start(t, stripetest.Options{})}
	w.env = []string{"STRIPE_SECRET_KEY=" + stripetest.Key, "STRIPE_API_URL=" + w.bank.URL, "STRIPE_WEBHOOK_SECRET=" + stripetest.Secret}
	w.first = eventstoretest.Owner(t, strings.TrimPrefix(w.at[0], "DATABASE_URL="))
	w.now, w.d = w.first, w.demo()
	w.r = w.start()
	w.bank.DeliverTo(w.r.base + "/storefront/webhooks/stripe/")
	w.early, w.refunded = w.order("early"), w.order("refunded")
	for _, one := range []bought{w.early, w.refunded} {
		w.pay(one)
		w.r.awaitActive(one.id, w.d.APIKey, patience)
	}
	w.must("sandbox", "set", "busy", "--call", "find", "--kind", "tenant", "--times", "1000000")
	w.halfway, w.unpaid = w.order("halfway"), w.order("unpaid")
	w.pay(w.halfway)
	eventually(t, "the setup waits for its client", patience, func() bool { return w.step(w.halfway) == "tenant.ready" })
	return w
}

func (w *lossOf) order(name string) bought {
	w.t.Helper()
	body := strings.Replace(fmt.Sprintf(ordered, w.d.Plans.Hosting, name+"@customer.example", name+".example"), `"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	a := w.r.ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", w.d.APIKey, "Content-Type", asJSON)
	return bought{a.field(w.t, "order_id"), a.field(w.t, "order_number")}
}

func (w *lossOf) pay(b bought) { w.bank.Pay(w.bank.Sessions(b.id)[0].ID) }

// step is where the setup of an order stands.
func (w *lossOf) step(b bought) (step string) {
	_ = w.now.QueryRow(w.t.Context(), `select steps -> step ->> 'name' from saga_run where key = 'provision:' || $1`, b.id).Scan(&step)
	return step
}

func (w *lossOf) awaitStatus(b bought, want string) {
	w.t.Helper()
	eventually(w.t, b.number+" is "+want, patience, func() bool {
		var status string
		err := w.now.QueryRow(w.t.Context(), `select status from orders where id = $1`, b.id).Scan(&status)
		return err == nil && status == want
	})
}

// goOn lets everything happen that the backup does not know of.
func (w *lossOf) goOn() {
	w.t.Helper()
	w.must("sandbox", "clear")
	w.lost = w.order("lost")
	w.pay(w.unpaid)
	w.pay(w.lost)
	w.must("orders", "refund", w.refunded.number, "--reason", "the customer has asked for it")
	for _, one := range []bought{w.halfway, w.unpaid, w.lost} {
		w.r.awaitActive(one.id, w.d.APIKey, patience)
	}
	w.awaitStatus(w.refunded, "refunded")
	w.r.stop()
}

// loseDatabase restores the backup into another database, in which the sandboxes have
// what they have now.
func (w *lossOf) loseDatabase(from string) {
	w.t.Helper()
	url := eventstoretest.Database(w.t, "empty", nil)
	w.at = databaseAt(url)
	w.must("restore", "--without-erasures", "--from", from)
	w.now = eventstoretest.Owner(w.t, url)
	keepOutside(w.t, w.first, w.now)
}

// keepOutside gives the sandboxes of a restored database what those of the lost one have.
func keepOutside(t *testing.T, lost, now *pgxpool.Pool) {
	t.Helper()
	for _, table := range []string{"sandbox_engine.objects", "sandbox_engine.creations", "sandbox_compute.machines", "sandbox_compute.creations", "sandbox_faults.ordered"} {
		copyTable(t, table, lost, now)
	}
}

func copyTable(t *testing.T, table string, lost, now *pgxpool.Pool) {
	t.Helper()
	var rows bytes.Buffer
	from, err := lost.Acquire(t.Context())
	must(t, err)
	defer from.Release()
	_, err = from.Conn().PgConn().CopyTo(t.Context(), &rows, `copy `+table+` to stdout`)
	must(t, err)
	to, err := now.Acquire(t.Context())
	must(t, err)
	defer to.Release()
	_, err = to.Exec(t.Context(), `delete from `+table)
	must(t, err)
	_, err = to.Conn().PgConn().CopyFrom(t.Context(), &rows, `copy `+table+` from stdin`)
	must(t, err)
}

// outside is all that the panel has ever done outside.
func (w *lossOf) outside() string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "calls at the bank: %d\n", len(w.bank.Calls("")))
	var made string
	must(w.t, w.now.QueryRow(w.t.Context(), `select coalesce(string_agg(kind || ' ' || name || ' ' || ref, E'\n' order by made_at, kind, name), '') from sandbox_engine.creations`).Scan(&made))
	b.WriteString(made + "\n")
	for _, name := range slices.Sorted(maps.Keys(w.mails())) {
		b.WriteString(name + "\n")
	}
	return b.String()
}

// mails are the files of the outbox, with the time at which each was written.
func (w *lossOf) mails() map[string]time.Time {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "outbox", "*.eml"))
	must(w.t, err)
	found := map[string]time.Time{}
	for _, name := range files {
		info, err := os.Stat(name)
		must(w.t, err)
		found[name] = info.ModTime()
	}
	return found
}

// onceOutside asks of the outside that it has everything once.
func (w *lossOf) onceOutside() {
	w.t.Helper()
	for _, one := range []bought{w.early, w.refunded, w.halfway, w.unpaid, w.lost} {
		if sessions := w.bank.Sessions(one.id); len(sessions) != 1 || sessions[0].PaymentStatus != "paid" {
			w.t.Errorf("%s has the sessions %+v", one.number, sessions)
		}
		onlyMail(w.t, w.dir, one.number)
	}
	if refunds := w.bank.Refunds(w.bank.Sessions(w.refunded.id)[0].Payment); len(refunds) != 1 {
		w.t.Errorf("refunded: %+v", refunds)
	}
	var twice []string
	must(w.t, w.now.QueryRow(w.t.Context(), `
		select coalesce(array_agg(kind || ' ' || name), '{}') from (select kind, name from sandbox_engine.creations group by 1, 2 having count(*) > 1) x`).Scan(&twice))
	if len(twice) > 0 {
		w.t.Errorf("made twice at the engine: %v", twice)
	}
}

// Processes that run keep to the recovery mode as soon as it begins, and go on when it has
// ended. What is asked meanwhile waits.
func TestRunningProcessesKeepToTheRecoveryMode(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, d := h.start(), h.demo()
	buy := func(name string) (id, page string) {
		t.Helper()
		placed := r.ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(ordered, d.Plans.Hosting, name+"@customer.example", name+".example"), "X-API-Key", d.APIKey, "Content-Type", asJSON)
		return placed.field(t, "order_id"), pathOf(t, placed.field(t, "payment_url"))
	}
	owner := eventstoretest.Owner(t, strings.TrimPrefix(h.at[0], "DATABASE_URL="))
	token := func(id string) (n int64) {
		must(t, owner.QueryRow(t.Context(), `select coalesce(max(lease_token), 0) from saga_run where key = 'provision:' || $1`, id).Scan(&n))
		return n
	}
	h.must("sandbox", "set", "busy", "--call", "find", "--kind", "tenant", "--times", "1000000")
	halfway, page := buy("halfway")
	r.ask(303, "POST", page, "action=pay", "Content-Type", asForm)
	eventually(t, "the setup waits for its client", patience, func() bool { return token(halfway) > 2 })
	before, page := buy("before")
	h.must("recovery", "begin", "--reason", "the disk was exchanged")
	began := token(halfway)
	r.ask(303, "POST", page, "action=pay", "Content-Type", asForm)
	h.must("sandbox", "clear")
	if _, complaint, code := h.command("recovery", "begin", "--reason", "again"); code != console.Failed || !strings.Contains(complaint, "is being recovered") {
		t.Errorf("%d: %s", code, complaint)
	}
	eventually(t, "the webhook is stored", patience, func() bool { return strings.Contains(h.must("webhooks", "list"), "stored") })
	if now := token(halfway); now != began || began < 1000 {
		t.Errorf("the run was claimed: token %d, and %d at the beginning of the mode", now, began)
	}
	if a := r.ask(200, "GET", "/storefront/api/orders/"+before+"/", "", "X-API-Key", d.APIKey); a.field(t, "status") != "payment_processing" {
		t.Errorf("%s", a.body)
	}
	h.must("recovery", "end", "--reason", "nothing was lost", "--yes")
	r.awaitActive(halfway, d.APIKey, patience)
	r.awaitActive(before, d.APIKey, patience)
	r.stop()
}
