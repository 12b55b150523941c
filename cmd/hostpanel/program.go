package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/mail/folder"
	"hostpanel/adapters/mail/smtp"
	"hostpanel/adapters/postgres"
	"hostpanel/adapters/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// A program is the panel, put together: the log, the read tables, the sagas,
// and what stands between them and the world.
type program struct {
	config  *config
	log     *slog.Logger
	cluster *postgres.Cluster // nil: the database has another owner
	url     string            // of the database, for its owner
	pool    *pgxpool.Pool
	readers *pgxpool.Pool // of the read tables
	turns   *pgxpool.Pool // of those who write to the engine; nil: it is the sandbox
	keys    *sealing.Keyring
	store   *eventstore.Store
	tables  *projections.Tables
	sagas   *assembly.Panel
	public  atomic.Pointer[string]

	ispconfig *ispconfig.Engine // nil: the engine is the sandbox
}

// errEmpty means that this database was never served.
var errEmpty = errors.New(`this database has no panel in it, or an older one: run "hostpanel migrate" or "hostpanel serve" first`)

// A part is what a command needs of the panel.
type part int

const (
	reading part = iota // join what runs, or start the database for a moment
	working             // as reading, for long
	serving             // claim the data directory, and bring the database up to date
)

// open puts the panel together. Close it in any case but an error.
func open(ctx context.Context, c *config, log *slog.Logger, as part) (p *program, err error) {
	p = &program{config: c, log: log}
	defer func() {
		if err != nil {
			p.close()
			p = nil
		}
	}()
	p.setPublicURL(c.publicURL)
	if err := makeDataDir(c.dataDir); err != nil {
		return p, err
	}
	if p.keys, err = c.keyring(); err != nil {
		return p, err
	}
	if err := p.database(ctx, as); err != nil {
		return p, err
	}
	if as == serving {
		if err := p.prepare(ctx); err != nil {
			return p, err
		}
	}
	if err := p.connect(ctx, as); err != nil {
		return p, orEmpty(err)
	}
	if err := p.assemble(ctx); err != nil {
		return p, err
	}
	if as == reading {
		return p, nil
	}
	if p.store.Clock().Ahead() > 0 && !p.config.demo {
		return p, clock.ErrAhead
	}
	if err := p.engineKnown(ctx); err != nil {
		return p, err
	}
	return p, projections.CheckIsolation(ctx, p.readers)
}

// connect opens the two ways to the database: one for the program's own work,
// and one for reading on behalf of callers.
func (p *program) connect(ctx context.Context, as part) (err error) {
	all := connections(as)
	if p.pool, err = eventstore.Connect(ctx, p.url, all-all/4); err != nil {
		return err
	}
	if p.config.ispconfig != nil {
		if p.turns, err = eventstore.Connect(ctx, p.url, turnsAtOnce); err != nil {
			return err
		}
	}
	p.readers, err = eventstore.ConnectReaders(ctx, p.url, all/4)
	return err
}

// connections bounds what one process takes of the database, whose own
// default is a hundred.
func connections(as part) int32 {
	if as == reading {
		return 4
	}
	return int32(min(16+8*runtime.NumCPU(), 64))
}

// database finds the database, or runs one in the data directory.
func (p *program) database(ctx context.Context, as part) (err error) {
	if p.url = p.config.databaseURL; p.url != "" {
		return nil
	}
	p.cluster, err = postgres.Start(ctx, postgres.Options{Dir: p.config.dataDir, Serve: as == serving})
	if errors.Is(err, postgres.ErrServed) {
		return fmt.Errorf("%w (give this one another HOSTPANEL_DATA_DIR, or stop the other)", err)
	}
	if err != nil {
		return err
	}
	p.url = p.cluster.URL()
	return nil
}

// prepare brings the database up to date and gives it its business clock: that
// of the demo has an offset.
func (p *program) prepare(ctx context.Context) error {
	if err := p.migrate(ctx); err != nil {
		return err
	}
	owner, err := eventstore.ConnectOwner(ctx, p.url)
	if err != nil {
		return err
	}
	defer owner.Close()
	if p.config.demo {
		return clock.Install(ctx, owner)
	}
	return clock.Restore(ctx, owner)
}

// migrate brings the schema up to date, and then the read tables.
func (p *program) migrate(ctx context.Context) error {
	owner, err := eventstore.ConnectOwner(ctx, p.url)
	if err != nil {
		return err
	}
	defer owner.Close()
	if err := eventstore.Migrate(ctx, owner, migrations()...); err != nil {
		return err
	}
	err = projections.Prepare(ctx, owner, eventstore.Open(owner, assembly.Catalogue(), p.keys, eventstore.WithLog(p.log)))
	if err != nil {
		p.reportFailedStart(ctx)
	}
	return err
}

// assemble wires the parts to each other.
func (p *program) assemble(ctx context.Context) error {
	p.store = eventstore.Open(p.pool, assembly.Catalogue(), p.keys, eventstore.WithProjector(projections.Projector()),
		eventstore.WithIdempotencyKeys(idempotency.Statement), eventstore.WithLog(p.log))
	assembly.Serve(p.store)
	p.tables = projections.Open(p.readers)
	if _, _, err := p.store.Head(ctx); err != nil {
		return orEmpty(err)
	}
	if err := p.store.Clock().Load(ctx); err != nil {
		return err
	}
	mail, err := p.mail()
	if err != nil {
		return err
	}
	engine, err := p.hostingEngine()
	if err != nil {
		return err
	}
	payments, err := p.openProviders()
	if err != nil {
		return err
	}
	p.sagas = assembly.New(assembly.Options{
		Store: p.store, Tables: p.tables, Payments: payments, Mail: mail, Webhooks: webhook.New(webhook.Options{Networks: p.config.webhooks}),
		Engine: engine, Compute: sandbox.New(p.pool),
		PublicURL: p.publicURL, MailFrom: p.mailFrom(), UnsubscribeKeys: p.unsubscribeKeys(), Times: p.config.times, Log: p.log,
	})
	p.store.Attach(eventstore.WithStarter(p.sagas))
	return nil
}

func (p *program) mail() (assembly.Mail, error) {
	if p.config.smtpURL == "" {
		return folder.New(filepath.Join(p.config.dataDir, "outbox")), nil
	}
	server, err := smtp.New(p.config.smtpURL, p.mailFrom())
	if err != nil {
		return nil, misused("SMTP_URL: %w", err)
	}
	return server, nil
}

func (p *program) mailFrom() string {
	if p.config.mailFrom != "" {
		return p.config.mailFrom
	}
	host := "localhost"
	if u, err := url.Parse(p.config.publicURL); err == nil && u.Hostname() != "" && !isLoopback(u.Hostname()) {
		host = u.Hostname()
	}
	return "hostpanel@" + host
}

// publicURL is where the world reaches us, without a slash at the end.
func (p *program) publicURL() string { return *p.public.Load() }

func (p *program) setPublicURL(url string) { p.public.Store(&url) }

// close lets go of everything, the database last.
func (p *program) close() {
	p.leaveEngine()
	for _, pool := range []*pgxpool.Pool{p.turns, p.readers, p.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	if p.cluster == nil {
		return
	}
	if err := p.cluster.Stop(); err != nil {
		p.log.Error("the database did not stop as it should", "error", err)
	}
}
