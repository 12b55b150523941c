// Package hosting carries out what is asked of hosting resources, and what follows
// from it later.
//
// [Service] has the use cases: create, change, remove, restore, suspend, terminate,
// order certificates. The API and the command line use the same methods. The method
// [Service.Prepare] completes and checks a draft; the others append what it asks for
// to the log. [Operations] outlast the request: installing a program, comparing a
// tenant with the engine. [Maintenance] needs no request: the bin, the renewal of
// certificates, suspension, measuring. How a resource gets to the engine is package
// reconcile (docs/hosting.md, docs/sync.md).
package hosting

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
)

// A Service carries out what callers ask of hosting resources.
type Service struct{ Options }

// Options are what a [Service] works with.
type Options struct {
	Tables    *projections.Tables
	Resources Resources
	Numbers   Numbers
	Subjects  Subjects

	Forms hosting.FormChecker // what the engine takes; nil: all that the panel takes

	Resolver    Resolver      // of names on the internet
	PublicURL   func() string // of the panel
	NameServers []string      // of zones that name none, with final dots
	Hosts       []string      // names under which the hosting engine is reached

	SiteAddresses []string // under which sites with the address * are reached

	Now func() time.Time // business time; nil: the real time

	// StyleSheet returns what is not allowed in a style sheet.
	StyleSheet func(css string) (problems []string)
}

// Resources appends commands on hosting resources, all or nothing. Specs name
// secrets by handles; their values are kept, sealed, until the engine has them.
type Resources interface {
	Carry(ctx context.Context, cause domain.Metadata, secrets map[uuid.UUID]string, commands ...domain.Command) (domain.Receipt, error)
	// CarryShown is Carry with secrets that a person's tenant is shown once.
	CarryShown(
		ctx context.Context, cause domain.Metadata, of hosting.Ref, person uuid.UUID, secrets map[uuid.UUID]string,
		commands ...domain.Command,
	) (domain.Receipt, error)
	// Shown returns the secret of a resource that waits to be shown; Show destroys it then.
	Shown(ctx context.Context, row projections.Resource) (secret, key string, err error)
	Show(ctx context.Context, cause domain.Metadata, row projections.Resource) (secret string, err error)
}

// Numbers draws numbers for new records, by kind.
type Numbers interface {
	NextIDs(ctx context.Context, kinds ...string) ([]int64, error)
}

// Subjects finds the person with an address, or makes one.
type Subjects interface {
	Subject(ctx context.Context, email string) (uuid.UUID, error)
}

// A Resolver finds the TXT records of a name. [net.Resolver] is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// New returns a service.
func New(o Options) *Service {
	o.Now = clock.Or(o.Now)
	return &Service{o}
}

func (s *Service) now() time.Time { return s.Now().UTC() }

// system reads as the program itself.
func (s *Service) system() projections.Scope { return s.Tables.For(projections.System) }

func (s *Service) nextID(ctx context.Context, kind string) (int64, error) {
	ids, err := s.Numbers.NextIDs(ctx, kind)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// carry appends commands about a draft. Commands that make records in a tenant
// that is off switch these off as well.
func (s *Service) carry(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, secrets map[uuid.UUID]string,
	commands ...domain.Command,
) (domain.Receipt, error) {
	commands, err := s.disableInSuspended(ctx, by, d.Tenant, commands)
	if err != nil {
		return domain.Receipt{}, err
	}
	found := cause(domain.Versions{d.Ref().Stream(): d.Version})
	if d.ShowTo != nil {
		return s.Resources.CarryShown(ctx, found, d.Ref(), *d.ShowTo, secrets, commands...)
	}
	return s.Resources.Carry(ctx, found, secrets, commands...)
}

// subjectOf is the person whose data a tenant's records hold: that of the
// tenant itself.
func (s *Service) subjectOf(ctx context.Context, t *tenant) (uuid.UUID, error) {
	if t.row.Subject != nil {
		return *t.row.Subject, nil
	}
	return s.Subjects.Subject(ctx, t.spec.Email)
}

// A tenant is what the rules of all records in it need to know of it.
type tenant struct {
	row  projections.Resource
	spec hosting.Tenant
}

func (s *Service) tenantOf(ctx context.Context, id int64) (*tenant, error) {
	row, err := s.system().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: id})
	if err != nil {
		return nil, err
	}
	t := &tenant{row: row}
	return t, row.Load(&t.spec)
}

// isMissing reports whether a record was not found.
func isMissing(err error) bool { return domain.CodeOf(err) == domain.NotFound }

func missing(class string) error {
	return domain.Refuse(domain.NotFound, "No %s matches the given query.", class)
}
