package operations

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Watch tells how the panel is.
type Watch interface {
	// Standstill is what does not go on by itself.
	Standstill(context.Context) (operations.Standstill, error)
	// Readers are the readers of the log, by name.
	Readers(context.Context) ([]operations.LogReader, error)
}

// Health names the failed checks of /readyz.
type Health interface {
	Ready(context.Context) map[string]string
}

const (
	overviewPath = operationsPrefix + "overview/"
	overviewDays = 30
	healthTime   = 5 * time.Second
)

// An overview is what operators look at first.
type overview struct {
	at       time.Time
	checks   map[string]string // failed ones
	standing operations.Standstill
	backlog  projections.Backlog
	today    projections.OrderDay
	Held     []holdEntry
	Checks   []checkEntry
	Money    []moneyEntry
	Days     []dayEntry
	Readers  []readerEntry
}

func (s *reports) overview(ctx context.Context, c route.Call) (*overview, error) {
	o := &overview{at: s.callers.Now()}
	var err error
	if o.backlog, err = s.callers.Scope(c).Operations().Backlog(ctx, o.at.AddDate(0, 0, 1-overviewDays)); err != nil {
		return nil, err
	}
	if o.standing, err = s.watch.Standstill(ctx); err != nil {
		return nil, err
	}
	checking, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	o.checks = s.health.Ready(checking)
	o.arrange()
	return o, nil
}

