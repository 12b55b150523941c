package assembly_test

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
)

// An authority issues what an engine has ordered, when it is told to.
type authority struct {
	*fakeEngine
	mu   sync.Mutex
	ends time.Time // of what it has issued; zero: nothing yet
}

func (a *authority) issue(ends time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends = ends
}

func (a *authority) Find(ctx context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	o, is, err := a.fakeEngine.Find(ctx, kind, name, ref)
	a.mu.Lock()
	defer a.mu.Unlock()
	if kind == "ssl_certificate" && o.Applied {
		o.Applied, o.Observed = !a.ends.IsZero(), field.Values{}
	}
	if kind == "ssl_certificate" && o.Applied && value(o, "cert_type") == `"acme"` {
		o.Observed["expires_at"] = field.AppendTime(nil, a.ends)
	}
	return o, is, err
}

// atNoon lets it be noon for ever.
var atNoon = byHand(func() time.Time { return noon })

const theOrder = "ssl_certificate/example.com" // as the engine knows it

// issuances is a household at work, whose site has a certificate on order.
func issuances(t *testing.T, change func(*hosting.Certificate), options ...func(*assembly.Options)) (*household, *authority, hosting.Ref) {
	t.Helper()
	a := &authority{}
	h := newHousehold(t, append(options, atNoon, func(o *assembly.Options) {
		a.fakeEngine = o.Engine.(*fakeEngine) //nolint:forcetypeassert // every world has one
		o.Engine = a
	})...)
	s := h.ask(theSite.ID, site("example.com"))
	c := certificateOf(theCertificate, change)
	c.Tenant = h.tenant
	h.carry(s, c)
	h.goes()
	return h, a, c.Ref
}

func (h *household) certificate(ref hosting.Ref) (c hosting.Certificate) {
	h.t.Helper()
	row := h.resource(ref)
	h.must(row.Load(&c))
	return c
}

func (h *household) becomesCertificate(ref hosting.Ref, status string) {
	h.t.Helper()
	h.eventually("the certificate is "+status, func() bool { return h.certificate(ref).Status == status })
}

func TestACertificateIsOrderedAndIssued(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.eventually("it is ordered", func() bool { return h.resource(ref).SyncStatus == "synced" })
	h.equal("before it is issued", h.certificate(ref).Status, "pending")
	ends := noon.Add(90 * day)
	a.issue(ends)
	h.becomesCertificate(ref, "issued")
	h.equal("expires", h.certificate(ref).ExpiresAt.Equal(ends), true)
	h.quiet()

	h.carry(set(ref, `{"auto_renew":false}`))
	h.quiet()
	h.equal("asked of the engine by the way", h.engine.changes(theOrder), 0)

	h.carry(hosting.Order{Ref: ref, At: noon, Anew: true}, hosting.Order{Ref: ref, At: noon, Anew: true})
	h.eventually("it is ordered again", func() bool { return h.engine.changes(theOrder) == 1 })
	h.equal("in the place of", value(h.has("ssl_certificate", "example.com"), "replaces"), string(field.AppendTime(nil, ends)))
	h.eventually("the run waits", func() bool {
		return h.count(`select count(*) from saga_run where definition = $1 and step = 1 and status = 'waiting'`, "engine/1") == 1
	})
	h.equal("while the old one is served", h.certificate(ref).Status, "pending")
	a.issue(ends.Add(day))
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.equal("events", h.happened(ref.Stream()), []string{
		"hosting.requested", "hosting.engine_confirmed", "hosting.engine_confirmed", "certificate.issued",
		"hosting.changed", "hosting.engine_confirmed", "certificate.ordered", "hosting.engine_confirmed", "hosting.engine_confirmed", "certificate.issued",
	})
	h.equal("orders", h.engine.creations(theOrder)+h.engine.changes(theOrder), 2)
}

