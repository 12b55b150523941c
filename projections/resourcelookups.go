package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/field"
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
			"create index resources_of_%s on resources (%s, kind, id) include (tenant, present) where listed and %s is not null;\n\t",
			name, name, name,
		)
	}
	return sql.String() + `create index resources_called on resources (kind, called, id) include (tenant, present) where listed;
	create index resources_called_in on resources (kind, tenant, called, id) include (present) where listed;
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
	w.and("r."+reference+" in (select unnest(?::bigint[]))", ids)
	w.conditions = append(w.conditions, present)
	found, err := list[numbers](ctx, s.db, `select r.`+reference+` as id, count(*) as n from resources r`, w, ` group by 1`)
	counts := make(map[int64]int64, len(ids))
	for _, each := range found {
		counts[each.ID] = each.N
	}
	return counts, err
}

// Shown returns one resource as [HostingReader.Resource] does, or one whose removal the
// engine has refused.
func (s HostingReader) Shown(ctx context.Context, ref hosting.Ref) (Resource, error) {
	return s.resource(ctx, ref, "r.listed")
}

func (s HostingReader) resource(ctx context.Context, ref hosting.Ref, condition string) (Resource, error) {
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.kind = ?", ref.Kind)
	w.and("r.id = ?", ref.ID)
	w.conditions = append(w.conditions, condition)
	kind, _ := hosting.KindNamed(ref.Kind)
	return one[Resource](ctx, s.db, kind.Class, `select `+resourceColumns+fromResources, w)
}

// present resources are neither removed nor in the bin. They are among those that are listed,
// which the indexes hold.
const present = `r.present and r.listed`

// Among reads the resources of a kind with these numbers, present or not, in
// one question.
func (s HostingReader) Among(ctx context.Context, kind string, ids []int64) (found []Resource, err error) {
	w := s.caller.tenantOrAll("r.tenant")
	w.named(slices.Repeat([]string{kind}, len(ids)), ids)
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

// Near are the specs of the other resources that a spec is compared with ([hosting.NearTo]).
func (s HostingReader) Near(ctx context.Context, ref hosting.Ref, spec hosting.Spec, tenant int64) (near []field.Values, err error) {
	for step := 0; ; step++ {
		queries := hosting.NearTo(spec, tenant, step, near)
		if len(queries) == 0 {
			return near, nil
		}
		for _, q := range queries {
			kind, _ := hosting.KindNamed(q.Kind)
			l := Listing{Limit: kind.Most}
			for name, value := range q.Having {
				op := "="
				if values, several := value.([]string); several {
					op, l.Limit = "in", int64(len(values))
				}
				l.Filters = append(l.Filters, Filter{Field: name, Op: op, Value: value})
			}
			found, err := s.OfKind(ctx, kind, l)
			if err != nil {
				return nil, err
			}
			for _, row := range found.Rows {
				if row.Ref() != ref {
					near = append(near, row.Spec)
				}
			}
		}
	}
}

// Binned are the resources of a kind that are called so and are in the bin.
func (s HostingReader) Binned(ctx context.Context, kind hosting.Kind, called string) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind.Name)
	w.and("r.called = ?", called)
	w.conditions = append(w.conditions, "r.trashed_at is not null", kept)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}

// What those ask who bring resources to the engine, in whatever state the
// resources are.

// named are the resources of these kinds and numbers. Each is looked up by its key, also by
// a plan that is older than the resources.
func (w *where) named(kinds []string, ids []int64) {
	w.args = append(w.args, kinds, ids)
	w.conditions = append(
		w.conditions,
		fmt.Sprintf("(r.kind, r.id) in (select * from unnest($%d::text[], $%d::bigint[]))", len(w.args)-1, len(w.args)),
	)
}

// Recorded reads resources by kind and number, in whatever state they are.
func (s HostingReader) Recorded(ctx context.Context, refs ...hosting.Ref) (map[hosting.Ref]Resource, error) {
	kinds, ids := make([]string, len(refs)), make([]int64, len(refs))
	for i, ref := range refs {
		kinds[i], ids[i] = ref.Kind, ref.ID
	}
	w := s.caller.operators()
	w.named(kinds, ids)
	rows, err := list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, "")
	found := map[hosting.Ref]Resource{}
	for _, r := range rows {
		found[hosting.Ref{Kind: r.Kind, ID: r.ID}] = r
	}
	return found, err
}

// Holders are the resources of a kind that are known to be the engine's object
// with this number.
func (s HostingReader) Holders(ctx context.Context, kind string, engineID int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind)
	w.and("r.engine_id = ?", engineID)
	w.conditions = append(w.conditions, "r.status <> 'gone'")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id limit 10")
}

// NotGone are all resources of a kind that were not removed for good.
func NotGone(ctx context.Context, s HostingReader, kind string) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind)
	w.conditions = append(w.conditions, "r.status <> 'gone'")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}

// Leaving are resources of a kind that the engine has yet to remove and whose
// specs have these values. Tenant 0 is any.
func (s HostingReader) Leaving(ctx context.Context, kind string, tenant int64, having field.Values) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind)
	given(w, "r.tenant = ?", tenant)
	w.and("r.spec @> ?::jsonb", having)
	w.conditions = append(w.conditions, "r.leaving")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id limit 10")
}

// belongs keeps the kinds whose resources end with their tenant.
var belongs = "r.kind not in (" + kindsThat(func(k hosting.Kind) bool { return !k.Belongs() }) + ")"

// LeavingOf are other resources of a tenant, of all kinds but machines, that
// the engine has yet to remove.
func (s HostingReader) LeavingOf(ctx context.Context, tenant int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, "r.leaving", belongs)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.kind, r.id limit 10")
}

// keepsContact keeps the kinds in whose objects the engine has contact data.
var keepsContact = "r.kind in (" + kindsThat(hosting.Kind.KeepsContact) + ")"

// WithContactOf are the resources that hold data of one of these people which is
// not erased yet, as far as the engine has, or may get, contact data with them.
func (s HostingReader) WithContactOf(ctx context.Context, subjects []uuid.UUID) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.subject = any(?)", subjects)
	w.conditions = append(w.conditions, "r.status <> 'gone'", "(r.engine_id is not null or r.status = 'wanted')", keepsContact,
		"jsonb_exists_any(r.spec, case r.kind"+personalFields()+" end)")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.kind, r.id")
}

// Asleep are the resources of a tenant that the engine has and that are off:
// wanted to be, disabled, or in the bin.
func (s HostingReader) Asleep(ctx context.Context, tenant int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, "not r.active", "r.engine_id is not null", kept, belongs)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.kind, r.id")
}

// Belonging are the resources of a tenant whose removal was not requested yet,
// the tenant itself and machines left out, at most limit.
func (s HostingReader) Belonging(ctx context.Context, tenant int64, limit int) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, kept, belongs)
	w.args = append(w.args, limit)
	return list[Resource](
		ctx, s.db, `select `+resourceColumns+fromResources, w,
		fmt.Sprintf(" order by r.kind, r.id limit $%d", len(w.args)),
	)
}

// PartsOf are the resources that refer to one by a field.
func (s HostingReader) PartsOf(ctx context.Context, kind, by string, id int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind)
	w.and("r."+by+" = ?", id)
	w.conditions = append(w.conditions, present)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}