// arrange makes lists of what was found.
func (o *overview) arrange() {
	for _, hold := range orderHolds {
		o.Held = append(o.Held, holdEntry{hold, o.backlog.Held[order.Hold(hold)]})
	}
	for _, name := range slices.Sorted(maps.Keys(o.checks)) {
		o.Checks = append(o.Checks, checkEntry{name, o.checks[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(o.standing.ReaderLags)) {
		o.Readers = append(o.Readers, readerEntry{name, o.standing.ReaderLags[name]})
	}
	for _, d := range o.backlog.Days {
		o.Days = append(o.Days, dayEntry{d})
		if o.ago(d.Day) == 0 {
			o.today.Placed, o.today.Paid = o.today.Placed+d.Placed, o.today.Paid+d.Paid
			o.today.Active, o.today.Failed = o.today.Active+d.Active, o.today.Failed+d.Failed
		}
	}
	o.Money = o.money()
}

// ago is how many days before today a day was.
func (o *overview) ago(day time.Time) int {
	const whole = 24 * time.Hour
	return int(o.at.UTC().Truncate(whole).Sub(day.UTC().Truncate(whole)) / whole)
}

// money adds up today, seven days and thirty, for each currency in which money has
// moved. Test payments stand behind real ones.
func (o *overview) money() (all []moneyEntry) {
	for _, d := range o.backlog.Days {
		if d.Received == 0 && d.Returned == 0 {
			continue
		}
		if !slices.ContainsFunc(all, func(m moneyEntry) bool { return m.isOf(d) }) {
			for _, days := range []int64{1, 7, overviewDays} {
				all = append(all, moneyEntry{currency: d.Currency, test: d.Test, days: days})
			}
		}
		for i := range all {
			if all[i].isOf(d) && int64(o.ago(d.Day)) < all[i].days {
				all[i].received, all[i].returned = all[i].received+d.Received, all[i].returned+d.Returned
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moneyEntry) int {
		return cmp.Or(compareFlags(a.test, b.test), cmp.Compare(a.currency, b.currency))
	})
	return all
}

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Fields are the overview.
func (o *overview) Fields() field.Set {
	status, n := "ok", &o.standing
	if len(o.checks) > 0 {
		status = "unavailable"
	}
	return field.Set{
		field.Time("generated_at", &o.at).ReadOnly(),
		field.Text("status", &status).Among("ok", "unavailable").ReadOnly().Doc("As at /readyz."),
		field.Objects("checks", &o.Checks).Doc("What is wrong; empty: nothing."),
		field.Within("orders_today", true, func() field.Set { return figuresOf(&o.today) }),
		field.Objects("held_orders", &o.Held).Doc("Orders that a person has to look at, by reason."),
		field.Int("failed_orders", &o.backlog.Failed).ReadOnly().Doc("Orders whose setup has stopped."),
		field.Int("parked_runs", &n.ParkedRuns).ReadOnly(),
		field.Int("open_incidents", &o.backlog.Incidents).ReadOnly(),
		field.Int("unmatched_webhooks", &n.UnmatchedWebhooks).ReadOnly(),
		field.Int("parked_webhooks", &n.ParkedWebhooks).ReadOnly().Doc("On which acting has failed too often."),
		field.Int("failing_mails", &n.FailingMails).ReadOnly().Doc("Mails that could not be sent so far, and are tried again."),
		field.Objects("money", &o.Money).Doc("Today, in 7 days and in 30, for each currency in which money has moved."),
		field.Objects("days", &o.Days).Doc("The last 30 days, by day and currency; a day without orders is absent."),
		field.Objects("readers", &o.Readers).Doc("How far the readers of the log are behind."),
	}
}

func figuresOf(d *projections.OrderDay) field.Set {
	return field.Set{
		field.Int("placed", &d.Placed).ReadOnly(),
		field.Int("paid", &d.Paid).ReadOnly(),
		field.Int("active", &d.Active).ReadOnly().Doc("Orders that became active."),
		field.Int("failed", &d.Failed).ReadOnly().Doc("How often a setup has stopped."),
	}
}

// A holdEntry counts the orders that are held for one reason.
type holdEntry struct {
	Hold   string
	Orders int64
}

// Fields are the figure.
func (h *holdEntry) Fields() field.Set {
	return field.Set{
		field.Text("hold", &h.Hold).Among(orderHolds...).ReadOnly(),
		field.Int("orders", &h.Orders).ReadOnly(),
	}
}

// A checkEntry is a check that has failed.
type checkEntry struct{ Name, Problem string }

// Fields are the check.
func (e *checkEntry) Fields() field.Set {
	return field.Set{field.Text("name", &e.Name).ReadOnly(), field.Text("problem", &e.Problem).ReadOnly()}
}

// A moneyEntry is what came in and what went back in some days up to today.
type moneyEntry struct {
	currency           string
	test               bool
	days               int64
	received, returned int64
}

func (m moneyEntry) isOf(d projections.OrderDay) bool {
	return m.currency == d.Currency && m.test == d.Test
}

// Fields are the sums.
func (m *moneyEntry) Fields() field.Set {
	received, returned := money.Major(m.received, m.currency), money.Major(m.returned, m.currency)
	return append(currencyFields(&m.currency, &m.test),
		field.Int("days", &m.days).ReadOnly().Doc("Up to today, which counts."), amount("received", &received),
		amount("returned", &returned))
}

func currencyFields(currency *string, test *bool) field.Set {
	return field.Set{
		field.Text("currency", currency).ReadOnly(),
		field.Flag("is_test", test).ReadOnly().Doc("Whether it is no real money."),
	}
}

func amount(name string, at *decimal.Decimal) field.Field {
	return field.Amount(name, at, 14, 2).ReadOnly()
}

// A dayEntry is what happened to orders of one currency on one day.
type dayEntry struct{ projections.OrderDay }

// Fields are the day.
func (d *dayEntry) Fields() field.Set {
	day := d.Day.Format(time.DateOnly)
	received, returned := money.Major(d.Received, d.Currency), money.Major(d.Returned, d.Currency)
	set := append(field.Set{field.Text("day", &day).ReadOnly()}, currencyFields(&d.Currency, &d.Test)...)
	return append(append(set, figuresOf(&d.OrderDay)...), amount("received", &received),
		amount("returned", &returned).Doc("Below zero where a refund came back."))
}

// A readerEntry tells how far a reader of the log is behind.
type readerEntry struct {
	Name string
	Lag  int64
}

// Fields are the reader.
func (r *readerEntry) Fields() field.Set {
	return field.Set{
		field.Text("name", &r.Name).ReadOnly(),
		field.Int("events_behind", &r.Lag).ReadOnly().Doc("Events that it has yet to see."),
	}
}
