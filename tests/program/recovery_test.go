//go:build system

package program_test

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
	"hostpanel/tests/processtest"
)

// A backup is restored beside an outside that is newer: orders were set up, paid and
// refunded after it. Until an operator ends the recovery mode nothing is asked of the
// outside. Then what is there is found, and nothing is done twice.
func TestARestoredPanelDoesNothingTwice(t *testing.T) {
	t.Parallel()
	w := beforeTheLoss(t)
	from := filepath.Join(t.TempDir(), "backup.zip")
	w.Must("backup", "--out", from)
	w.goOn()
	w.loseDatabase(from)

	before := w.outside()
	r := w.Start()
	w.bank.DeliverTo(r.Base + "/storefront/webhooks/stripe/")
	body := strings.Replace(fmt.Sprintf(processtest.Ordered, w.d.Plans.Hosting, "new@customer.example", "new.example"),
		`"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	if a := r.Ask(503, "POST", "/storefront/api/orders/", body, "X-API-Key", w.d.APIKey, "Content-Type",
		processtest.AsJSON); a.Field(t, "code") != "payment_provider_unavailable" {
		t.Errorf("%s", a.Body)
	}
	told := w.bank.Event("checkout.session.completed", map[string]any{
		"id": w.bank.Sessions(w.lost.id)[0].ID, "object": "checkout.session", "client_reference_id": w.lost.id,
		"payment_status": "paid",
	})
	r.Ask(200, "POST", "/storefront/webhooks/stripe/", string(told.Body), stripe.Header,
		stripetest.Sign(told.Body, time.Now(), stripetest.Secret))
	if list := w.Must("webhooks", "list"); !strings.Contains(list, "stored") {
		t.Errorf("the webhook waits in the inbox:\n%s", list)
	}
	if open := w.Must("incidents", "list"); !strings.Contains(open, operations.RecoveryMode) {
		t.Errorf("%s", open)
	}
	if figures := r.Ask(200, "GET", "/metrics", "").Body; !strings.Contains(figures, "\nhostpanel_recovery_mode 1\n") {
		t.Error("the figures do not tell of the recovery mode")
	}
	r.Stop()
	if now := w.outside(); now != before {
		t.Errorf("the panel reached outside in recovery mode:\n%s\ninstead of\n%s", now, before)
	}

	r = w.Start()
	w.Must("recovery", "end", "--reason", "the bank and the engine were compared", "--yes")
	r.AwaitActive(w.halfway.id, w.d.APIKey, processtest.Patience)
	w.awaitStatus(w.refunded, "refunded")
	w.awaitStatus(w.unpaid, "failed")
	if shown := w.Must("orders", "show", w.unpaid.number); !strings.Contains(shown, "name_taken") {
		t.Errorf("the site of a lost tenant is named to the operator:\n%s", shown)
	}
	w.onceOutside()
	if now := w.outside(); strings.Contains(now, "\ntenant t1000") { // ids go on 10,000 higher
		t.Errorf("another client was made:\n%s\ninstead of\n%s", now, before)
	}
	if story := w.Must("history", w.halfway.number); !strings.Contains(story, "welcome mail") {
		t.Errorf("%s", story)
	}
	if told := w.Must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
	if _, complaint, code := w.Command("recovery", "end", "--reason", "again", "--yes"); code != console.Failed ||
		!strings.Contains(complaint, "not in recovery mode") {
		t.Errorf("%d: %s", code, complaint)
	}
	r.Stop()
}

// A lossOf is a panel whose database is lost, and the outside that stays.
type lossOf struct {
	processtest.Home
	t       *testing.T
	bank    *stripetest.Server
	d       serve.Demo
	r       *processtest.Process
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
	w := &lossOf{Home: processtest.NewHome(t), t: t, bank: stripetest.Start(t, stripetest.Options{})}
	w.Env = []string{
		"STRIPE_SECRET_KEY=" + stripetest.Key, "STRIPE_API_URL=" + w.bank.URL,
		"STRIPE_WEBHOOK_SECRET=" + stripetest.Secret,
	}
	w.first = eventstoretest.Owner(t, strings.TrimPrefix(w.At[0], "DATABASE_URL="))
	w.now, w.d = w.first, w.Demo()
	w.r = w.Start()
	w.bank.DeliverTo(w.r.Base + "/storefront/webhooks/stripe/")
	w.early, w.refunded = w.order("early"), w.order("refunded")
	for _, one := range []bought{w.early, w.refunded} {
		w.pay(one)
		w.r.AwaitActive(one.id, w.d.APIKey, processtest.Patience)
	}
	w.Must("sandbox", "set", "busy", "--call", "find", "--kind", "tenant", "--times", "1000000")
	w.halfway, w.unpaid = w.order("halfway"), w.order("unpaid")
	w.pay(w.halfway)
	processtest.Eventually(t, "the setup waits for its client", func() bool { return w.step(w.halfway) == "tenant.ready" })
	return w
}

func (w *lossOf) order(name string) bought {
	w.t.Helper()
	body := strings.Replace(fmt.Sprintf(processtest.Ordered, w.d.Plans.Hosting, name+"@customer.example", name+".example"),
		`"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	a := w.r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", w.d.APIKey, "Content-Type", processtest.AsJSON)
	return bought{a.Field(w.t, "order_id"), a.Field(w.t, "order_number")}
}

func (w *lossOf) pay(b bought) { w.bank.Pay(w.bank.Sessions(b.id)[0].ID) }

// step is where the setup of an order stands.
func (w *lossOf) step(b bought) (step string) {
	_ = w.now.QueryRow(w.t.Context(), `select steps -> step ->> 'name' from saga_run where key = 'provision:' || $1`,
		b.id).Scan(&step)
	return step
}