// An open order stays open while its site is in the bin, and is not repeated after.
func TestAnOrderStandsWhileItsSiteIsOff(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.eventually("the run waits", func() bool { return h.runOf("engine:"+ref.Stream().String()+"/1").Step == 1 })
	h.carry(hosting.Disable{Ref: ref, By: hosting.BySite}) // an engine is told nothing of that
	h.quiet()
	h.equal("changed", h.engine.changes(theOrder), 0)
	h.carry(hosting.Enable{Ref: ref, By: hosting.BySite})
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.equal("made", h.engine.creations(theOrder), 1)
}

// The engine takes the order and drops it without a word.
func TestAnOrderThatIsDroppedHasFailed(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.eventually("it is ordered", func() bool { return h.resource(ref).SyncStatus == "synced" })
	h.must(a.Remove(t.Context(), h.has("ssl_certificate", "example.com")))
	h.becomesCertificate(ref, "failed")
	h.quiet()
	c := h.certificate(ref)
	h.equal("why", c.LastError, "not_issued")
	h.equal("parked", h.count(`select count(*) from saga_run where status = 'parked'`), 0)
	h.carry(set(ref, `{"auto_renew":false}`), hosting.Push{Ref: ref})
	h.quiet()
	h.equal("ordered by the way", h.engine.creations(theOrder), 1)

	h.carry(hosting.Order{Ref: ref, At: c.FailedAt.Add(time.Hour)})
	h.eventually("it is ordered again", func() bool { return h.engine.creations(theOrder) == 2 })
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	h.equal("failures", h.certificate(ref).Failures, 0)
}

// The engine refuses for good.
func TestAnOrderThatIsRefusedHasFailed(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil, func(o *assembly.Options) {
		engine := o.Engine.(*fakeEngine) //nolint:forcetypeassert // every world has one
		engine.tell(func(call, name string) error {
			if call == "create" && name == theOrder {
				return domain.Fail(domain.Permanent, "rate_limited", errors.New("too many certificates already issued"))
			}
			return nil
		}, nil)
	})
	h.becomesCertificate(ref, "failed")
	h.equal("why", h.certificate(ref).LastError, "rate_limited")
	h.engine.tell(nil, nil)
	a.issue(noon.Add(90 * day))
	h.carry(hosting.Order{Ref: ref, At: h.certificate(ref).FailedAt.Add(time.Hour)})
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.equal("parked", h.count(`select count(*) from saga_run where status = 'parked'`), 0)
}

// A renewal that fails leaves what there is.
func TestARenewalThatFailsLeavesWhatThereIs(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	ends := noon.Add(90 * day)
	a.issue(ends)
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.engine.tell(func(call, name string) error {
		if call == "change" && name == theOrder {
			return domain.Fail(domain.Permanent, "not_issued", errors.New("no"))
		}
		return nil
	}, nil)
	h.carry(hosting.Order{Ref: ref, At: noon, Anew: true})
	h.becomesCertificate(ref, "failed")
	h.equal("expires", h.certificate(ref).ExpiresAt.Equal(ends), true)
}

func TestOnesOwnCertificateIsInstalledOnce(t *testing.T) {
	t.Parallel()
	ends, handle := noon.Add(365*day), uuid.New()
	a := &authority{ends: noon}
	h := newHousehold(t, atNoon, func(o *assembly.Options) {
		a.fakeEngine = o.Engine.(*fakeEngine) //nolint:forcetypeassert // every world has one
		o.Engine = a
	})
	c := certificateOf(theCertificate, func(c *hosting.Certificate) {
		c.Type, c.BroughtTo, c.PrivateKey = "custom", &ends, handle.String()
	})
	c.Tenant = h.tenant
	h.carrying(map[uuid.UUID]string{handle: "PEM"}, h.ask(theSite.ID, site("example.com")), c)
	h.goes()
	h.becomesCertificate(c.Ref, "issued")
	h.equal("expires", h.certificate(c.Ref).ExpiresAt.Equal(ends), true)
	h.equal("handed over", h.has("ssl_certificate", "example.com").Secrets["private_key"], "PEM")
	h.quiet()
	h.equal("still sealed", h.count(`select count(*) from secret_handoff where effect_key = $1`, reconcile.SecretKey(handle)), 0)
	h.carry(set(c.Ref, `{"auto_renew":false}`))
	h.quiet()
	h.equal("installed again", h.engine.changes(theOrder), 0)
}

