package http

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// check looks at what the fields alone do not tell: whose the record is, where
// its references lead, which names are taken, and what its kind demands.
func (k *collection) check(ctx context.Context, c route.Call, w *wish, wrong *field.Errors) error {
	if err := k.checkTenant(ctx, c, w, wrong); err != nil {
		return err
	}
	place := hosting.Place{
		ID: w.row.ID, Tenant: w.tenant, At: k.now(), Operator: callerOf(c).IsSuperuser,
		Sent: c.Sent, Before: w.before(), Limits: hosting.NoLimits(),
	}
	for _, r := range k.kind.Refs {
		row, err := k.referred(ctx, c, w, r, wrong)
		if err != nil {
			return err
		}
		if row != nil && r.Parent {
			w.tenant, place.Tenant, place.Parent = row.Tenant, row.Tenant, row.Spec
		}
	}
	if w.isNew() && len(*wrong) == 0 {
		id, err := k.number(ctx, k.kind.Name)
		if err != nil {
			return err
		}
		w.row.ID, place.ID = id, id
	}
	return k.checkIn(ctx, w, place, wrong)
}

// checkIn completes a record and holds it against where it stands. Limits are
// looked at only when nothing is wrong with it.
func (k *collection) checkIn(ctx context.Context, w *wish, place hosting.Place, wrong *field.Errors) error {
	w.derived = textIn(w.spec, "slug") == ""
	if err := k.surroundings(ctx, w, &place); err != nil {
		return err
	}
	hosting.Complete(w.spec, place)
	if err := k.neighbours(ctx, w, &place); err != nil {
		return err
	}
	hosting.Check(w.spec, place, wrong)
	checkLook(place.Sent, w, wrong)
	if err := k.checkNames(ctx, w, wrong); err != nil || len(*wrong) > 0 {
		return err
	}
	if err := w.stillHalted(); err != nil {
		return err
	}
	return k.checkLimit(ctx, w)
}

// surroundings are what the place of a record tells besides.
func (k *collection) surroundings(ctx context.Context, w *wish, place *hosting.Place) error {
	if panel, err := url.Parse(k.Settings.PublicURL()); err == nil {
		place.Hosts = append(place.Hosts, panel.Hostname())
	}
	for _, name := range k.Settings.NameServers {
		place.NameServers = append(place.NameServers, name)
		place.Hosts = append(place.Hosts, name)
	}
	if k.kind.Name == "tenant" {
		var err error
		place.Package, err = k.defaultPackage(ctx)
		return err
	}
	if k.kind.Shared || w.tenant == 0 {
		return nil
	}
	t, err := k.tenantOf(ctx, w.tenant)
	if isMissing(err) {
		return nil // which has been said
	}
	if err != nil {
		return err
	}
	place.Limits, err = k.limitsOf(ctx, t)
	return err
}

// limitsOf are those of the tenant's package, or its own without one.
func (k *collection) limitsOf(ctx context.Context, t *tenant) (hosting.Limits, error) {
	if t.spec.Package == nil {
		return t.spec.Limits, nil
	}
	row, err := k.system().Resource(ctx, hosting.Ref{Kind: "package", ID: *t.spec.Package})
	if isMissing(err) {
		return t.spec.Limits, nil
	}
	if err != nil {
		return hosting.Limits{}, err
	}
	var p hosting.Package
	err = row.Load(&p)
	return p.Allows(), err
}

// neighbours are the DNS records that have the name already.
func (k *collection) neighbours(ctx context.Context, w *wish, place *hosting.Place) error {
	record, is := w.spec.(*hosting.DNSRecord)
	if !is || record.Zone == 0 {
		return nil
	}
	found, err := k.system().OfKind(ctx, k.kind, projections.Listing{
		Filters: []projections.Filter{{Field: "zone", Op: "=", Value: record.Zone}, {Field: "name", Op: "=", Value: record.Name}},
		Limit:   k.kind.Most,
	})
	for _, row := range found.Rows {
		var other hosting.DNSRecord
		if err := row.Load(&other); err != nil {
			return err
		}
		if row.ID != w.row.ID {
			place.Beside = append(place.Beside, other.Published())
		}
	}
	return err
}

// checkLimit says in numbers that a new record is one too many. Whether it is,
// is decided when it is written.
func (k *collection) checkLimit(ctx context.Context, w *wish) error {
	if !w.isNew() {
		return nil
	}
	used, most, err := k.limit(ctx, w)
	if err == nil && most != hosting.Unlimited && used >= most {
		err = hosting.LimitReached(k.kind.Counted(), used, most)
	}
	return err
}

