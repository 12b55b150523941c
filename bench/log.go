package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// plainTable is the simplest table that could hold an event, and insertOne
// the simplest way to fill it: what the log is compared with.
const (
	plainTable = `create table plain (id bigint generated always as identity primary key, stream uuid not null,
		name text not null, data jsonb not null, recorded_at timestamptz not null default now())`
	insertOne = `insert into plain (stream, name, data) values (gen_random_uuid(), 'order.payment_confirmed',
		'{"provider": "card", "payment": "pi_3MtwBwLkdIwHu7ix28a3tqPa", "amount": 2870, "currency": "EUR", "at": "2026-03-01T12:00:00Z"}');`
)

// paid stands for an event of the usual size.
type paid struct {
	Provider string    `json:"provider"`
	Payment  string    `json:"payment"`
	Amount   int64     `json:"amount"`
	Currency string    `json:"currency"`
	At       time.Time `json:"at"`
}

func (paid) EventName() string { return "bench.paid" }
func (paid) Says() string      { return "paid" }

var somePayment = paid{"card", "pi_3MtwBwLkdIwHu7ix28a3tqPa", 2870, "EUR", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}

// log measures appends of single events, with every guarantee of the log,
// against single INSERTs without any, and against message-db.
func (r *run) log(ctx context.Context) error {
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, plainTable); err != nil {
		return err
	}
	peer, err := r.messageDB(ctx)
	if err != nil {
		r.report(Result{Section: "log", Name: "message-db is left out", Note: err.Error()})
	}
	bars := map[int]struct{ inserts, messageDB float64 }{1: {0.6, 0}, 64: {2.2, 5}, 256: {5, 10}}
	for _, clients := range []int{1, 64, 256} {
		inserts, err := r.pgbench(ctx, plain, insertOne, clients)
		if err != nil {
			return err
		}
		r.report(Result{Section: "log", Name: fmt.Sprintf("INSERT one by one, %d clients (pgbench)", clients), Value: inserts, Unit: "/s"})
		appends, err := r.appends(ctx, clients)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("append one event, %d writers", clients)
		r.report(
			Result{
				Section: "log", Name: name, Value: appends, Unit: "/s", Ratio: appends / inserts, Peer: "INSERT",
				Bar: bars[clients].inserts,
			},
		)
		if peer == "" {
			continue
		}
		messages, err := r.pgbench(ctx, peer, writeMessage, clients)
		if err != nil {
			return err
		}
		r.report(
			Result{
				Section: "log", Name: fmt.Sprintf("message-db write_message, %d clients (pgbench)", clients),
				Value: messages, Unit: "/s",
			},
		)
		r.report(
			Result{
				Section: "log", Name: name, Value: appends, Unit: "/s", Ratio: appends / messages, Peer: "message-db",
				Bar: bars[clients].messageDB,
			},
		)
	}
	return nil
}

// appends adds single events to streams of their own.
func (r *run) appends(ctx context.Context, writers int) (float64, error) {
	url, owner, err := r.database(ctx, "bench_log")
	if err != nil {
		return 0, err
	}
	defer owner.Close()
	pool, err := eventstore.Connect(ctx, url, 16)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	keys, err := sealing.ParseKeyring(sealing.NewSecretKey())
	if err != nil {
		return 0, err
	}
	store := plainLog(pool, keys)
	return r.median(func() (float64, error) {
		l, err := appending(ctx, writers, r.duration, store)
		return l.perSecond, err
	})
}

// plainLog is a log without read tables, for events of [paid] alone.
func plainLog(pool *pgxpool.Pool, keys *sealing.Keyring) *eventstore.Store {
	return eventstore.Open(pool, domain.NewCatalogue([]domain.EventType{domain.Register[paid]()}), keys)
}

// appending adds single events to streams of their own. The writers are shared among the
// stores.
func appending(ctx context.Context, writers int, long time.Duration, stores ...*eventstore.Store) (load, error) {
	return together(ctx, writers, long, func(ctx context.Context, writer, _ int) error {
		stream := domain.Stream{Category: "bench", ID: uuid.NewString()}
		_, err := stores[writer%len(stores)].Append(
			ctx, domain.Metadata{ID: uuid.New(), Actor: "system:bench"}, stream, 0, nil, somePayment,
		)
		return err
	})
}

const writeMessage = `select message_store.write_message(gen_random_uuid()::varchar, 'order-' || gen_random_uuid(),
	'PaymentConfirmed',
	'{"provider": "card", "payment": "pi_3MtwBwLkdIwHu7ix28a3tqPa", "amount": 2870, "currency": "EUR", ` +
	`"at": "2026-03-01T12:00:00Z"}'::jsonb);`

// messageDB installs message-db, an event store in SQL by others, from its npm
// package, and returns the database that holds it.
func (r *run) messageDB(ctx context.Context) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed, so its SQL cannot be fetched")
	}
	folder, err := os.MkdirTemp("", "hostpanel-bench-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	fetch := exec.CommandContext(ctx, npm, "pack", "--json", "@eventide/message-db")
	fetch.Dir = folder
	out, err := fetch.Output()
	if err != nil {
		return "", errors.New("its npm package could not be fetched")
	}
	var packed []struct{ Filename string }
	if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
		return "", errors.New("its npm package could not be read")
	}
	if err := exec.CommandContext(
		ctx, "tar", "-xzf", filepath.Join(folder, filepath.Base(packed[0].Filename)), "-C", folder,
	).Run(); err != nil {
		return "", fmt.Errorf("unpack message-db: %w", err)
	}
	return r.installMessageDB(ctx, filepath.Join(folder, "package"))
}

// messageDBFiles are the parts that writing needs, in the order of its own
// installer.
var messageDBFiles = []string{
	"schema/message-store", "tables/messages", "types/message", "functions/hash-64", "functions/acquire-lock", "functions/category",
	"functions/is-category", "functions/id", "functions/cardinal-id", "functions/stream-version", "functions/write-message",
	"indexes/messages-id", "indexes/messages-stream", "indexes/messages-category",
}

func (r *run) installMessageDB(ctx context.Context, folder string) (string, error) {
	database, err := r.empty(ctx, "bench_message_db")
	if err != nil {
		return "", err
	}
	if err := execute(ctx, database, `alter database bench_message_db set search_path = message_store, public`); err != nil {
		return "", err
	}
	for _, name := range messageDBFiles {
		sql, err := os.ReadFile(filepath.Join(folder, "database", name+".sql"))
		if err != nil {
			return "", err
		}
		if err := execute(ctx, database, string(sql)); err != nil {
			return "", fmt.Errorf("install %s of message-db: %w", name, err)
		}
	}
	return database, nil
}
