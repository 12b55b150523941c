// Package program puts the panel together: database, log, read tables, runs, payment
// providers, hosting engine, API and metrics (docs/operations.md).
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/documents"
	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/postgres"
	"hostpanel/adapters/webhook"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/connection"
	"hostpanel/cmd/hostpanel/memory"
	"hostpanel/domain/compute"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/installation"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
	"hostpanel/sagas/accounts"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/billing"
	"hostpanel/sagas/catalogue"
	usage "hostpanel/sagas/hosting/traffic"
)

// A Program is the panel, put together: the log, the read tables, the sagas,
// and what stands between them and the world.
type Program struct {
	Config  *config.Config
	Log     *slog.Logger
	cluster *postgres.Cluster // nil: the database has another owner
	URL     string            // of the database, for its owner
	Pool    *pgxpool.Pool
	Readers *pgxpool.Pool // of the read tables
	turns   *pgxpool.Pool // of those who write to the engine; nil: it is the sandbox
	Keys    *sealing.Keyring
	Store   *eventstore.Store
	Tables  *projections.Tables
	Sagas   *assembly.Panel
	Sealer  *tree.Sealer // of the transparency log
	book    *erasures.Book
	silent  []string // witnesses that did not answer at the start
	public  atomic.Pointer[string]
	past    *past // nil: the present

	counting sync.Once
	traffic  *traffic // see counts

	hypervisors compute.Fleet
	ispconfig   *ispconfig.Engine // nil: the engine is the sandbox
}

// errEmpty means that this database was never served.
var errEmpty = errors.New(`this database has no panel in it, or an older one: run "hostpanel migrate" or "hostpanel serve" first`)

// A Part is what a command needs of the panel.
type Part int

const (
	Reading Part = iota // join what runs, or start the database for a moment
	Keeping             // as reading, without a look at any person that the log knows
	Working             // as reading, for long
	Viewing             // as reading, to serve a view of the past
	Serving             // claim the data directory, and bring the database up to date
)

// isShort tells whether the panel is opened for a command.
func (as Part) isShort() bool { return as == Reading || as == Keeping }

// Open puts the panel together. Close it in any case but an error. All of it begins anew
// where a connection to the database is lost on the way.
func Open(ctx context.Context, c *config.Config, log *slog.Logger, as Part) (p *Program, err error) {
	err = connection.Repeat(ctx, c.DatabaseURL, log, func() (err error) {
		p, err = open(ctx, c, log, as)
		return err
	})
	return p, err
}

func open(ctx context.Context, c *config.Config, log *slog.Logger, as Part) (p *Program, err error) {
	p = &Program{Config: c, Log: log}
	defer func() {
		if err != nil {
			p.Close()
			p = nil
		}
	}()
	p.SetPublicURL(c.PublicURL)
	if err := p.reach(ctx, as.need()); err != nil {
		return p, err
	}
	if err := restoreEnded(ctx, p.URL); err != nil {
		return p, err
	}
	if as == Serving {
		err = p.prepare(ctx)
	} else {
		err = isMigrated(ctx, p.URL)
	}
	if err != nil {
		return p, err
	}
	if err := p.connect(ctx, as); err != nil {
		return p, orEmpty(err)
	}
	if err := checkKeys(ctx, p.present(), p.Keys); err != nil {
		return p, err
	}
	if err := p.assemble(ctx); err != nil {
		return p, err
	}
	if err := erasedHere(ctx, p, as); err != nil || as.isShort() {
		return p, err
	}
	if as == Viewing {
		return p, projections.CheckIsolation(ctx, p.Readers)
	}
	if err := p.logIsWhole(ctx); err != nil {
		return p, err
	}
	if err := logIsHeld(ctx, p); err != nil {
		return p, err
	}
	if err := eraseAgain(ctx, p); err != nil {
		return p, err
	}
	if most := memory.Bound(os.DirFS("/"), os.Getenv, p.cluster != nil); most > 0 {
		log.InfoContext(ctx, "memory is bounded", "mib", most>>20)
	}
	if p.Store.Clock().Ahead() > 0 && !p.Config.Demo {
		return p, clock.ErrAhead
	}
	if err := p.engineKnown(ctx); err != nil {
		return p, err
	}
	return p, projections.CheckIsolation(ctx, p.Readers)
}

