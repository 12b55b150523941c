package hosting

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// A site that has got another domain needs a certificate for it. Once the
// engine serves the new name a reaction orders one, and those for names that
// the site has no more are renewed no more (docs/certificates.md, "A site that
// is renamed").

// A renamed site has certificates for names that are no more its own.
type renamed struct {
	row      projections.Resource
	site     hosting.Site
	outgrown []hosting.Ref        // acme certificates that are renewed, for other names
	names    []string             // that the new one is to cover as well
	present  projections.Resource // the acme certificate for its name; number 0: none
}

// certifyNewName orders the certificate for a new name of a site. It goes by
// how things are now, so it may be asked any number of times.
func (m *Maintenance) certifyNewName(ctx context.Context, r eventstore.RecordedEvent) error {
	kind, _ := hosting.KindOf(r.Stream)
	if _, has := kind.Certificates(); !has {
		return nil
	}
	site, err := m.renamed(ctx, hosting.RefOf(r.Stream))
	if err != nil || len(site.outgrown) == 0 {
		return err
	}
	commands, err := m.certifying(ctx, site)
	if err != nil {
		return err
	}
	for _, ref := range site.outgrown {
		commands = append(commands, hosting.Change{Ref: ref, Spec: renewing("false")})
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("new name")), Actor: "system:reactions"}
	_, err = m.Store.Execute(ctx, cause, commands...)
	// the package has none, or another request has just come
	if code := domain.CodeOf(err); code == domain.Invalid || code == domain.Throttled {
		return nil
	}
	return err
}

// renamed looks at a site that the engine serves as it is wanted. Of others
// nothing is outgrown yet.
func (m *Maintenance) renamed(ctx context.Context, ref hosting.Ref) (found renamed, err error) {
	tables := m.system()
	found.row, err = tables.Hosting().Resource(ctx, ref)
	if domain.CodeOf(err) == domain.NotFound {
		return found, nil
	}
	if err != nil || !found.row.Active || found.row.Status != hosting.Running {
		return found, err
	}
	if err := found.row.Load(&found.site); err != nil {
		return found, err
	}
	certificates, err := tables.Hosting().PartsOf(ctx, certificateKind, "site", ref.ID)
	for _, row := range certificates {
		if err := found.add(row); err != nil {
			return found, err
		}
	}
	return found, err
}

func (f *renamed) add(row projections.Resource) error {
	var c hosting.Certificate
	if err := row.Load(&c); err != nil || c.Type != hosting.Acme {
		return err
	}
	switch {
	case c.Domain == f.site.Domain:
		f.present = row
	case c.AutoRenew && !hosting.Below(c.Domain, f.site.Domain):
		f.outgrown = append(f.outgrown, row.Ref())
		if len(f.names) == 0 {
			f.names = c.NamesUnder(f.site.Domain)
		}
	}
	return nil
}

// certifying are the commands that bring a renamed site a certificate: a new
// one, or the one that it has had for the name before.
func (m *Maintenance) certifying(ctx context.Context, f renamed) ([]domain.Command, error) {
	if f.present.ID == 0 {
		request, err := m.firstFor(ctx, f)
		return []domain.Command{request}, err
	}
	var c hosting.Certificate
	if err := f.present.Load(&c); err != nil {
		return nil, err
	}
	var commands []domain.Command
	ref := f.present.Ref()
	if !c.AutoRenew {
		commands = append(commands, hosting.Change{Ref: ref, Spec: renewing("true")})
	}
	if c.Wait(m.Runner.Now()) == 0 && f.present.Active { // otherwise it is ordered when it may be
		commands = append(commands, hosting.Order{Ref: ref, At: m.Runner.Now(), Anew: true})
	}
	return commands, nil
}

func (m *Maintenance) firstFor(ctx context.Context, f renamed) (request hosting.Request, err error) {
	ids, err := m.Store.NextIDs(ctx, certificateKind)
	if err != nil {
		return request, err
	}
	c := hosting.Certificate{Site: f.row.ID, Type: hosting.Acme, Domain: f.site.Domain, Names: f.names, AutoRenew: true}
	hosting.Complete(&c, hosting.Place{ID: ids[0], Tenant: f.row.Tenant, At: m.Runner.Now(), Parent: f.row.Spec})
	return hosting.Request{Ref: hosting.Ref{Kind: certificateKind, ID: ids[0]}, Tenant: f.row.Tenant, Spec: c.Fields().Values()}, nil
}

func renewing(is string) field.Values { return field.Values{"auto_renew": []byte(is)} }
