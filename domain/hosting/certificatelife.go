package hosting

import (
	"encoding/json"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// What certificates go through beside the life of all kinds: they are ordered,
// issued or not, renewed, and they expire (docs/certificates.md).

// An Issuance is how far a certificate is.
type Issuance struct {
	Stage     Stage     `json:"stage"`
	Custom    bool      `json:"custom,omitempty"` // brought along, not ordered
	AutoRenew bool      `json:"auto_renew,omitempty"`
	Names     []string  `json:"names,omitempty"`    // that it is to cover besides its domain
	Ordered   time.Time `json:"ordered,omitzero"`   // when it was asked for last
	Since     time.Time `json:"since,omitzero"`     // when the last issued one was asked for
	Ends      time.Time `json:"ends,omitzero"`      // when the last issued one expires; zero: there was none
	Failures  int       `json:"failures,omitempty"` // since the last issued one
	FailedAt  time.Time `json:"failed_at,omitzero"` // the last time
	Warned    bool      `json:"warned,omitempty"`   // that the last issued one is about to expire
	Over      bool      `json:"over,omitempty"`     // the last issued one has expired
	Issues    int       `json:"issues,omitempty"`   // how often one was issued
	Turned    int       `json:"turned,omitempty"`   // version of the last fact that [Turns]
}

// Turns tells whether another thing may be due of a certificate after the fact
// than was before it (see [Resource.Due]).
func Turns(e domain.Event) bool {
	switch e.(type) {
	case CertificateOrdered, CertificateIssued, CertificateFailed, CertificateExpiring, CertificateExpired, Changed, Disabled, Enabled:
		return true
	}
	return false
}

// A Stage is where a certificate stands.
type Stage string

const (
	Ordering  Stage = "requested" // asked for; the engine has yet to take the order
	Awaited   Stage = "pending"   // the engine works on it
	Issued    Stage = "issued"
	Failed    Stage = "failed"   // the last order came to nothing; an earlier certificate may still serve
	Renewing  Stage = "renewing" // ordered again while an earlier one serves
	Expired   Stage = "expired"
	Withdrawn Stage = "revoked"
)

// Status is what the API calls the stage: pending, issued, failed, revoked. A
// certificate that has expired was issued all the same; is_expired tells.
func (s Stage) Status() string {
	switch s {
	case Ordering, Awaited, Renewing:
		return "pending"
	case Issued, Expired:
		return "issued"
	case Failed, Withdrawn:
	}
	return string(s)
}

// awaited tells whether an order stands. There is never more than one.
func (i Issuance) awaited() bool { return i.Stage.Status() == "pending" }

// Order asks for a certificate, or for a new one in the place of an old one.
// While an order stands there is no second one.
type Order struct {
	Ref
	At    time.Time
	Anew  bool     // also if the present one is good for long
	Names []string // that it is to cover besides its domain; nil: those so far
}

// Tend does to a certificate what is due at a time (see [Resource.Due]): it is
// ordered again, or is about to expire, or has expired.
type Tend struct {
	Ref
	At     time.Time
	Served bool // its site is
}

// What a certificate goes through.
type (
	CertificateOrdered struct {
		At    time.Time `json:"at"`
		Names []string  `json:"names,omitempty"`
	}
	CertificateIssued struct {
		Ends time.Time `json:"expires_at"`
	}
	CertificateFailed struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
	CertificateExpiring struct {
		Ends time.Time `json:"expires_at"`
	}
	CertificateExpired struct {
		Ends time.Time `json:"expires_at"`
	}
)

func (CertificateOrdered) EventName() string  { return "certificate.ordered" }
func (CertificateIssued) EventName() string   { return "certificate.issued" }
func (CertificateFailed) EventName() string   { return "certificate.failed" }
func (CertificateExpiring) EventName() string { return "certificate.expiring" }
func (CertificateExpired) EventName() string  { return "certificate.expired" }

func (CertificateOrdered) Says() string { return "the certificate was ordered again" }
func (e CertificateIssued) Says() string {
	return "the certificate was issued, until " + wording.Day(e.Ends)
}

func (e CertificateFailed) Says() string {
	return "the certificate was not issued: " + wording.Spaced(e.Code)
}

func (e CertificateExpiring) Says() string {
	return "the certificate expires on " + wording.Day(e.Ends)
}

func (e CertificateExpired) Says() string { return "the certificate expired on " + wording.Day(e.Ends) }

// ErrNotAcme refuses to order what was brought along.
var ErrNotAcme = &domain.Error{Code: domain.Conflict, Reason: "wrong_cert_type", Message: "Only acme certificates can be requested."}

// ErrSiteInactive refuses what only a site that is served can have.
var ErrSiteInactive = &domain.Error{Code: domain.Conflict, Reason: "site_inactive", Message: "Site is not active."}

func (c Order) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	i := r.Certificate
	other := c.Names != nil && !slices.Equal(c.Names, i.Names)
	switch wait := i.Wait(c.At); {
	case r.Status == "", r.ended():
		return nil, kind.absent()
	case i.Custom:
		return nil, ErrNotAcme
	case i.awaited():
		return nil, nil
	case len(r.DisabledBy) > 0:
		return nil, ErrSiteInactive
	case wait > 0:
		return nil, domain.Refuse(domain.Throttled, "The certificate authority is asked again in %s.", wait.Round(time.Second))
	case i.Stage == Issued && !c.Anew && !other && c.At.Before(i.renewal()):
		return nil, nil
	}
	return []Event{i.order(c.At, c.Names)}, nil
}

