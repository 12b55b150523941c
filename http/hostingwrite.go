package http

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

func (k *collection) create(ctx context.Context, c route.Call, w *wish) (*hosted, error) {
	if err := k.orderable(ctx, w); err != nil {
		return nil, err
	}
	c.Location(k.pathOf(w.row.ID))
	given := w.generate()
	commands, err := k.evicting(ctx, w)
	if err != nil {
		return nil, err
	}
	secrets := w.seal()
	request, err := k.request(ctx, w)
	if err != nil {
		return nil, err
	}
	made, err := k.carryOut(ctx, c, w, secrets, append(commands, request)...)
	if err == nil && given != nil {
		c.Set("Cache-Control", "no-store")
		made.given = given
	}
	return made, err
}

// request asks for a new record, whose secrets are sealed.
func (k *collection) request(ctx context.Context, w *wish) (hosting.Request, error) {
	request := hosting.Request{Ref: w.ref(), Tenant: w.tenant, Spec: w.spec.Fields().Values()}
	if len(k.kind.Personal) == 0 {
		return request, nil
	}
	tenant, err := k.tenantOf(ctx, w.tenant)
	if err != nil {
		return request, err
	}
	request.Subject, err = k.subjectOf(ctx, tenant)
	return request, err
}

func (k *collection) change(ctx context.Context, c route.Call, w *wish) (*hosted, error) {
	commands, err := k.evicting(ctx, w)
	if err != nil {
		return nil, err
	}
	led, err := k.led(ctx, w)
	if err != nil {
		return nil, err
	}
	secrets := w.seal()
	commands = append(commands, hosting.Change{Ref: w.ref(), Spec: w.changes()})
	return k.carryOut(ctx, c, w, secrets, append(commands, led...)...)
}

// led are the changes by which the proxy of a site that gets another domain or
// address goes on leading there.
func (k *collection) led(ctx context.Context, w *wish) (commands []domain.Command, err error) {
	site, is := w.spec.(*hosting.Site)
	if !is {
		return nil, nil
	}
	proxies, err := k.system().PartsOf(ctx, "proxy", "site", w.row.ID)
	for _, proxy := range proxies {
		changed := site.Led()
		maps.DeleteFunc(changed, func(name string, value json.RawMessage) bool { return string(value) == string(proxy.Spec[name]) })
		commands = append(commands, hosting.Change{Ref: hosting.Ref{Kind: proxy.Kind, ID: proxy.ID}, Spec: changed})
	}
	return commands, err
}

// carryOut takes a flag that only one may have from whoever has it, and shows
// the record as it is then.
func (k *collection) carryOut(ctx context.Context, c route.Call, w *wish, secrets map[uuid.UUID]string, commands ...domain.Command) (*hosted, error) {
	resigning, err := k.resigning(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := k.carry(ctx, c, w, secrets, append(resigning, commands...)...); err != nil {
		return nil, k.inNumbers(ctx, w, err)
	}
	row, err := k.scopeOf(c).Resource(ctx, w.ref())
	if err != nil {
		return nil, err
	}
	if c.Subject, err = k.whole(ctx, k.scopeOf(c), row); err != nil {
		return nil, err
	}
	return k.show(ctx, c)
}

// carry has commands about a record carried out, and gives the engine a moment
// to do what they ask of it.
func (k *collection) carry(ctx context.Context, c route.Call, w *wish, secrets map[uuid.UUID]string, commands ...domain.Command) error {
	of := w.ref().Stream()
	commands, err := k.halting(ctx, c, w.tenant, commands)
	if err != nil {
		return err
	}
	receipt, err := k.Resources.Carry(ctx, c.CauseOf(domain.Versions{of: w.row.Version}), secrets, commands...)
	if err != nil || receipt.Versions[of] == w.row.Version {
		return err
	}
	return k.awaitEngine(ctx, c, w.ref(), receipt.Versions[of])
}

// inNumbers says which limit was reached where others were faster.
func (k *collection) inNumbers(ctx context.Context, w *wish, err error) error {
	if !overQuota(err) {
		return err
	}
	used, most, counted := k.limit(ctx, w)
	if counted != nil {
		return counted
	}
	return hosting.LimitReached(k.kind.Counted(), used, most)
}

func overQuota(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Reason == "quota_exceeded"
}

// resigning are the changes by which others give up the flag that this one is
// to have.
func (k *collection) resigning(ctx context.Context, w *wish) (commands []domain.Command, err error) {
	if k.kind.Single == "" || string(w.changes()[k.kind.Single]) != "true" {
		return nil, nil
	}
	holders, err := k.system().OfKind(ctx, k.kind, projections.Listing{Filters: []projections.Filter{{Field: k.kind.Single, Op: "=", Value: true}}})
	for _, row := range holders.Rows {
		commands = append(commands, hosting.Change{
			Ref: hosting.Ref{Kind: row.Kind, ID: row.ID}, Spec: field.Values{k.kind.Single: []byte("false")},
		})
	}
	return commands, err
}

// remove removes a record with its parts, unless others refer to it and it is
// to stay then. Kinds with a bin go there.
func (k *collection) remove(ctx context.Context, c route.Call) error {
	w := c.Subject.(*wish) //nolint:forcetypeassert // found by find
	if err := k.unused(ctx, c, w); err != nil {
		return err
	}
	commands, err := k.removal(ctx, w)
	if err != nil {
		return err
	}
	return k.carry(ctx, c, w, nil, commands...)
}

// removal is what removes a record: into the bin, where its kind has one.
func (k *collection) removal(ctx context.Context, w *wish) ([]domain.Command, error) {
	if k.kind.Soft {
		halts, err := k.eachPart(ctx, w.row.ID, func(part hosting.Ref) domain.Command { return hosting.Halt{Ref: part, By: hosting.BySite} })
		return append([]domain.Command{hosting.Trash{Ref: w.ref()}}, halts...), err
	}
	parts, err := k.eachPart(ctx, w.row.ID, func(part hosting.Ref) domain.Command { return hosting.Remove{Ref: part} })
	return append([]domain.Command{hosting.Remove{Ref: w.ref()}}, parts...), err
}

// eachPart commands something of all that is part of the record.
func (k *collection) eachPart(ctx context.Context, id int64, command func(hosting.Ref) domain.Command) (commands []domain.Command, err error) {
	for _, child := range k.kind.Children() {
		found, err := k.system().PartsOf(ctx, child.Kind.Name, child.By, id)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			commands = append(commands, command(hosting.Ref{Kind: row.Kind, ID: row.ID}))
		}
	}
	return commands, nil
}

// unused refuses to remove what others refer to. What is part of it goes with
// it if the caller insists (?force=true).
func (k *collection) unused(ctx context.Context, c route.Call, w *wish) error {
	if k.kind.InUse == "" {
		return nil
	}
	insisting := c.Param("force") == "true"
	for _, other := range k.kind.Referrers() {
		if parent, is := other.Kind.Parent(); insisting && is && parent.Field == other.By {
			continue
		}
		n, err := k.system().Referring(ctx, other.Kind.Name, other.By, w.row.ID)
		if err != nil {
			return err
		}
		if n > 0 {
			return &route.Refusal{Status: http.StatusConflict, Detail: k.kind.InUse, Code: "in_use"}
		}
	}
	return nil
}

// subjectOf is the person whose data a tenant's records hold: that of the
// tenant itself.
func (k *collection) subjectOf(ctx context.Context, t *tenant) (uuid.UUID, error) {
	if t.row.Subject != nil {
		return *t.row.Subject, nil
	}
	return k.Subjects.Subject(ctx, t.spec.Email)
}
