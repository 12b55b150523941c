package program

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// scrapeTime bounds how long a scrape may keep the database.
const scrapeTime = 5 * time.Second

// figures are read from the log and the tables beside it at each request. A
// figure that cannot be read is left out.
type figures struct{ program *Program }

// Figures are what /metrics shows of the panel, beside the figures of the process.
func (p *Program) Figures() prometheus.Collector { return figures{p} }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hostpanel_"+name, help, labels, nil)
}

var (
	up          = describe("up", "1: the figures could be read from the database.")
	position    = describe("log_position", "Events in the log.")
	headAge     = describe("log_head_age_seconds", "Time since the last event.")
	orderCounts = describe("orders", "Orders by status.", "status")
	readers     = describe("reader_lag_events", "Events that a reader of the log has yet to see.", "reader")
	unread      = describe("reader_lag_seconds", "Age of the first event that a reader of the log has yet to see.", "reader")
	longest     = describe("transaction_oldest_seconds", "How long the oldest transaction at the database is open.")
	behind      = describe("projection_lag_events", "Events that a read table has yet to take in.", "projection")
	live        = describe("projection_live", "1: the read table is in step with the log; 0: being built, or failed.", "projection")
	incident    = describe("incidents_open", "Troubles that operators have to see to, by kind.", "kind")
	verified    = describe("log_verified_position", "Up to where the log was verified in the background, this time.")
	checked     = describe("log_verified_age_seconds", "Time since the log was verified to its end; before the first time, since it began.")
	broken      = describe("log_broken_events", "Events that were not as they were written, this time.")
	tasksDue    = describe("task_due", "Tasks that are due.", "queue")
	taskOldest  = describe("task_oldest_due_seconds", "How long the oldest of them has been due.", "queue")
	taskFailing = describe("task_failing", "Tasks whose last attempt failed, and that are repeated.", "queue")
	taskParked  = describe("task_parked", "Tasks that need a person.", "queue")
	hashes      = describe("password_hashes_total", "Hashes of passwords that this process has computed.")
)

// ofSagas are the figures that sagas know of themselves.
var ofSagas = []figure{
	gauge("saga_oldest_ready_seconds", "How long the oldest run that is due has been waiting.", func(g assembly.Gauges) float64 {
		return g.OldestReady.Seconds()
	}),
	gauge("saga_ready", "Runs that are due.", func(g assembly.Gauges) float64 { return float64(g.Ready) }),
	gauge("saga_running", "Runs that are being worked on.", func(g assembly.Gauges) float64 { return float64(g.Running) }),
	gauge("saga_waiting", "Runs that wait for their time.", func(g assembly.Gauges) float64 { return float64(g.Waiting) }),
	gauge("saga_parked", "Runs that need a person.", func(g assembly.Gauges) float64 { return float64(g.Parked) }),
	gauge("saga_leases_expired", "Runs whose worker is lost.", func(g assembly.Gauges) float64 { return float64(g.LeasesExpired) }),
	gauge("effects_unknown", "Calls to the outside without an answer for over a minute.", func(g assembly.Gauges) float64 {
		return float64(g.UnknownEffects)
	}),
	gauge("inbox_stored", "Webhooks that no worker has handled yet.", func(g assembly.Gauges) float64 { return float64(g.InboxStored) }),
	gauge("inbox_age_seconds", "Age of the oldest of them.", func(g assembly.Gauges) float64 { return g.InboxAge.Seconds() }),
	gauge("inbox_unmatched", "Webhooks whose order was never found.", func(g assembly.Gauges) float64 { return float64(g.Unmatched) }),
	gauge("orders_held", "Orders that a person has to look at.", func(g assembly.Gauges) float64 { return float64(g.Held) }),
	gauge("readers_poisoned", "Events that a reader of the log has put aside.", func(g assembly.Gauges) float64 {
		return float64(g.Poisoned)
	}),
	counter("saga_steps_total", "Steps done by this process.", func(g assembly.Gauges) float64 { return float64(g.Completed) }),
	counter("saga_fenced_total", "Writes of workers that had lost their lease, dropped.", func(g assembly.Gauges) float64 {
		return float64(g.Fenced)
	}),
	counter("payment_checks_total", "Orders looked at by this process.", func(g assembly.Gauges) float64 { return float64(g.Checked) }),
	counter("webhooks_rejected_total", "Webhooks that were not authentic.", func(g assembly.Gauges) float64 { return float64(g.Rejected) }),
}

