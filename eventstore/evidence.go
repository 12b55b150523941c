package eventstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog"
)

// Evidence returns the stored bytes of events, in the order of the log, and their leaves.
// The keys open the texts of the subjects in them, each its text alone.
func (r *Reader) Evidence(
	ctx context.Context, positions []int64, subjects ...uuid.UUID,
) (events []evidence.Event, leaves []tlog.Leaf, keys []evidence.Key, err error) {
	rows, _ := r.pool.Query(ctx, `
		with e as materialized (select *, version - 1 as before from events where position = any($1))
		select e.position, e.stream, e.version, e.id, e.name, e.schema, e.tenant, e.actor, e.correlation, e.causation,
			e.saga, e.data, e.meta,
			e.recorded_at, e.hash, coalesce(b.version, 0), b.hash
		from e left join events b on b.stream = e.stream and b.version = e.before order by e.position`, positions)
	defer rows.Close()
	var stored []row
	for rows.Next() {
		e, _, before, err := scanPart(rows)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("read evidence: %w", Unavailable(err))
		}
		leaf, _ := tlog.LeafOf(e.recordedAt, e.hash)
		events = append(events, evidence.Event{Position: e.position, Bytes: e.hashed(before)})
		leaves = append(leaves, leaf)
		stored = append(stored, e)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, nil, fmt.Errorf("read evidence: %w", Unavailable(err))
	}
	keys, err = r.OnlyOf(subjects...).textKeys(ctx, stored)
	return events, leaves, keys, err
}

// NotErased are those of the subjects who have a key for their contact data.
func (r *Reader) NotErased(ctx context.Context, subjects []uuid.UUID) ([]uuid.UUID, error) {
	rows, _ := r.pool.Query(
		ctx, `select subject from subject_keys where subject = any($1) and purpose = $2 and wrapped <> ''`, subjects,
		string(domain.Contact),
	)
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	return found, Unavailable(err)
}

// textKeys are the keys of the texts in rows that the reader opens.
func (r *Reader) textKeys(ctx context.Context, rows []row) (keys []evidence.Key, err error) {
	for i := range rows {
		sealed, err := findSealed(&rows[i])
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", rows[i].position, err)
		}
		for n, text := range sealed.texts {
			k := subjectKey{text.Subject, text.Purpose}
			found, err := r.subjects.load(ctx, []subjectKey{k})
			if err != nil {
				return nil, err
			}
			if r.withhold(found); found[k] != nil {
				keys = append(keys, evidence.Key{Position: rows[i].position, Pointer: sealed.strings[n].Pointer, Key: text.Key(found[k])})
			}
		}
	}
	return keys, nil
}
