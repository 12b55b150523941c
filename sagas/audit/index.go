package audit

import (
	"context"
	"time"

	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// IndexReader is the name of the reader that fills the index behind the log.
const IndexReader = "log_index"

const (
	indexBatch = 5000                   // events in one statement
	indexPause = 250 * time.Millisecond // between two looks, so that many appends are one statement
)

// fillIndex adds the next events to the index, in the order of the log. Of all processes
// one fills at a time. It tells how many there were, and whether the reader has begun.
const fillIndex = `
	with reader as materialized (
		select position from readers where name = $1 and position < (select max(position) from events) for update skip locked),
	next as materialized (
		select e.position, stream, name, tenant, actor, correlation, recorded_at,
			case when causation like 'event:%' or causation like 'deadline:%' then split_part(causation, ':', 2) end as cause
		from events e where e.position > (select position from reader) order by e.position limit $2),
	added as (
		insert into log_index (position, stream, name, tenant, actor, correlation, cause, recorded_at)
		select position, stream, name, tenant, actor, correlation, cause, recorded_at from next),
	moved as (update readers set position = (select max(position) from next) where name = $1 and exists (select from next))
	select count(*), exists (select from readers where name = $1) from next`

// Index adds the next events to the index, and tells how many. Fewer than a batch:
// it has come to the end of the log, or another process fills it.
func (s *Service) Index(ctx context.Context) (added int, err error) {
	added, entered, err := s.fill(ctx)
	if err == nil && !entered { // it is the first look of all
		if _, err = s.pool.Exec(ctx, `insert into readers (name) values ($1) on conflict do nothing`, IndexReader); err == nil {
			added, _, err = s.fill(ctx)
		}
	}
	return added, sagas.SQLError(err, "fill the index of the log")
}

func (s *Service) fill(ctx context.Context) (added int, entered bool, err error) {
	err = s.pool.QueryRow(ctx, fillIndex, IndexReader, indexBatch).Scan(&added, &entered)
	return added, entered, err
}

// Reindex empties the index. The reader fills it again from the beginning.
func (s *Service) Reindex(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `
		with reader as (update readers set position = 0 where name = $1 returning name)
		delete from log_index where exists (select from reader)`, IndexReader)
	return sagas.SQLError(err, "empty the index of the log")
}

// follow fills the index behind the log. It is no row of a queue: the reader's own row is its
// claim, and its place is written by the statement that fills.
func (s *Service) follow() {
	sagas.AddTasks(s.runner, sagas.Queue[string]{
		Name: "index", Failed: "the index of the log was not filled",
		Look: func(ctx context.Context) (sagas.Rest, error) {
			changed := s.store.Changed()
			added, err := s.Index(ctx)
			if added == indexBatch {
				return sagas.Rest{}, err
			}
			clock.Pausing(ctx, indexPause, nil)
			return sagas.Rest{For: s.runner.Times().Poll, Until: changed}, err
		},
	}, nil)
}
