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

// ReaderOptions configure a reader of the log; zero values are defaults.
type ReaderOptions struct {
	Batch       int           // events per transaction: 100
	AckDeadline time.Duration // above the slowest handler: 30 s
	Poll        time.Duration // longest wait for a notification: 1 s
}

// Subscriber reads the log for the named reader, from its stored position. Of the
// processes with the same name only one reads at a time, and the others do not
// wait. Handlers do database work only, because the reader's transaction stays
// open around them.
func (s *Store) Subscriber(reader string, r ReaderOptions) (message.Subscriber, error) {
	if r.Batch == 0 {
		r.Batch = 100
	}
	if r.AckDeadline == 0 {
		r.AckDeadline = 30 * time.Second
	}
	if r.Poll == 0 {
		r.Poll = time.Second
	}
	table := &logTable{batch: r.Batch}
	return sql.NewSubscriber(stdlib.OpenDBFromPool(s.pool), sql.SubscriberConfig{
		ConsumerGroup:  reader,
		AckDeadline:    &r.AckDeadline,
		ResendInterval: 100 * time.Millisecond,
		BackoffManager: &patience{next: s.Changed, poll: r.Poll, table: table, changed: s.Changed()},
		SchemaAdapter:  table,
		OffsetsAdapter: readersTable{},
	}, calm{watermill.NewSlogLoggerWithLevelMapping(s.log, quieter)})
}

// quieter lowers the level of Watermill's log lines. Starts and stops are debug
// lines. A lost connection is a warning, because the reader tries again.
var quieter = map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug, slog.LevelError: slog.LevelWarn}

// calm logs each failure once. It drops failures caused by the close of the
// reader. Of a failed query it drops the failed transaction, because [patience]
// logs the query.
type calm struct{ to watermill.LoggerAdapter }

func (c calm) Error(what string, err error, fields watermill.LogFields) {
	if _, known := fields["query_err"]; known || errors.Is(err, context.Canceled) {
		c.to.Debug(what, fields.Add(watermill.LogFields{"error": err}))
		return
	}
	c.to.Error(what, err, fields)
}

func (c calm) Info(what string, fields watermill.LogFields)  { c.to.Info(what, fields) }
func (c calm) Debug(what string, fields watermill.LogFields) { c.to.Debug(what, fields) }
func (c calm) Trace(what string, fields watermill.LogFields) { c.to.Trace(what, fields) }

func (c calm) With(fields watermill.LogFields) watermill.LoggerAdapter {
	return calm{c.to.With(fields)}
}

// FromMessage returns the event in a message of [Topic].
func (s *Store) FromMessage(ctx context.Context, m *message.Message) (RecordedEvent, error) {
	e, err := rowOf(m)
	if err != nil {
		return RecordedEvent{}, err
	}
	rows := []row{e}
	if err := s.reader.open(ctx, rows); err != nil {
		return RecordedEvent{}, err
	}
	return s.reader.recorded(&rows[0])
}

func rowOf(m *message.Message) (e row, err error) {
	if err := json.Unmarshal([]byte(m.Metadata["event"]), &e); err != nil {
		return row{}, fmt.Errorf("event of message %s: %w", m.UUID, err)
	}
	e.data = m.Payload
	return e, nil
}

// patience blocks a reader that has read the whole log until new events arrive, or
// the poll interval has passed. It then waits briefly for further events.
type patience struct {
	next    func() <-chan struct{}
	poll    time.Duration
	table   *logTable
	changed <-chan struct{} // since before the last query
}

// gather is how long a reader waits for further events before it reads the first one.
const gather = 10 * time.Millisecond

func (p *patience) HandleError(log watermill.LoggerAdapter, _ bool, err error) time.Duration {
	full := p.table.selected == p.table.batch
	p.table.selected = 0
	switch {
	case errors.Is(err, context.Canceled):
		return 0 // the reader is being closed
	case err != nil:
		log.Error("cannot read the log", err, nil)
		return p.poll
	case full:
		return 0
	}
	timer := time.NewTimer(p.poll)
	defer timer.Stop()
	select {
	case <-p.changed:
		p.changed = p.next()
		return gather
	case <-timer.C:
		p.changed = p.next()
		return 0
	}
}

// logTable presents the events table to Watermill as a read-only topic. Events are
// not copied to an outbox.
type logTable struct {
	batch    int // most events in one query
	selected int // events of the last query
}

func (t *logTable) SelectQuery(_, reader string, offsets sql.OffsetsAdapter) sql.Query {
	next := offsets.NextOffsetQuery(Topic, reader)
	// A crash may lose the last progress of a reader, which it then repeats. So the
	// commit need not wait for the disk.
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

func (t *logTable) UnmarshalMessage(from sql.Scanner) (sql.Row, error) {
	t.selected++
	var r sql.Row
	if err := from.Scan(&r.Offset, &r.UUID, &r.Payload, &r.Metadata); err != nil {
		return r, err
	}
	r.Msg = message.NewMessage(string(r.UUID), r.Payload)
	r.Msg.Metadata["event"] = string(r.Metadata)
	return r, nil
}

func (*logTable) InsertQuery(string, message.Messages) (sql.Query, error) {
	return sql.Query{}, errors.New("events are added by Store.Execute, not published")
}

func (*logTable) SchemaInitializingQueries(string) []sql.Query { return nil }
func (*logTable) SubscribeIsolationLevel() stdsql.IsolationLevel {
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
		actor: w.Actor, correlation: w.Correlation, causation: w.Causation, saga: w.Saga, meta: w.Meta,
		recordedAt: w.RecordedAt, hash: w.Hash,
	}
	return nil
}

// readersTable stores the position of each reader. A working reader locks its row;
// another process skips a locked row.
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