// A figure is one number of them.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(assembly.Gauges) float64
}

func gauge(name, help string, of func(assembly.Gauges) float64) figure {
	return figure{describe(name, help), prometheus.GaugeValue, of}
}

func counter(name, help string, of func(assembly.Gauges) float64) figure {
	return figure{describe(name, help), prometheus.CounterValue, of}
}

// Registry is what /metrics shows of this process: the figures of the panel, or of the view
// of the past, its traffic, its connections, and the figures of the process itself.
func (p *Program) Registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	p.counts().register(r)
	r.MustRegister(
		p.ownFigures(), pools{p}, buildInfo(), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}

// ownFigures are those of the panel, or of the view of the past.
func (p *Program) ownFigures() prometheus.Collector {
	if p.past != nil {
		return p.pastFigures()
	}
	return p.Figures()
}

// openStreams are the answers of this process that do not end.
func openStreams(count func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hostpanel_streams_open", Help: "Answers of this process that do not end."},
		func() float64 { return float64(count()) })
}

// Describe names the figures.
func (f figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		up, position, headAge, orderCounts, readers, unread, longest, behind, live, incident, verified, checked,
		broken, waitsForRelease, unsealed, unsealedAge, witnessedAge, troubled, hashes, tasksDue, taskOldest,
		taskFailing, taskParked,
	} {
		to <- d
	}
	for _, g := range ofSagas {
		to <- g.desc
	}
}

// Collect reads them.
func (f figures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	well := 1.0
	for _, read := range []func(context.Context, chan<- prometheus.Metric) error{
		f.ofLog, f.ofVerification, f.ofTransparency, f.ofReaders, f.ofTransactions, f.ofTables, f.ofOrders,
		f.ofIncidents, f.ofSagas, f.ofTasks, f.ofRecovery,
	} {
		if err := read(ctx, to); err != nil {
			f.program.Log.WarnContext(ctx, "figures could not be read", "error", err)
			well = 0
		}
	}
	to <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, well)
	to <- prometheus.MustNewConstMetric(hashes, prometheus.CounterValue, float64(credentials.PasswordHashes()))
}

func (f figures) ofLog(ctx context.Context, to chan<- prometheus.Metric) error {
	head, at, err := f.program.Store.Reader().Head(ctx)
	if err != nil {
		return err
	}
	to <- prometheus.MustNewConstMetric(position, prometheus.GaugeValue, float64(head))
	if head > 0 {
		to <- prometheus.MustNewConstMetric(headAge, prometheus.GaugeValue, f.program.Store.Clock().Since(at).Seconds())
	}
	return nil
}

func (f figures) ofVerification(ctx context.Context, to chan<- prometheus.Metric) error {
	v, err := f.program.Store.Reader().Verification(ctx)
	if err != nil {
		return err
	}
	to <- prometheus.MustNewConstMetric(verified, prometheus.GaugeValue, float64(v.Position))
	to <- prometheus.MustNewConstMetric(broken, prometheus.GaugeValue, float64(v.Broken))
	switch {
	case v.VerifiedAt != nil:
		to <- prometheus.MustNewConstMetric(checked, prometheus.GaugeValue, clock.Since(*v.VerifiedAt).Seconds())
	case v.Begun != nil:
		to <- prometheus.MustNewConstMetric(checked, prometheus.GaugeValue, f.program.Store.Clock().Since(*v.Begun).Seconds())
	}
	return nil
}

