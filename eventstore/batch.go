package eventstore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// queueRows queues the statements of all members in the order of their keys, each
// with a check of the number of rows.
func queueRows(b *pgx.Batch, group []*pending) {
	type member struct {
		TxStatement
		nth int
	}
	var rows []member
	for _, p := range group {
		for i, r := range p.rows {
			rows = append(rows, member{r, i})
		}
	}
	slices.SortStableFunc(rows, func(a, b member) int { return cmp.Compare(a.Key, b.Key) })
	for _, r := range rows {
		if r.WantRows == AnyRows {
			b.Queue(r.SQL, r.Args...)
			continue
		}
		n := len(r.Args)
		b.Queue(fmt.Sprintf(`with touched as (%s returning 1) select expect_rows(count(*), $%d, $%d) from touched`, r.SQL, n+1, n+2),
			append(slices.Clip(r.Args), r.WantRows, r.nth)...)
	}
}

// keysStand checks that no key of the events was erased since they were sealed.
// The writers' lock makes every erasure visible. The limit makes Postgres use the
// index, because a table scan would delay all writers.
const keysStand = `
select expect_rows(count(*), $3, -1) from unnest($1::uuid[], $2::text[]) as used(subject, purpose)
cross join lateral (
	select from subject_keys k where k.subject = used.subject and k.purpose = used.purpose and k.wrapped <> '' limit 1
) standing`

func queueKeys(b *pgx.Batch, group []*pending) {
	used := map[subjectKey]bool{}
	var subjects []uuid.UUID
	var purposes []string
	for _, p := range group {
		for k, key := range p.keys {
			if key != nil && !used[k] {
				used[k] = true
				subjects, purposes = append(subjects, k.subject), append(purposes, string(k.purpose))
			}
		}
	}
	if len(used) > 0 {
		b.Queue(keysStand, subjects, purposes, len(used))
	}
}

// args returns the events of a group as one array for each column.
func args(group []*pending) []any {
	var (
		streams, names, actors, sagas, data, metas []string
		versions                                   []int32
		schemas                                    []int16
		tenants                                    []*int64
		ids, correlations                          []uuid.UUID
		causations                                 []*string
		hashes                                     [][]byte
	)
	for _, p := range group {
		for i := range p.events {
			e := &p.events[i]
			streams, names, actors, sagas = append(streams, e.stream), append(names, e.name), append(actors, e.actor), append(sagas, e.saga)
			data, metas = append(data, string(e.data)), append(metas, string(e.meta))
			versions, schemas, tenants = append(versions, e.version), append(schemas, e.schema), append(tenants, e.tenant)
			ids, correlations, causations = append(ids, e.id), append(correlations, e.correlation), append(causations, e.causation)
			hashes = append(hashes, e.hash)
		}
	}
	if len(streams) == 0 {
		return nil
	}
	return []any{streams, versions, ids, names, schemas, tenants, actors, correlations, causations, sagas, data, metas, hashes}
}