// limit is how many there are of what the record is one of, and may be.
func (k *collection) limit(ctx context.Context, w *wish) (used, most int64, err error) {
	if parent, is := k.kind.Parent(); is && k.kind.Most > 0 {
		used, err = k.system().Referring(ctx, k.kind.Name, parent.Field, numberIn(w.spec, parent.Field))
		return used, k.kind.Most, err
	}
	if k.kind.Quota == "" {
		return 0, hosting.Unlimited, nil
	}
	return k.system().Limit(ctx, k.kind, w.tenant)
}

// checkTenant settles whose a new record is. Who may not name a tenant, whose
// word for it is not looked at.
func (k *collection) checkTenant(ctx context.Context, c route.Call, w *wish, wrong *field.Errors) error {
	who := callerOf(c)
	if !w.Fields().Has("tenant") {
		return nil
	}
	if !who.IsSuperuser && k.kind.Writers != hosting.Admin {
		*wrong = slices.DeleteFunc(*wrong, func(one field.Wrong) bool { return one.Field == "tenant" })
		w.tenant = who.tenant()
	}
	if !w.isNew() {
		return nil
	}
	return k.settleTenant(ctx, c, &w.tenant, wrong)
}

// settleTenant is whose a new record is: the caller's tenant, unless a
// superuser names another.
func (s *Server) settleTenant(ctx context.Context, c route.Call, tenant *int64, wrong *field.Errors) error {
	who := callerOf(c)
	switch {
	case wrong.Has("tenant"):
		return nil
	case *tenant == 0 && who.tenant() == 0:
		wrong.Add("tenant", field.Missing)
		return nil
	case *tenant == 0:
		*tenant = who.tenant()
	}
	return mayRefer(wrong, "tenant", tenant, func(id int64) error {
		if !who.IsSuperuser && id != who.tenant() {
			return route.Missing("Tenant")
		}
		_, err := s.system().Resource(ctx, hosting.Ref{Kind: "tenant", ID: id})
		return err
	})
}

// refersStill tells whether a reference leads where it did before. What is
// there may be in the bin by now.
func (w *wish) refersStill(r hosting.Reference) bool {
	_, changed := w.changes()[r.Field]
	return !w.isNew() && !changed
}

// referred is the record to which a reference leads; nil: none. One of another
// tenant does not exist.
func (k *collection) referred(ctx context.Context, c route.Call, w *wish, r hosting.Reference, wrong *field.Errors) (found *projections.Resource, err error) {
	id := numberIn(w.spec, r.Field)
	if id == 0 && !c.Sent.Has(r.Field) || wrong.Has(r.Field) || isNull(w.spec, r.Field) {
		return nil, nil
	}
	if w.refersStill(r) {
		rows, err := k.system().Among(ctx, r.Kind, []int64{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return &rows[0], nil
	}
	err = mayRefer(wrong, r.Field, &id, func(id int64) error {
		row, err := k.scope(c).Resource(ctx, hosting.Ref{Kind: r.Kind, ID: id})
		other, _ := hosting.KindNamed(r.Kind)
		foreign, closed := !r.Parent && other.Own() && row.Tenant != w.tenant, r.Kind == "package" && !row.Active
		if err == nil && (foreign || closed) {
			return route.Missing(r.Kind)
		}
		found = &row
		return err
	})
	if wrong.Has(r.Field) {
		found = nil
	}
	return found, err
}

func textIn(spec hosting.Spec, name string) (text string) {
	if f, has := spec.Fields().Named(name); has {
		text, _ = f.Value().(string)
	}
	return text
}

func isNull(spec hosting.Spec, name string) bool {
	f, _ := spec.Fields().Named(name)
	id, mayBe := f.Value().(*int64)
	return mayBe && id == nil
}

// checkNames says which names others have, so that all that is wrong is said
// at once. Whether they still have them is decided when the change is written.
func (k *collection) checkNames(ctx context.Context, w *wish, wrong *field.Errors) error {
	changed := w.changes()
	for _, name := range k.kind.Unique {
		text := textIn(w.spec, name)
		if _, new := changed[name]; !new || text == "" || wrong.Has(name) {
			continue
		}
		taken, err := k.system().NameTaken(ctx, k.kind.Name, name, text)
		if err != nil {
			return err
		}
		switch {
		case taken && name == "slug" && w.derived:
			if err := ownSlug(w); err != nil {
				return err
			}
		case taken:
			wrong.Add(name, field.AlreadyExists(k.kind.Label, strings.ReplaceAll(name, "_", " ")))
		}
	}
	return nil
}

// ownSlug gives a record whose name others have too a slug of its own.
func ownSlug(w *wish) error {
	slug := field.OwnSlug(textIn(w.spec, "name"), w.row.ID)
	return w.spec.Fields().Load(field.Values{"slug": field.AppendText(nil, slug)})
}
