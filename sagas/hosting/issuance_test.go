package hosting_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/hosting/reconcile"
	"hostpanel/sagas/sagastest"
)

// An authority issues what an engine has ordered, when it is told to.
type authority struct {
	*sagastest.Engine
	mu   sync.Mutex
	ends time.Time // of what it has issued; zero: nothing yet
}

func (a *authority) issue(ends time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends = ends
}

func (a *authority) Find(ctx context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	o, is, err := a.Engine.Find(ctx, kind, name, ref)
	a.mu.Lock()
	defer a.mu.Unlock()
	if kind == "ssl_certificate" && o.Applied {
		o.Applied, o.Observed = !a.ends.IsZero(), field.Values{}
	}
	if kind == "ssl_certificate" && o.Applied && sagastest.Value(o, "cert_type") == `"acme"` {
		o.Observed["expires_at"] = field.AppendTime(nil, a.ends)
	}
	return o, is, err
}

// atNoon lets it be noon for ever.
var atNoon = sagastest.ByHand(func() time.Time { return sagastest.Noon })

const theOrder = "ssl_certificate/example.com" // as the engine knows it

// issuances is a household at work, whose site has a certificate on order.
func issuances(
	t *testing.T, change func(*hosting.Certificate), options ...func(*assembly.Options),
) (*sagastest.Household, *authority, hosting.Ref) {
	t.Helper()
	a := &authority{}
	h := sagastest.NewHousehold(t, append(options, atNoon, func(o *assembly.Options) {
		a.Engine = o.Engine.(*sagastest.Engine) //nolint:forcetypeassert // every world has one
		o.Engine = a
	})...)
	s := h.Ask(sagastest.TheSite.ID, sagastest.Site("example.com"))
	c := sagastest.CertificateOf(sagastest.TheCertificate, change)
	c.Tenant = h.Tenant
	h.Carry(s, c)
	h.Goes()
	return h, a, c.Ref
}

func certificate(h *sagastest.Household, ref hosting.Ref) (c hosting.Certificate) {
	h.T.Helper()
	row := h.Resource(ref)
	h.Must(row.Load(&c))
	return c
}

func becomesCertificate(h *sagastest.Household, ref hosting.Ref, status string) {
	h.T.Helper()
	h.Eventually("the certificate is "+status, func() bool { return certificate(h, ref).Status == status })
}