func (i Issuance) order(at time.Time, names []string) CertificateOrdered {
	if names == nil {
		names = i.Names
	}
	return CertificateOrdered{At: at, Names: names}
}

// certified adds to the facts that every kind has what they mean for a
// certificate: the engine tells until when one is valid, so it is issued; the
// engine refuses what was ordered, so it has failed.
func (r Resource) certified(c Command, facts []Event) []Event {
	if r.Certificate.Stage == "" || r.ended() {
		return facts
	}
	for _, fact := range slices.Clone(facts) {
		switch e := fact.(type) {
		case EngineConfirmed:
			if ends, is := r.Certificate.issued(e.Observed); is {
				facts = append(facts, CertificateIssued{ends})
			}
		case EngineRefused:
			if decline, is := c.(Decline); is && r.Certificate.awaited() {
				facts = append(facts, CertificateFailed{e.Code, decline.At})
			}
		}
	}
	return facts
}

// issued tells whether what the engine has observed is a certificate that was
// not known yet. Of several, one that was not waited for is newer than ours.
func (i Issuance) issued(observed field.Values) (ends time.Time, is bool) {
	raw, told := observed["expires_at"]
	if !told || json.Unmarshal(raw, &ends) != nil || ends.IsZero() {
		return ends, false
	}
	ends = ends.UTC()
	return ends, ends.After(i.Ends) || i.awaited() && !ends.Equal(i.Ends)
}

// begun is what a request means for a certificate; for other kinds nothing.
func begun(e Requested) (i Issuance) {
	if kind, _ := KindNamed(e.Kind); !kind.Issued {
		return i
	}
	var c Certificate
	if c.Fields().Load(e.Spec) != nil {
		return i // it was never written like this
	}
	i = Issuance{Stage: Ordering, Custom: c.Type == custom, AutoRenew: c.AutoRenew, Names: c.Names}
	if c.OrderedAt != nil {
		i.Ordered = *c.OrderedAt
	}
	return i
}

// revised is what a change means for a certificate.
func (i Issuance) revised(spec field.Values) Issuance {
	if raw, changed := spec["auto_renew"]; changed && i.Stage != "" {
		_ = json.Unmarshal(raw, &i.AutoRenew) // what is no flag changes nothing
	}
	return i
}

// withdrawn is what the removal means: the engine has given it back.
func (i Issuance) withdrawn() Issuance {
	if i.Stage != "" {
		i.Stage = Withdrawn
	}
	return i
}

// taken is what the engine's acceptance means: the order is under way.
func (i Issuance) taken() Issuance {
	if i.Stage == Ordering {
		i.Stage = Awaited
	}
	return i
}

func (e CertificateOrdered) evolve(r Resource) Resource {
	i := &r.Certificate
	i.Stage, i.Ordered, i.Names = Ordering, e.At, e.Names
	if !i.Ends.IsZero() && !i.Over {
		i.Stage = Renewing
	}
	return r.wished()
}

func (e CertificateIssued) evolve(r Resource) Resource {
	i := &r.Certificate
	i.Stage, i.Since, i.Ends, i.Warned, i.Over = Issued, i.Ordered, e.Ends, false, false
	i.Failures, i.FailedAt = 0, time.Time{}
	i.Issues++
	return r
}

func (e CertificateFailed) evolve(r Resource) Resource {
	i := &r.Certificate
	i.Stage, i.FailedAt = Failed, e.At
	i.Failures++
	return r
}

func (CertificateExpiring) evolve(r Resource) Resource {
	r.Certificate.Warned = true
	return r
}

func (CertificateExpired) evolve(r Resource) Resource {
	i := &r.Certificate
	i.Warned, i.Over = true, true
	switch i.Stage {
	case Issued:
		i.Stage = Expired
	case Renewing:
		i.Stage = Awaited
	default:
	}
	return r
}
