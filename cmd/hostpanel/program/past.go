package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

// hidden are tables with what is no event. They say how it is today, and not how it was
// then, so a view of the past shows nothing of them.
var hidden = []string{
	"saga_run", "saga_attempt", "effect", "external_claim", "webhook_inbox", "payment_object", "payment_watch",
	"tenant_usage", "machine_usage", "machine_traffic", "engine_comparison", "machine_comparison",
	"task",
}

// A past is what a view of the past consists of besides.
type past struct {
	*projections.Past
	owner   *pgxpool.Pool
	present *pgxpool.Pool // of sign-ins, which are today's
	log     *eventstore.Store
}

// signIns is how many connections a view of the past has to the present.
const signIns = 8

// erasuresEvery is how often a view looks for erasures that were recorded meanwhile.
const erasuresEvery = time.Second

// lookBack fills a schema with the read tables as of the moment of the settings, and
// opens the two ways to it: nothing can be written there, nor anywhere else.
func (p *Program) lookBack(ctx context.Context, as Part) (err error) {
	v := &past{}
	p.past = v
	if v.owner, err = eventstore.ConnectOwner(ctx, p.URL); err != nil {
		return err
	}
	if err := checkKeys(ctx, v.owner, p.Keys); err != nil {
		return err
	}
	log := eventstore.Open(v.owner, catalogue.Events(), p.Keys, eventstore.WithLog(p.Log)).Reader()
	if v.Past, err = projections.OpenPast(
		ctx, v.owner, log, projections.View{At: p.Config.AsOf, Hidden: hidden, Progress: p.Config.Looks},
	); err != nil {
		return err
	}
	if v.present, err = eventstore.Connect(ctx, p.URL, signIns); err != nil {
		return err
	}
	v.log = eventstore.Open(
		v.present, catalogue.Events(), p.Keys, eventstore.WithProjector(projections.Projector()),
		eventstore.WithLog(p.Log),
	)
	catalogue.Serve(v.log)
	all := connections(p.Config, as)
	if p.Pool, err = eventstore.ConnectPast(ctx, p.URL, v.Schema, all-all/4); err != nil {
		return err
	}
	p.Readers, err = eventstore.ConnectPastReaders(ctx, p.URL, v.Schema, all/4)
	return err
}

// Looking shows on a terminal how much of the log a look back has read, until end.
func Looking(cfg *config.Config, c console.Console) (end func()) {
	if cfg.AsOf.IsZero() {
		return func() {}
	}
	cfg.Looks, end = c.Progress("reading the log")
	return end
}

// close drops the schema.
func (v *past) close() (err error) {
	if v.present != nil {
		v.present.Close()
	}
	if v.Past != nil {
		err = v.Close()
	}
	if v.owner != nil {
		v.owner.Close()
	}
	return err
}

// present is the way to the tables of today, in a view of the past too.
func (p *Program) present() *pgxpool.Pool {
	if p.past != nil {
		return p.past.present
	}
	return p.Pool
}

// commands carry out what callers ask for. In a view of the past, sign-ins are written
// down, and nothing else.
func (p *Program) commands() record.Commands {
	if p.past != nil {
		return journal{p.past.log}
	}
	return p.Store
}

// A journal takes what happens at sign-ins alone.
type journal struct{ log *eventstore.Store }

// Execute refuses all commands but those of the security journal.
func (j journal) Execute(ctx context.Context, cause domain.Metadata, commands ...domain.Command) (domain.Receipt, error) {
	for _, c := range commands {
		if c.Stream().Category != account.SecurityCategory {
			return domain.Receipt{}, route.ErrPast
		}
	}
	return j.log.Execute(ctx, cause, commands...)
}

// errNowhere is what a view of the past says instead of reaching anything outside.
var errNowhere = errors.New("a view of the past reaches nothing outside")

// A nowhere takes the places of systems outside in a view of the past.
type nowhere struct{}

// Send sends no mail.
func (nowhere) Send(context.Context, notice.Mail) error { return errNowhere }

// Deliver posts no webhook.
func (nowhere) Deliver(context.Context, string, [][]byte, webhook.Message) (int, error) {
	return 0, errNowhere
}

// watchPast does all that a view of the past does by itself: it follows the erasures.
func (p *Program) watchPast(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		err := p.past.Follow(ctx, erasuresEvery)
		if err != nil {
			err = fmt.Errorf("the view of the past has lost its tables: %w", err)
		}
		return err
	})
}

// pastFigures are those of a view of the past: of the panel it shows none.
func (p *Program) pastFigures() prometheus.Collector {
	at := prometheus.NewGauge(
		prometheus.GaugeOpts{Name: "hostpanel_as_of_seconds", Help: "The moment that this view of the past shows, in seconds since 1970."},
	)
	at.Set(float64(p.past.At.UnixMicro()) / 1e6)
	return at
}
