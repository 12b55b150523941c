package projections

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// A ListedTable says how a table beside the read tables is listed: one of
// working rows, which only operators see.
type ListedTable struct {
	Columns string            // of a record
	From    string            // the table, with the name that all columns use: "saga_run r"
	Fields  map[string]string // columns to filter and to order by, by the names of the API; created_at is one
	ID      string            // column that every order ends in
	Search  string            // text that is searched, in lower case; "": none
}

// ListTable reads the wanted part of such a table and counts all of it, in one
// round trip. Its primary key is named id.
func ListTable[T any](ctx context.Context, pool *pgxpool.Pool, t ListedTable, l Listing) (Listed[T], error) {
	by := listedBy{columns: t.Columns, from: t.From, fields: t.Fields, id: t.ID, search: t.Search}
	return pick[T](by, &where{conditions: []string{"true"}}, l, func(questions func(*pgx.Batch)) error {
		b := &pgx.Batch{}
		questions(b)
		return eventstore.Unavailable(pool.SendBatch(ctx, b).Close())
	})
}
