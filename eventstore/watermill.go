package eventstore

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
)

// Topic is the one Watermill topic: the log itself.
const Topic = "events"

// A Reading sets how a reader follows the log; zero values are defaults.
type Reading struct {
	Batch       int           // events per transaction: 100
	AckDeadline time.Duration // above the slowest handler: 30 s
	Poll        time.Duration // how long to wait for a wake-up at most: 1 s
}

// Subscriber reads the log for the named reader, from where it left off.
// Processes that use the same name share one serial lane: one of them works,
// and none waits for another. Handlers do database work only, because the
// reader's transaction stays open around them.
func (s *Store) Subscriber(reader string, r Reading) (message.Subscriber, error) {
	if r.Batch == 0 {
		r.Batch = 100
	}
	if r.AckDeadline == 0 {
		r.AckDeadline = 30 * time.Second
	}
	if r.Poll == 0 {
		r.Poll = time.Second
	}
	return sql.NewSubscriber(stdlib.OpenDBFromPool(s.pool), sql.SubscriberConfig{
		ConsumerGroup:  reader,
		AckDeadline:    &r.AckDeadline,
		ResendInterval: 100 * time.Millisecond,
		BackoffManager: &patience{store: s, poll: r.Poll, changed: s.Changed()},
		SchemaAdapter:  logTable{r.Batch},
		OffsetsAdapter: readersTable{},
	}, calm{watermill.NewSlogLoggerWithLevelMapping(s.log, quieter)})
}

// quieter takes Watermill's news of every start and stop out of the log.
// Losing a connection is a warning: the reader tries again.
var quieter = map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug, slog.LevelError: slog.LevelWarn}

// calm tells of each trouble once. What fails because the reader is being
// closed is none; and where a query has failed, [patience] tells of that and
// not also of the transaction that it leaves behind.
type calm struct{ watermill.LoggerAdapter }

func (c calm) Error(what string, err error, fields watermill.LogFields) {
	if _, known := fields["query_err"]; known || errors.Is(err, context.Canceled) {
		c.Debug(what, fields.Add(watermill.LogFields{"error": err}))
		return
	}
	c.LoggerAdapter.Error(what, err, fields)
}

func (c calm) With(fields watermill.LogFields) watermill.LoggerAdapter {
	return calm{c.LoggerAdapter.With(fields)}
}

// FromMessage returns the event that a message of [Topic] carries.
func (s *Store) FromMessage(ctx context.Context, m *message.Message) (RecordedEvent, error) {
	var e row
	if err := json.Unmarshal([]byte(m.Metadata["event"]), &e); err != nil {
		return RecordedEvent{}, fmt.Errorf("event of message %s: %w", m.UUID, err)
	}
	e.data = m.Payload
	rows := []row{e}
	if err := s.open(ctx, rows); err != nil {
		return RecordedEvent{}, err
	}
	return s.recorded(rows[0])
}

// patience blocks a reader that has seen everything until the log grows, or a
// second has passed. Then it waits another moment, for what follows closely;
// and because a wake-up is only a hint, it looks often for a while.
type patience struct {
	store   *Store
	poll    time.Duration
	changed <-chan struct{}
	eager   time.Time
}

const (
	eagerFor   = 200 * time.Millisecond
	eagerEvery = 25 * time.Millisecond
	gather     = 10 * time.Millisecond
)

func (p *patience) HandleError(log watermill.LoggerAdapter, noMessage bool, err error) time.Duration {
	switch {
	case errors.Is(err, context.Canceled):
		return 0 // the reader is being closed
	case err != nil:
		log.Error("cannot read the log", err, nil)
		return p.poll
	case !noMessage:
		return 0
	}
	if time.Now().Before(p.eager) {
		return eagerEvery
	}
	timer := time.NewTimer(p.poll)
	defer timer.Stop()
	select {
	case <-p.changed:
		p.changed, p.eager = p.store.Changed(), time.Now().Add(eagerFor)
		return gather
	case <-timer.C:
		p.changed = p.store.Changed()
		return 0
	}
}

// logTable shows Watermill the events table as a topic that can only be read:
// there is no second copy of an event, in an outbox or elsewhere.
type logTable struct{ batch int }

func (t logTable) SelectQuery(_, reader string, offsets sql.OffsetsAdapter) sql.Query {
	next := offsets.NextOffsetQuery(Topic, reader)
	// A crash may lose the last moments of a reader's progress, which it then
	// repeats: nobody has to wait for the disk.
	return sql.Query{Query: `
		with relaxed as materialized (select set_config('synchronous_commit', 'off', true)),
		reader as materialized (` + next.Query + `)
		select position, id::text, data::text, json_build_object(
			'Position', position, 'Stream', stream, 'Version', version, 'ID', id, 'Name', name, 'Schema', schema, 'Tenant', tenant,
			'Actor', actor, 'Correlation', correlation, 'Causation', causation, 'Saga', saga, 'Meta', meta, 'RecordedAt', recorded_at,
			'Hash', encode(hash, 'base64'))::text
		from relaxed, events where position > (select position from reader)
		order by position limit ` + fmt.Sprint(t.batch), Args: next.Args}
}

func (logTable) UnmarshalMessage(from sql.Scanner) (sql.Row, error) {
	var r sql.Row
	if err := from.Scan(&r.Offset, &r.UUID, &r.Payload, &r.Metadata); err != nil {
		return r, err
	}
	r.Msg = message.NewMessage(string(r.UUID), r.Payload)
	r.Msg.Metadata["event"] = string(r.Metadata)
	return r, nil
}

func (logTable) InsertQuery(string, message.Messages) (sql.Query, error) {
	return sql.Query{}, errors.New("events are added by Store.Execute, not published")
}

func (logTable) SchemaInitializingQueries(string) []sql.Query { return nil }
func (logTable) SubscribeIsolationLevel() stdsql.IsolationLevel {
	return stdsql.LevelReadCommitted
}

// UnmarshalJSON reads a row as logTable selects it.
func (e *row) UnmarshalJSON(text []byte) error {
	var w struct {
		Position                  int64
		Version                   int32
		Schema                    int16
		Tenant                    *int64
		Stream, Name, Actor, Saga string
		ID, Correlation           uuid.UUID
		Causation                 *string
		Meta                      json.RawMessage
		RecordedAt                time.Time
		Hash                      []byte
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*e = row{
		position: w.Position, stream: w.Stream, version: w.Version, id: w.ID, name: w.Name, schema: w.Schema, tenant: w.Tenant,
		actor: w.Actor, correlation: w.Correlation, causation: w.Causation, saga: w.Saga, meta: w.Meta, recordedAt: w.RecordedAt, hash: w.Hash,
	}
	return nil
}

// readersTable keeps how far each reader has come. A reader at work locks its
// row; another process that finds it locked has nothing to do.
type readersTable struct{}

func (readersTable) NextOffsetQuery(_, reader string) sql.Query {
	return sql.Query{Query: `select position from readers where name = $1 for update skip locked`, Args: []any{reader}}
}

func (readersTable) AckMessageQuery(_ string, row sql.Row, reader string) sql.Query {
	return sql.Query{Query: `update readers set position = $1 where name = $2`, Args: []any{row.Offset, reader}}
}

func (readersTable) BeforeSubscribingQueries(_, reader string) []sql.Query {
	return []sql.Query{{Query: `insert into readers (name) values ($1) on conflict do nothing`, Args: []any{reader}}}
}

func (readersTable) ConsumedMessageQuery(string, sql.Row, string, []byte) sql.Query {
	return sql.Query{}
}
func (readersTable) SchemaInitializingQueries(string) []sql.Query { return nil }