func TestACertificateIsOrderedAndIssued(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.Eventually("it is ordered", func() bool { return h.Resource(ref).SyncStatus == "synced" })
	h.Equal("before it is issued", certificate(h, ref).Status, "pending")
	ends := sagastest.Noon.Add(90 * sagastest.Day)
	a.issue(ends)
	becomesCertificate(h, ref, "issued")
	h.Equal("expires", certificate(h, ref).ExpiresAt.Equal(ends), true)
	h.Quiet()

	h.Carry(sagastest.Set(ref, `{"auto_renew":false}`))
	h.Quiet()
	h.Equal("asked of the engine by the way", h.Engine.Changes(theOrder), 0)

	h.Carry(hosting.Order{Ref: ref, At: sagastest.Noon, Anew: true}, hosting.Order{Ref: ref, At: sagastest.Noon, Anew: true})
	h.Eventually("it is ordered again", func() bool { return h.Engine.Changes(theOrder) == 1 })
	h.Equal("in the place of", sagastest.Value(h.Has("ssl_certificate", "example.com"), "replaces"), string(field.AppendTime(nil, ends)))
	h.Eventually("the run waits", func() bool {
		return h.Count(`select count(*) from saga_run where definition = $1 and step = 1 and status = 'waiting'`, "engine/1") == 1
	})
	h.Equal("while the old one is served", certificate(h, ref).Status, "pending")
	a.issue(ends.Add(sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Equal("events", h.Happened(ref.Stream()), []string{
		"hosting.requested", "hosting.engine_confirmed", "hosting.engine_confirmed", "certificate.issued",
		"hosting.changed", "hosting.engine_confirmed", "certificate.ordered", "hosting.engine_confirmed",
		"hosting.engine_confirmed", "certificate.issued",
	})
	h.Equal("orders", h.Engine.Creations(theOrder)+h.Engine.Changes(theOrder), 2)
}

// The engine refuses for good.
func TestAnOrderThatIsRefusedHasFailed(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil, func(o *assembly.Options) {
		engine := o.Engine.(*sagastest.Engine) //nolint:forcetypeassert // every world has one
		engine.Tell(func(call, name string) error {
			if call == "create" && name == theOrder {
				return domain.Fail(domain.Permanent, "rate_limited", errors.New("too many certificates already issued"))
			}
			return nil
		}, nil)
	})
	becomesCertificate(h, ref, "failed")
	h.Equal("why", certificate(h, ref).LastError, "rate_limited")
	h.Engine.Tell(nil, nil)
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	h.Carry(hosting.Order{Ref: ref, At: certificate(h, ref).FailedAt.Add(time.Hour)})
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Equal("parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
}

func TestOnesOwnCertificateIsInstalledOnce(t *testing.T) {
	t.Parallel()
	ends, handle := sagastest.Noon.Add(365*sagastest.Day), uuid.New()
	a := &authority{ends: sagastest.Noon}
	h := sagastest.NewHousehold(t, atNoon, func(o *assembly.Options) {
		a.Engine = o.Engine.(*sagastest.Engine) //nolint:forcetypeassert // every world has one
		o.Engine = a
	})
	c := sagastest.CertificateOf(sagastest.TheCertificate, func(c *hosting.Certificate) {
		c.Type, c.BroughtTo, c.PrivateKey = "custom", &ends, handle.String()
	})
	c.Tenant = h.Tenant
	h.Carrying(map[uuid.UUID]string{handle: "PEM"}, h.Ask(sagastest.TheSite.ID, sagastest.Site("example.com")), c)
	h.Goes()
	becomesCertificate(h, c.Ref, "issued")
	h.Equal("expires", certificate(h, c.Ref).ExpiresAt.Equal(ends), true)
	h.Equal("handed over", h.Has("ssl_certificate", "example.com").Secrets["private_key"], "PEM")
	h.Quiet()
	h.Equal("still sealed", h.Count(`select count(*) from secret_handoff where effect_key = $1`, reconcile.SecretKey(handle)), 0)
	h.Carry(sagastest.Set(c.Ref, `{"auto_renew":false}`))
	h.Quiet()
	h.Equal("installed again", h.Engine.Changes(theOrder), 0)
}

// A site has one certificate at the engine, whatever the panel knows of.
func TestTheLastCertificateOfASiteIsWithdrawn(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	second := sagastest.CertificateOf(hosting.Ref{Kind: "ssl_certificate", ID: 6}, nil)
	second.Tenant = h.Tenant
	h.Carry(second)
	becomesCertificate(h, second.Ref, "issued")
	h.Carry(hosting.Remove{Ref: ref})
	h.Stands(ref, hosting.Gone)
	h.Equal("the other's", h.Has("ssl_certificate", "example.com").ID, *h.Resource(second.Ref).EngineID)
	h.Carry(hosting.Remove{Ref: second.Ref})
	h.Stands(second.Ref, hosting.Gone)
	h.Equal("withdrawn", h.Engine.Removals(theOrder), 1)
}

func TestACertificateWaitsForTheNameOfItsSite(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Engine.Strict = true
	h.Engine.Tell(func(call, _ string) error {
		if call == "change" {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	h.Carry(sagastest.Set(sagastest.TheSite, `{"domain":"example.org"}`))
	h.Carry(hosting.Push{Ref: ref})
	h.Eventually("it waits for the site", func() bool {
		return h.Count(
			`select count(*) from saga_run where about = $1 and awaits = $2 and status <> 'done'`,
			ref.Stream().String(), sagastest.TheSite.Stream().String(),
		) == 1
	})
	h.Engine.Tell(nil, nil)
	h.Eventually("it is as wanted", func() bool { return h.Resource(ref).SyncStatus == "synced" })
	h.Quiet()
	h.Equal("orders", h.Engine.Creations(theOrder)+h.Engine.Creations("ssl_certificate/example.org"), 1)
}