// connect opens the two ways to the database: one for the program's own work,
// and one for reading on behalf of callers.
func (p *Program) connect(ctx context.Context, as Part) (err error) {
	if !p.Config.AsOf.IsZero() {
		return p.lookBack(ctx, as)
	}
	all := connections(p.Config, as)
	if p.Pool, err = eventstore.Connect(ctx, p.URL, all-all/4); err != nil {
		return err
	}
	if p.Config.ISPConfig != nil {
		if p.turns, err = eventstore.Connect(ctx, p.URL, turnsAtOnce); err != nil {
			return err
		}
	}
	p.Readers, err = eventstore.ConnectReaders(ctx, p.URL, all/4)
	return err
}

// connections bounds what the process takes of the database, whose own default is a
// hundred.
func connections(c *config.Config, as Part) int32 {
	if as.isShort() {
		return 4
	}
	if as == Viewing { // for a few operators, beside the panel
		return 16
	}
	return int32(cmp.Or(c.Connections, config.UsualConnections())) //nolint:gosec // at most 500
}

// isMigrated refuses a database that this program has not brought up to date.
func isMigrated(ctx context.Context, url string) error {
	owner, err := eventstore.ConnectOwner(ctx, url)
	if err != nil {
		return err
	}
	defer owner.Close()
	err = eventstore.CheckMigrated(ctx, owner, Migrations()...)
	if errors.Is(err, eventstore.ErrOutdated) {
		return fmt.Errorf(`%w: run "hostpanel migrate" or "hostpanel serve" first, or use the hostpanel that runs on it`, err)
	}
	if err = orEmpty(err); errors.Is(err, errEmpty) { // "migrate" would fail as well
		return cmp.Or(eventstore.CheckRole(ctx, owner), err)
	}
	return err
}

// prepare brings the database up to date and gives it its business clock: that
// of the demo has an offset.
func (p *Program) prepare(ctx context.Context) error {
	if err := p.migrate(ctx); err != nil {
		return err
	}
	owner, err := eventstore.ConnectOwner(ctx, p.URL)
	if err != nil {
		return err
	}
	defer owner.Close()
	if p.Config.Demo {
		return clock.Install(ctx, owner)
	}
	return clock.Restore(ctx, owner)
}

// Migrate brings the database of these settings up to date.
func Migrate(ctx context.Context, c *config.Config, log *slog.Logger) error {
	p := &Program{Config: c, Log: log}
	defer p.Close()
	return connection.Repeat(ctx, c.DatabaseURL, log, func() error {
		if err := p.reach(ctx, need{create: true}); err != nil {
			return err
		}
		return p.migrate(ctx)
	})
}

// migrate brings the schema up to date, and then the read tables.
func (p *Program) migrate(ctx context.Context) error {
	owner, err := eventstore.ConnectOwner(ctx, p.URL)
	if err != nil {
		return err
	}
	defer owner.Close()
	if err := checkKeys(ctx, owner, p.Keys); err != nil && !lacksTables(err) { // of a database that has any
		return err
	}
	if err := eventstore.Migrate(ctx, owner, Migrations()...); err != nil {
		return err
	}
	if err := checkKeys(ctx, owner, p.Keys); err != nil {
		return err
	}
	err = projections.Prepare(ctx, owner, logOver(p, owner))
	if err != nil {
		p.reportFailedStart(ctx)
	}
	return err
}

