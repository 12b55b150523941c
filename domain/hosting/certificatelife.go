package hosting

import (
	"encoding/json"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// The life cycle of certificates, in addition to that of all kinds: order,
// issue or failure, renewal and expiry (docs/certificates.md).

// An Issuance is the state of a certificate's orders.
type Issuance struct {
	Stage     Stage     `json:"stage"`
	Custom    bool      `json:"custom,omitempty"` // uploaded by the tenant
	AutoRenew bool      `json:"auto_renew,omitempty"`
	Names     []string  `json:"names,omitempty"`    // further names to cover besides the domain
	Ordered   time.Time `json:"ordered,omitzero"`   // time of the last order
	Since     time.Time `json:"since,omitzero"`     // time at which the last issued one was ordered
	Ends      time.Time `json:"ends,omitzero"`      // expiry of the last issued one; zero: none was issued
	Failures  int       `json:"failures,omitempty"` // since the last issued one
	FailedAt  time.Time `json:"failed_at,omitzero"` // time of the last failure
	Warned    bool      `json:"warned,omitempty"`   // the warning for the last issued one was sent
	Over      bool      `json:"over,omitempty"`     // the last issued one has expired
	Issues    int       `json:"issues,omitempty"`   // number of certificates issued
	Turned    int       `json:"turned,omitempty"`   // version of the last event that [Turns]
}

// Turns tells whether an event may change what is due for a certificate (see
// [Resource.Due]).
func Turns(e domain.Event) bool {
	switch e.(type) {
	case CertificateOrdered, CertificateIssued, CertificateFailed, CertificateExpiring, CertificateExpired, Changed, Disabled, Enabled:
		return true
	}
	return false
}

// A Stage is the state of a certificate.
type Stage string

const (
	Ordering  Stage = "requested" // ordered; the engine has not accepted the order yet
	Awaited   Stage = "pending"   // the engine has accepted the order
	Issued    Stage = "issued"    // valid for its names
	Failed    Stage = "failed"    // the last order failed; an earlier certificate may still be valid
	Renewing  Stage = "renewing"  // ordered again while an earlier one is valid
	Expired   Stage = "expired"   // past its last day
	Withdrawn Stage = "revoked"   // no longer valid
)

// Status is the stage in terms of the API: pending, issued, failed, revoked. An
// expired certificate has the status issued, and is_expired is true.
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

// awaited tells whether an order is open. At most one order is open at a time.
func (i Issuance) awaited() bool { return i.Stage.Status() == "pending" }

// Order orders a certificate, or a replacement of the present one. It has no
// effect while another order is open.
type Order struct {
	Ref
	At    time.Time
	Anew  bool     // even if the present one is not due for renewal
	Names []string // further names to cover besides the domain; nil: the present ones
}

// Tend records what is due for a certificate at a time (see [Resource.Due]): a
// new order, the warning before expiry, or the expiry.
type Tend struct {
	Ref
	At     time.Time
	Served bool // the site is served
}

// The events of a certificate.
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

// ErrNotAcme refuses to order a custom certificate.
var ErrNotAcme = &domain.Error{Code: domain.Conflict, Reason: "wrong_cert_type", Message: "Only acme certificates can be requested."}

// ErrSiteInactive refuses to order a certificate for a disabled site.
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

// certified adds a certificate's own events to those of all kinds. A new expiry
// date from the engine means issued. A refusal of an open order means failed.
func (r Resource) certified(c Command, events []Event) []Event {
	if r.Certificate.Stage == "" || r.ended() {
		return events
	}
	for _, added := range slices.Clone(events) {
		switch e := added.(type) {
		case EngineConfirmed:
			if ends, is := r.Certificate.issued(e.Observed); is {
				events = append(events, CertificateIssued{ends})
			}
		case EngineRefused:
			if decline, is := c.(Decline); is && r.Certificate.awaited() {
				events = append(events, CertificateFailed{e.Code, decline.At})
			}
		}
	}
	return events
}

// issued tells whether the engine has observed a new certificate, and when it
// ends. Without an open order, a new certificate is one that ends later.
func (i Issuance) issued(observed field.Values) (ends time.Time, is bool) {
	raw, told := observed["expires_at"]
	if !told || json.Unmarshal(raw, &ends) != nil || ends.IsZero() {
		return ends, false
	}
	ends = ends.UTC()
	return ends, ends.After(i.Ends) || i.awaited() && !ends.Equal(i.Ends)
}

// begun is the first state of a certificate; of other kinds the zero state.
func begun(e Requested) (i Issuance) {
	if kind, _ := KindNamed(e.Kind); !kind.Issued {
		return i
	}
	var c Certificate
	if c.Fields().Load(e.Spec) != nil {
		return i // unreachable: the fields were checked before they were stored
	}
	i = Issuance{Stage: Ordering, Custom: c.Type == custom, AutoRenew: c.AutoRenew, Names: c.Names}
	if c.OrderedAt != nil {
		i.Ordered = *c.OrderedAt
	}
	return i
}

// revised is the state after a change of the spec.
func (i Issuance) revised(spec field.Values) Issuance {
	if raw, changed := spec["auto_renew"]; changed && i.Stage != "" {
		_ = json.Unmarshal(raw, &i.AutoRenew) // an invalid flag changes nothing
	}
	return i
}

// withdrawn is the state after the removal from the engine.
func (i Issuance) withdrawn() Issuance {
	if i.Stage != "" {
		i.Stage = Withdrawn
	}
	return i
}

// taken is the state after the engine has accepted the order.
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

// Tells are the fields of a certificate that is ordered.
func (e CertificateOrdered) Tells() any {
	c := Certificate{Status: Ordering.Status(), OrderedAt: &e.At, Names: e.Names}
	return c.only("status", "last_error", "ordered_at", "names")
}

// Tells are the fields of a certificate that was issued.
func (e CertificateIssued) Tells() any {
	c := Certificate{Status: Issued.Status(), ExpiresAt: &e.Ends}
	return c.only("status", "last_error", "expires_at", "failures", "failed_at")
}

// Tells are the fields of a certificate that was not issued.
func (e CertificateFailed) Tells() any {
	c := Certificate{Status: Failed.Status(), LastError: e.Code, FailedAt: &e.At}
	return c.only("status", "last_error", "failed_at")
}

func (c Certificate) only(names ...string) field.Values { return c.Fields().Only(names...).Values() }