func (f figures) ofRecovery(ctx context.Context, to chan<- prometheus.Metric) error {
	on, err := f.program.Sagas.Runner.InRecovery(ctx)
	if err != nil {
		return err
	}
	to <- prometheus.MustNewConstMetric(waitsForRelease, prometheus.GaugeValue, map[bool]float64{true: 1}[on])
	return nil
}

func (f figures) ofIncidents(ctx context.Context, to chan<- prometheus.Metric) error {
	open, err := f.program.Tables.For(projections.System).Operations().OpenIncidents(ctx)
	if err != nil {
		return err
	}
	for _, kind := range operations.IncidentKinds {
		to <- prometheus.MustNewConstMetric(incident, prometheus.GaugeValue, float64(open[kind]), kind)
	}
	return nil
}

func (f figures) ofReaders(ctx context.Context, to chan<- prometheus.Metric) error {
	lags, err := f.program.Store.Reader().Lags(ctx)
	for name, lag := range lags {
		age := 0.0
		if lag.Since != nil {
			age = f.program.Store.Clock().Since(*lag.Since).Seconds()
		}
		to <- prometheus.MustNewConstMetric(readers, prometheus.GaugeValue, float64(lag.Events), name)
		to <- prometheus.MustNewConstMetric(unread, prometheus.GaugeValue, age, name)
	}
	return err
}

func (f figures) ofTransactions(ctx context.Context, to chan<- prometheus.Metric) error {
	age, err := f.program.Store.Reader().OldestTransaction(ctx)
	if err != nil {
		return err
	}
	to <- prometheus.MustNewConstMetric(longest, prometheus.GaugeValue, age.Seconds())
	return nil
}

func (f figures) ofTables(ctx context.Context, to chan<- prometheus.Metric) error {
	states, err := f.program.Tables.For(projections.System).Operations().States(ctx)
	for _, s := range states {
		to <- prometheus.MustNewConstMetric(behind, prometheus.GaugeValue, float64(s.Head-s.Position), s.Name)
		to <- prometheus.MustNewConstMetric(live, prometheus.GaugeValue, map[bool]float64{true: 1}[s.Status == "live"], s.Name)
	}
	return err
}

func (f figures) ofOrders(ctx context.Context, to chan<- prometheus.Metric) error {
	counts, err := f.program.Tables.For(projections.System).Orders().OrdersByStatus(ctx)
	if err != nil {
		return err
	}
	for _, status := range order.Statuses {
		to <- prometheus.MustNewConstMetric(orderCounts, prometheus.GaugeValue, float64(counts[status]), string(status))
	}
	return nil
}

func (f figures) ofSagas(ctx context.Context, to chan<- prometheus.Metric) error {
	found, err := f.program.Sagas.Gauges(ctx)
	if err != nil {
		return err
	}
	for _, g := range ofSagas {
		to <- prometheus.MustNewConstMetric(g.desc, g.kind, g.of(found))
	}
	return nil
}

func (f figures) ofTasks(ctx context.Context, to chan<- prometheus.Metric) error {
	queues, err := f.program.Sagas.Runner.Operators.TaskGauges(ctx)
	if err != nil {
		return err
	}
	for _, q := range queues {
		to <- prometheus.MustNewConstMetric(tasksDue, prometheus.GaugeValue, float64(q.Due), q.Queue)
		to <- prometheus.MustNewConstMetric(taskOldest, prometheus.GaugeValue, q.OldestDue.Seconds(), q.Queue)
		to <- prometheus.MustNewConstMetric(taskFailing, prometheus.GaugeValue, float64(q.Failing), q.Queue)
		to <- prometheus.MustNewConstMetric(taskParked, prometheus.GaugeValue, float64(q.Parked), q.Queue)
	}
	return nil
}
