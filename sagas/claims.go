package sagas

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/jackc/pgx/v5"
)

// One writer per object outside (docs/sagas.md, "Claims"; rule E-4): the object
// is claimed before the call, for the resource that it is to be, and the claim
// ends when the resource is known to be called otherwise, or gone.

// A Claim names an object outside, and the resource that alone may write to it
// under this name. Zero: nobody else could.
type Claim struct {
	Server, Kind, Name string
	Owner              domain.Stream
}

// freeRow gives up all claims of a resource but one; zero: none is kept.
func freeRow(owner domain.Stream, kept Claim) eventstore.Row {
	return eventstore.Row{
		Key: "external_claim/" + owner.String(), SQL: `delete from external_claim where owner = $1 and (server, kind, name) <> ($2, $3, $4)`,
		Args: []any{owner.String(), kept.Server, kept.Kind, kept.Name}, Touches: eventstore.AnyRows,
	}
}

// claimOf is the claim of a resource on a name at the engine. Certificates have
// none: who writes to that of a site follows from the site.
func (s *Sagas) claimOf(w wanted, name string) Claim {
	if w.kind.Name == certificateKind {
		return Claim{}
	}
	return Claim{Server: s.engine.Server(), Kind: w.object.Kind, Name: name, Owner: w.ref.Stream()}
}

// owner is who has claimed the object of a claim; "": nobody.
func (s *Sagas) owner(ctx context.Context, o Claim) (owner string, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(max(owner), '') from external_claim where server = $1 and kind = $2 and name = $3`,
		o.Server, o.Kind, o.Name).Scan(&owner)
	return owner, sqlError(err, "look who has claimed %s %s", o.Kind, o.Name)
}

// claimed tells whether the resource has claimed a name. Otherwise nothing that
// is found under it was made for the resource. Under a name that another site
// has claimed by now there is no certificate of its own.
func (p *pushed) claimed(ctx context.Context, name string) (bool, error) {
	if p.kind.Name == certificateKind {
		return p.s.open(ctx, Claim{Server: p.s.engine.Server(), Kind: "site", Name: name, Owner: refTo(p.namesake()).Stream()})
	}
	owner, err := p.s.owner(ctx, p.claim(name))
	return owner == p.ref.Stream().String(), err
}

// open tells whether nobody else has a claim.
func (s *Sagas) open(ctx context.Context, o Claim) (bool, error) {
	owner, err := s.owner(ctx, o)
	return owner == "" || owner == o.Owner.String(), err
}

// stepAside lets a wish that has been overtaken be fulfilled all the same, as
// far as the name goes, while another resource has the name that came after:
// two that exchange their names would wait for each other for ever.
func (s *Sagas) stepAside(ctx context.Context, job Job, w wanted) (wanted, error) {
	if w.row.Wish <= job.Version || w.row.Status == hosting.Leaving || w.row.Status == hosting.Gone {
		return w, nil
	}
	if free, err := s.open(ctx, s.claimOf(w, w.object.Name)); err != nil || free {
		return w, err
	}
	history, err := s.store.ReadUntil(ctx, w.ref.Stream(), job.Version, time.Time{})
	if err != nil {
		return w, err
	}
	aside := w
	aside.row.Spec, aside.row.Wish = maps.Clone(w.row.Spec), job.Version
	maps.Copy(aside.row.Spec, w.kind.Naming(told(history)))
	if err := s.shape(ctx, &aside); err != nil {
		return w, err
	}
	free, err := s.open(ctx, s.claimOf(aside, aside.object.Name))
	if err != nil || !free || aside.object.Name == w.object.Name {
		return w, err
	}
	return aside, nil
}

// contend is the answer to a claim that another resource has already. As long
// as that one has something to do it comes first. When it has not, the name is
// its own if anything has it at the engine, and otherwise free.
func (s *Sagas) contend(ctx context.Context, c claimed, step step, o Claim) error {
	rival, err := s.rival(ctx, o)
	if err != nil {
		return err
	}
	row, err := s.tables.For(projections.System).Recorded(ctx, rival.ref)
	if err != nil {
		return err
	}
	if row[rival.ref].SyncStatus == "pending" {
		return await(rival.ref, "name_leaving")
	}
	_, found, err := s.lookUp(ctx, c, step, Call{Lookup: s.named(o)})
	switch {
	case err != nil:
		return unsent(err)
	case found == Yes:
		return errNotOurs
	}
	if left := step.policy.Quarantine - rival.idle; left > 0 {
		return wait("quarantine", left)
	}
	return s.outlive(ctx, o, rival)
}

// A rival is who has claimed an object.
type rival struct {
	ref   hosting.Ref
	owner string
	taken time.Time
	idle  time.Duration // since it set out to write to the object
}

func (s *Sagas) rival(ctx context.Context, o Claim) (r rival, err error) {
	var idle float64
	err = s.pool.QueryRow(ctx, `
		select owner, taken_at, extract(epoch from clock_timestamp() - taken_at)::float8 from external_claim where server = $1 and kind = $2 and name = $3`,
		o.Server, o.Kind, o.Name).Scan(&r.owner, &r.taken, &idle)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, wait("name_leaving", s.times.Floor) // it has just left
	}
	kind, id, _ := strings.Cut(r.owner, "-")
	r.ref, r.idle = refOf(domain.Stream{Category: kind, ID: id}), time.Duration(idle*float64(time.Second))
	return r, sqlError(err, "look who has claimed %s %s", o.Kind, o.Name)
}

// named looks whether anything has the name of a claim. What a hypervisor has
// is named after our own numbers, and never anybody else's.
func (s *Sagas) named(o Claim) func(context.Context) (Result, Found, error) {
	return func(ctx context.Context) (Result, Found, error) {
		if o.Server != s.engine.Server() {
			return Result{}, Yes, nil
		}
		_, is, err := s.engine.Find(ctx, o.Kind, o.Name, "")
		if err != nil || !is {
			return Result{}, No, err
		}
		return Result{}, Yes, nil
	}
}

// outlive ends the claim of a resource that has made nothing of it, unless it
// has come back meanwhile. The next attempt takes its place.
func (s *Sagas) outlive(ctx context.Context, o Claim, r rival) error {
	_, err := s.exec(ctx, "end a claim", `delete from external_claim where server = $1 and kind = $2 and name = $3 and owner = $4 and taken_at = $5`,
		o.Server, o.Kind, o.Name, r.owner, r.taken)
	return errors.Join(err, wait("name_leaving", s.times.Floor))
}
