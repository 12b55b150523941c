package assembly

import (
	"context"
	"encoding/json"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What is particular about certificates at the engine: they are ordered, which
// must not happen by the way, and they are issued some time later or not at
// all (docs/certificates.md, "At the engine").

// An order of a certificate, as its row tells.
type ordered struct {
	hosting.Certificate
	stands bool // nobody has answered it yet
}

func (w *desired) order() (o ordered, err error) {
	err = w.row.Load(&o.Certificate)
	o.stands = o.Status == hosting.Ordering.Status() && w.row.Active
	return o, err
}

// outgrew tells whether the site has another name by now: what the engine has
// of it, which is called like the site, is no more this certificate.
func (w *desired) outgrew(o ordered) bool {
	return o.Type == hosting.Acme && !hosting.Below(o.Domain, w.object.Name)
}

// stands tells whether the engine is to be left alone with a certificate:
// nobody has ordered it since it was issued or failed, or its site is off or has
// another name. One
// that was issued and that the engine has lost is ordered anew.
func (p *pushed) stands(ctx context.Context) (bool, error) {
	if !p.kind.Issued {
		return false, nil
	}
	o, err := p.order()
	switch {
	case err != nil || !p.row.Active:
		return err == nil, err
	case p.outgrew(o):
		return true, nil
	case o.stands:
		return p.missing && p.object.ID != 0, nil // what was brought along is there, and cannot be brought again
	case o.Status != hosting.Issued.Status():
		return true, nil
	}
	found, is, err := p.find(ctx)
	if is {
		p.object.ID = found.ID
	}
	return is, err
}

// shared tells whether an object at the engine stands for another certificate
// as well, as where a site has only one there: then it stays.
func (p *pushed) shared(ctx context.Context, id int64) (bool, error) {
	if !p.kind.Issued {
		return false, nil
	}
	holders, err := p.s.tables.For(projections.System).Holders(ctx, p.kind.Name, id)
	for _, h := range holders {
		if refTo(h) != p.ref && h.Status != hosting.Leaving {
			return true, nil
		}
	}
	return false, err
}

// afterItsSite lets the site of a certificate get its name first: the engine
// calls the certificate after it. What is to leave leaves under any name.
func (p *pushed) afterItsSite() error {
	site := p.namesake()
	if !p.kind.Issued || len(p.former) == 0 || p.row.Status == hosting.Leaving || site.SyncStatus != "pending" {
		return nil
	}
	return sagas.Await(refTo(site).Stream(), "parent", 0)
}

// besideItsSite does it again later if the engine refuses something of a
// certificate while its site was on its way to another name.
func (p *pushed) besideItsSite(do func(context.Context) (sagas.Result, error)) func(context.Context) (sagas.Result, error) {
	if !p.kind.Issued {
		return do
	}
	return func(ctx context.Context) (sagas.Result, error) {
		result, refused := do(ctx)
		if refused == nil || domain.ClassOf(refused) != domain.Permanent {
			return result, refused
		}
		before := p.namesake()
		now, err := p.s.tables.For(projections.System).Recorded(ctx, refTo(before))
		if err != nil {
			return sagas.Result{}, err
		}
		if before.SyncStatus != "pending" && now[refTo(before)].Wish == before.Wish {
			return sagas.Result{}, refused
		}
		return sagas.Result{}, sagas.TooEarly("parent", p.s.times.ReadyFirst)
	}
}

// certificateApplied is when the engine tells until when a certificate is
// valid, or has none: then nobody has issued it.
func (s *Panel) certificateApplied(ctx context.Context, w desired) (bool, sagas.Work, error) {
	o, err := w.order()
	if err != nil || !w.row.Active {
		return err == nil, sagas.Work{}, err
	}
	if w.outgrew(o) {
		return s.notIssued(w, o, "not_issued")
	}
	found, is, err := s.engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	switch {
	case domain.ClassOf(err) == domain.Permanent && err != nil:
		return s.notIssued(w, o, sagas.CodeOf(err))
	case err != nil:
		return false, sagas.Work{}, err
	case is && !w.ours(found):
		return false, sagas.Work{}, errNotOurs
	}
	if observed, answered := o.answeredBy(found); is && answered {
		confirm := hosting.Confirm{Ref: w.ref, EngineID: found.ID, Observed: observed, Version: w.row.Wish}
		return true, sagas.Work{Commands: []domain.Command{confirm}}, nil
	}
	// The clock here is the database's, in which facts are dated.
	waited, gone := s.store.Clock().Since(w.row.UpdatedAt), !is || found.Applied && o.otherSort(found)
	if gone && waited > s.times.Quarantine || waited > s.times.ReadyBudget/2 {
		return s.notIssued(w, o, "not_issued")
	}
	return !o.stands, sagas.Work{}, nil
}

// notIssued is the answer to an order that came to nothing.
func (s *Panel) notIssued(w desired, o ordered, code string) (bool, sagas.Work, error) {
	if !o.stands {
		return true, sagas.Work{}, nil // nobody waits for one
	}
	return true, sagas.Work{Commands: []domain.Command{hosting.Decline{Ref: w.ref, Code: code, Version: w.row.Wish, At: s.Now()}}}, nil
}

// answeredBy tells whether what the engine has is what was ordered, and not
// the certificate in whose place it was. Of what was brought along the panel
// itself knows until when it is valid.
func (o *ordered) answeredBy(found hosting.EngineObject) (observed field.Values, is bool) {
	switch {
	case !found.Applied || o.otherSort(found):
		return nil, false
	case o.Type != hosting.Acme && o.BroughtTo != nil:
		return field.Values{"expires_at": field.AppendTime(nil, *o.BroughtTo)}, true
	}
	var ends time.Time
	known := json.Unmarshal(found.Observed["expires_at"], &ends) == nil
	return found.Observed, known && (o.Replaces == nil || !ends.Equal(*o.Replaces))
}

func (o *ordered) otherSort(found hosting.EngineObject) bool {
	var sort string
	return json.Unmarshal(found.Values["cert_type"], &sort) == nil && sort != o.Type
}
