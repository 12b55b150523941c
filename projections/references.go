package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hostpanel/domain/hosting"
)

// What resources are looked for by has a column and an index of its own: what
// they refer to, and what they are called. An expression over the spec would
// not do, because Postgres looks at rules of a table before it trusts one, and
// so never finds a row by it (docs/read-tables.md, "Hosting resources").

// references are the fields of all kinds that hold the number of a resource.
func references() (names []string) {
	for _, kind := range hosting.Kinds {
		for _, r := range kind.Refs {
			if !slices.Contains(names, r.Field) {
				names = append(names, r.Field)
			}
		}
	}
	return names
}

func lookedSQL() string {
	var sql strings.Builder
	for _, name := range references() {
		fmt.Fprintf(&sql, "%s bigint generated always as ((spec ->> '%s')::bigint) stored,\n\t\t", name, name)
	}
	return sql.String() + "called text generated always as (" + ofEachKind("null", func(k hosting.Kind) string {
		if k.Called != "" {
			return "spec ->> '" + k.Called + "'"
		}
		return ""
	}) + ") stored,"
}

func lookupsSQL() string {
	var sql strings.Builder
	for _, name := range references() {
		fmt.Fprintf(
			&sql,
			"create index resources_of_%s on resources (%s, kind, id) include (tenant) where present and %s is not null;\n\t",
			name, name, name,
		)
	}
	return sql.String() + `create index resources_called on resources (kind, called, id) include (tenant) where present;
	create index resources_called_in on resources (kind, tenant, called, id) where present;
	create index resources_in_bin on resources (kind, called) where trashed_at is not null and kept;`
}

// Referring counts the resources of a kind that refer to one with this number,
// by the name of the reference.
func (s HostingReader) Referring(ctx context.Context, kind, reference string, id int64) (int64, error) {
	counts, err := s.ReferringEach(ctx, kind, reference, []int64{id})
	return counts[id], err
}

// ReferringEach counts the resources of a kind that refer to each of these, by
// the name of the reference.
func (s HostingReader) ReferringEach(ctx context.Context, kind, reference string, ids []int64) (map[int64]int64, error) {
	type numbers struct{ ID, N int64 }
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.kind = ?", kind)
	w.and("r."+reference+" = any(?)", ids)
	w.conditions = append(w.conditions, present)
	found, err := list[numbers](ctx, s.db, `select r.`+reference+` as id, count(*) as n from resources r`, w, ` group by 1`)
	counts := make(map[int64]int64, len(ids))
	for _, each := range found {
		counts[each.ID] = each.N
	}
	return counts, err
}

// Among reads the resources of a kind with these numbers, present or not, in
// one question.
func (s HostingReader) Among(ctx context.Context, kind string, ids []int64) (found []Resource, err error) {
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.kind = ?", kind)
	w.and("r.id = any(?)", ids)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}

const kept = `r.kept`

// Kept returns one resource that is there or in the bin.
func (s HostingReader) Kept(ctx context.Context, ref hosting.Ref) (Resource, error) {
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.kind = ?", ref.Kind)
	w.and("r.id = ?", ref.ID)
	w.conditions = append(w.conditions, kept)
	kind, _ := hosting.KindNamed(ref.Kind)
	return one[Resource](ctx, s.db, kind.Class, `select `+resourceColumns+fromResources, w)
}

// Binned are the resources of a kind that are called so and are in the bin.
func (s HostingReader) Binned(ctx context.Context, kind hosting.Kind, called string) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind.Name)
	w.and("r.called = ?", called)
	w.conditions = append(w.conditions, "r.trashed_at is not null", kept)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}
