package projections

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// What those ask who bring resources to the engine, in whatever state the
// resources are.

// Recorded reads resources by kind and number, in whatever state they are.
func (s HostingReader) Recorded(ctx context.Context, refs ...hosting.Ref) (map[hosting.Ref]Resource, error) {
	kinds, ids := make([]string, len(refs)), make([]int64, len(refs))
	for i, ref := range refs {
		kinds[i], ids[i] = ref.Kind, ref.ID
	}
	w := s.caller.operators()
	w.args = append(w.args, kinds, ids)
	w.conditions = append(
		w.conditions,
		fmt.Sprintf("(r.kind, r.id) in (select * from unnest($%d::text[], $%d::bigint[]))", len(w.args)-1, len(w.args)),
	)
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
