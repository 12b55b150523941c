package http

import (
	"context"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// create makes a tenant. Nobody belongs to it yet.
func (t tenants) create(ctx context.Context, c route.Call, w *wish) (*hosted, error) {
	c.Location(t.path() + strconv.FormatInt(w.row.ID, 10) + "/")
	subject, err := t.Subjects.Subject(ctx, specOf(w).Email)
	if err != nil {
		return nil, err
	}
	request := hosting.Request{Ref: w.ref(), Tenant: w.row.ID, Spec: w.spec.Fields().Values(), Subject: subject}
	if err := t.carry(ctx, c, w, nil, request); err != nil {
		return nil, err
	}
	return t.afterwards(ctx, c, w)
}

func (t tenants) change(ctx context.Context, c route.Call, w *wish) (*hosted, error) {
	if err := t.turn(ctx, c, w); err != nil {
		return nil, err
	}
	return t.afterwards(ctx, c, w)
}

// terminate puts the tenant into the bin with all that is its.
func (t tenants) terminate(ctx context.Context, c route.Call) error {
	w := c.Subject.(*wish) //nolint:forcetypeassert // found by find
	specOf(w).Status = hosting.Terminated
	hosting.Complete(w.spec, hosting.Place{ID: w.row.ID, Tenant: w.row.ID, At: t.now(), Before: w.before()})
	return t.turn(ctx, c, w)
}

// turn changes a tenant, and its records with it. Where somebody writes one of
// them at the same moment, again and again, the tenant goes ahead, and they
// follow (docs/tenants.md, "Suspension"): who is busy is suspended all the same.
func (t tenants) turn(ctx context.Context, c route.Call, w *wish) error {
	own := changes(w)
	following, err := t.following(ctx, w)
	if err != nil {
		return err
	}
	err = t.carry(ctx, c, w, nil, slices.Concat(own, following)...)
	if len(following) > 0 && domain.CodeOf(err) == domain.Conflict {
		err = t.carry(ctx, c, w, nil, own...)
	}
	return err
}

// changes are what becomes of the tenant itself.
func changes(w *wish) []domain.Command {
	commands := []domain.Command{hosting.Change{Ref: w.ref(), Spec: w.changes()}}
	if w.isTurned() && specOf(w).Status == hosting.Terminated {
		commands = append(commands, hosting.Trash{Ref: w.ref()})
	}
	return commands
}

// following are what becomes of the tenant's records if its state is another
// one.
func (t tenants) following(ctx context.Context, w *wish) ([]domain.Command, error) {
	if !w.isTurned() {
		return nil, nil
	}
	rests := specOf(w).Rests(w.row.Halts...)
	records, err := t.system().OutOfStep(ctx, w.row.ID, rests, hosting.MostFollowing)
	return hosting.Following(rests, records), err
}

// isTurned tells whether the state of a tenant is another one than it was.
func (w *wish) isTurned() bool {
	_, another := w.changes()["status"]
	return another
}

// afterwards is the tenant as it is then, even in the bin.
func (t tenants) afterwards(ctx context.Context, c route.Call, w *wish) (*hosted, error) {
	rows, err := t.system().Among(ctx, w.kind.Name, []int64{w.row.ID})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, route.Missing(w.kind.Class)
	}
	if c.Subject, err = t.whole(ctx, t.system(), rows[0]); err != nil {
		return nil, err
	}
	return t.show(ctx, c)
}

// halting adds that what is made in a tenant that rests is off from the start.
// Nobody but superusers makes anything there.
func (k *collection) halting(ctx context.Context, c route.Call, tenant int64, commands []domain.Command) ([]domain.Command, error) {
	var made []hosting.Ref
	for _, command := range commands {
		request, is := command.(hosting.Request)
		if kind, _ := hosting.KindNamed(request.Kind); is && kind.Halts {
			made = append(made, request.Ref)
		}
	}
	if len(made) == 0 || !callerOf(c).IsSuperuser {
		return commands, nil
	}
	t, err := k.tenantOf(ctx, tenant)
	if err != nil || !t.spec.Rests(t.row.Halts...) {
		return commands, err
	}
	return append(commands, hosting.Following(true, made)...), nil
}

// defaultPackage is what tenants get that name none; nil: nothing.
func (k *collection) defaultPackage(ctx context.Context) (*int64, error) {
	kind, _ := hosting.KindNamed("package")
	found, err := k.system().OfKind(ctx, kind, projections.Listing{
		Filters: []projections.Filter{{Field: kind.Single, Op: "=", Value: true}}, Limit: 1,
	})
	if err != nil || len(found.Rows) == 0 {
		return nil, err
	}
	return &found.Rows[0].ID, nil
}

// specOf is the wish for a tenant.
func specOf(w *wish) *hosting.Tenant {
	return w.spec.(*hosting.Tenant) //nolint:forcetypeassert // of the kind
}