func (w *lossOf) awaitStatus(b bought, want string) {
	w.t.Helper()
	processtest.Eventually(w.t, b.number+" is "+want, func() bool {
		var status string
		err := w.now.QueryRow(w.t.Context(), `select status from orders where id = $1`, b.id).Scan(&status)
		return err == nil && status == want
	})
}

// goOn lets everything happen that the backup does not know of.
func (w *lossOf) goOn() {
	w.t.Helper()
	w.Must("sandbox", "clear")
	w.lost = w.order("lost")
	w.pay(w.unpaid)
	w.pay(w.lost)
	w.Must("orders", "refund", w.refunded.number, "--reason", "the customer has asked for it")
	for _, one := range []bought{w.halfway, w.unpaid, w.lost} {
		w.r.AwaitActive(one.id, w.d.APIKey, processtest.Patience)
	}
	w.awaitStatus(w.refunded, "refunded")
	w.r.Stop()
}

// loseDatabase restores the backup into another database, in which the sandboxes have
// what they have now.
func (w *lossOf) loseDatabase(from string) {
	w.t.Helper()
	url := eventstoretest.Database(w.t, "empty", nil)
	w.At = processtest.DatabaseAt(url)
	w.Must("restore", "--without-erasures", "--from", from)
	w.now = eventstoretest.Owner(w.t, url)
	keepOutside(w.t, w.first, w.now)
}

// keepOutside gives the sandboxes of a restored database what those of the lost one have.
func keepOutside(t *testing.T, lost, now *pgxpool.Pool) {
	t.Helper()
	for _, table := range []string{
		"sandbox_engine.objects", "sandbox_engine.creations", "sandbox_compute.machines",
		"sandbox_compute.creations", "sandbox_faults.ordered",
	} {
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
	must(w.t, w.now.QueryRow(w.t.Context(),
		`select coalesce(string_agg(kind || ' ' || name || ' ' || ref, E'\n' order by made_at, kind, name), '') from `+
			`sandbox_engine.creations`).Scan(&made))
	b.WriteString(made + "\n")
	for _, name := range slices.Sorted(maps.Keys(w.mails())) {
		b.WriteString(name + "\n")
	}
	return b.String()
}

// mails are the files of the outbox, with the time at which each was written.
func (w *lossOf) mails() map[string]time.Time {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.Dir, "outbox", "*.eml"))
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
		processtest.OnlyMail(w.t, w.Dir, one.number)
	}
	if refunds := w.bank.Refunds(w.bank.Sessions(w.refunded.id)[0].Payment); len(refunds) != 1 {
		w.t.Errorf("refunded: %+v", refunds)
	}
	var twice []string
	must(w.t, w.now.QueryRow(w.t.Context(), `
		select coalesce(array_agg(kind || ' ' || name), '{}') from (select kind, name from sandbox_engine.creations
			group by 1, 2 having count(*) > 1) x`).Scan(&twice))
	if len(twice) > 0 {
		w.t.Errorf("made twice at the engine: %v", twice)
	}
}

// Processes that run keep to the recovery mode as soon as it begins, and go on when it has
// ended. What is asked meanwhile waits.
func TestRunningProcessesKeepToTheRecoveryMode(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r, d := h.Start(), h.Demo()
	buy := func(name string) (id, page string) {
		t.Helper()
		placed := r.Ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(processtest.Ordered, d.Plans.Hosting,
			name+"@customer.example", name+".example"), "X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON)
		return placed.Field(t, "order_id"), processtest.PathOf(t, placed.Field(t, "payment_url"))
	}
	owner := eventstoretest.Owner(t, strings.TrimPrefix(h.At[0], "DATABASE_URL="))
	token := func(id string) (n int64) {
		must(t, owner.QueryRow(t.Context(),
			`select coalesce(max(lease_token), 0) from saga_run where key = 'provision:' || $1`, id).Scan(&n))
		return n
	}
	h.Must("sandbox", "set", "busy", "--call", "find", "--kind", "tenant", "--times", "1000000")
	halfway, page := buy("halfway")
	r.Ask(303, "POST", page, "action=pay", "Content-Type", processtest.AsForm)
	processtest.Eventually(t, "the setup waits for its client", func() bool { return token(halfway) > 2 })
	before, page := buy("before")
	h.Must("recovery", "begin", "--reason", "the disk was exchanged")
	began := token(halfway)
	r.Ask(303, "POST", page, "action=pay", "Content-Type", processtest.AsForm)
	h.Must("sandbox", "clear")
	if _, complaint, code := h.Command("recovery", "begin", "--reason", "again"); code != console.Failed ||
		!strings.Contains(complaint, "is being recovered") {
		t.Errorf("%d: %s", code, complaint)
	}
	processtest.Eventually(t, "the webhook is stored", func() bool {
		return strings.Contains(h.Must("webhooks", "list"),
			"stored")
	})
	if now := token(halfway); now != began || began < 1000 {
		t.Errorf("the run was claimed: token %d, and %d at the beginning of the mode", now, began)
	}
	if a := r.Ask(200, "GET", "/storefront/api/orders/"+before+"/", "", "X-API-Key", d.APIKey); a.Field(t,
		"status") != "payment_processing" {
		t.Errorf("%s", a.Body)
	}
	h.Must("recovery", "end", "--reason", "nothing was lost", "--yes")
	r.AwaitActive(halfway, d.APIKey, processtest.Patience)
	r.AwaitActive(before, d.APIKey, processtest.Patience)
	r.Stop()
}