// assemble wires the parts to each other.
func (p *Program) assemble(ctx context.Context) error {
	p.Store = eventstore.Open(p.Pool, catalogue.Events(), p.Keys, eventstore.WithProjector(projections.Projector()),
		eventstore.WithIdempotencyKeys(idempotency.Keeping(p.Config.Retention.IdempotencyKeys)), eventstore.WithLog(p.Log))
	catalogue.Serve(p.Store)
	p.Sealer = tree.NewSealer(p.present(), p.Keys, p.logName, p.Config.LogPolicy)
	p.Tables = projections.Open(p.Readers)
	p.book = erasures.NewBook(p.present(), p.Keys, p.Log, p.erasureFiles()...)
	if _, _, err := p.Store.Reader().Head(ctx); err != nil {
		return orEmpty(err)
	}
	if err := p.Store.Clock().Load(ctx); err != nil {
		return err
	}
	mail, err := p.Mail()
	if err != nil {
		return err
	}
	outbox, _ := mail.(accounts.Outbox) // of files alone
	self, err := installation.Read(ctx, p.Pool)
	if err != nil {
		return err
	}
	engine, err := p.hostingEngine(self)
	if err != nil {
		return err
	}
	if p.hypervisors, err = p.openHypervisors(self.ID); err != nil {
		return err
	}
	payments, err := p.openProviders()
	if err != nil {
		return err
	}
	o := assembly.Options{
		Store: p.Store, Tables: p.Tables, Payments: payments, Offers: p.offers(), Mail: countedMail{mail, p.counts()},
		Outbox: outbox, Listed: p.ListErasures, Rebuild: p.Rebuild,
		Webhooks: countedWebhooks{webhook.New(webhook.Options{Networks: p.Config.Webhooks, Installation: self.ID}), p.counts()},
		Engine:   engine, Compute: p.hypervisors,
		PublicURL: p.PublicURL, MailFrom: p.MailFrom(), UnsubscribeKeys: unsubscribeKeys(p.Keys), Times: p.Config.Times,
		Policy: p.Config.Policy, Retention: p.Config.Retention, Log: p.Log, Installation: self.ID,
		Documents: billing.Writers{HTML: documents.HTML, PDF: documents.PDF},
	}
	if p.past != nil {
		o.Payments, o.Mail, o.Outbox, o.Webhooks, o.Rebuild = nil, nowhere{}, nil, nowhere{}, nil
	}
	p.Sagas = assembly.New(o)
	usage.Add(usage.Deps{
		Runner: p.Sagas.Runner, Store: p.Store, Tables: p.Tables, Machines: p.Sagas.Reconciler, Excess: p.Config.TrafficExcess,
	})
	p.Sagas.Audit.RecordIn(p.present())
	p.Store.Attach(eventstore.WithStarter(p.Sagas.Runner))
	return nil
}

// PublicURL is where the world reaches us, without a slash at the end.
func (p *Program) PublicURL() string { return *p.public.Load() }

// SetPublicURL says where the panel is reached.
func (p *Program) SetPublicURL(url string) { p.public.Store(&url) }

// eachPool does something with every pool of connections that is open.
func (p *Program) eachPool(do func(*pgxpool.Pool)) {
	for _, pool := range []*pgxpool.Pool{p.turns, p.Readers, p.Pool} {
		if pool != nil {
			do(pool)
		}
	}
}

// reconnect drops all connections, for a database that was restarted.
func (p *Program) reconnect() { p.eachPool((*pgxpool.Pool).Reset) }

// Close lets go of everything, the database last.
func (p *Program) Close() {
	p.leaveEngine()
	for _, h := range p.hypervisors {
		CloseHypervisor(h)
	}
	p.eachPool((*pgxpool.Pool).Close)
	if p.past != nil {
		if err := p.past.close(); err != nil {
			p.Log.Error("the tables of the view were not dropped: the next start does it", "error", err)
		}
	}
	if p.cluster == nil {
		return
	}
	if err := p.cluster.Stop(); err != nil {
		p.Log.Error("the database did not stop as it should", "error", err)
	}
}