// A comparison orders a lost certificate anew. Disabled sites are skipped.
func TestACertificateThatTheEngineLostIsOrderedAnew(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.must(a.Remove(t.Context(), h.has("ssl_certificate", "example.com")))
	h.carry(hosting.Disable{Ref: ref, By: hosting.BySite})
	h.quiet()
	h.equal("ordered while its site is off", h.engine.creations(theOrder), 1)
	h.carry(hosting.Enable{Ref: ref, By: hosting.BySite})
	h.eventually("it is ordered anew", func() bool { return h.engine.creations(theOrder) == 2 })
	h.quiet()
	h.equal("status", h.certificate(ref).Status, "issued")
}

// A site has one certificate at the engine, whatever the panel knows of.
func TestTheLastCertificateOfASiteIsWithdrawn(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	second := certificateOf(hosting.Ref{Kind: "ssl_certificate", ID: 6}, nil)
	second.Tenant = h.tenant
	h.carry(second)
	h.becomesCertificate(second.Ref, "issued")
	h.carry(hosting.Remove{Ref: ref})
	h.stands(ref, hosting.Gone)
	h.equal("the other's", h.has("ssl_certificate", "example.com").ID, *h.resource(second.Ref).EngineID)
	h.carry(hosting.Remove{Ref: second.Ref})
	h.stands(second.Ref, hosting.Gone)
	h.equal("withdrawn", h.engine.removals(theOrder), 1)
}

// The engine calls a certificate after its site, and has yet to rename the site,
// or does so between two looks at the certificate.
func TestACertificateLeavesWhileItsSiteIsRenamed(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"not yet", "meanwhile"} {
		h, a, ref := issuances(t, nil)
		h.engine.strict = true
		a.issue(noon.Add(90 * day))
		h.becomesCertificate(ref, "issued")
		h.quiet()
		var renames sync.Once
		busy := func(call, _ string) error {
			if call == "change" {
				return domain.Fail(domain.Transient, "busy", errLie)
			}
			return nil
		}
		h.engine.tell(func(call, name string) error {
			if call == "remove" && name == theOrder && when == "meanwhile" {
				renames.Do(func() {
					h.engine.tell(nil, nil)
					h.eventually("the site is renamed", func() bool { return h.resource(theSite).SyncStatus == "synced" })
				})
			}
			return busy(call, name)
		}, nil)
		h.carry(set(theSite, `{"domain":"example.org"}`))
		h.carry(hosting.Remove{Ref: ref})
		h.stands(ref, hosting.Gone)
		h.equal(when+", the site waits", h.resource(theSite).SyncStatus == "pending", when == "not yet")
		h.engine.tell(nil, nil)
		h.quiet()
		h.equal(when+", at the engine", h.has("site", "example.org").ID, *h.resource(theSite).EngineID)
		h.equal(when+", beside the client", len(h.engine.all()), 2)
		h.equal(when+", parked", h.count(`select count(*) from saga_run where status = 'parked'`), 0)
		h.end()
	}
}

func TestACertificateWaitsForTheNameOfItsSite(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	h.quiet()
	h.engine.strict = true
	h.engine.tell(func(call, _ string) error {
		if call == "change" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	h.carry(set(theSite, `{"domain":"example.org"}`))
	h.carry(hosting.Push{Ref: ref})
	h.eventually("it waits for the site", func() bool {
		return h.count(`select count(*) from saga_run where about = $1 and awaits = $2 and status <> 'done'`, ref.Stream().String(), theSite.Stream().String()) == 1
	})
	h.engine.tell(nil, nil)
	h.eventually("it is as wanted", func() bool { return h.resource(ref).SyncStatus == "synced" })
	h.quiet()
	h.equal("orders", h.engine.creations(theOrder)+h.engine.creations("ssl_certificate/example.org"), 1)
}
