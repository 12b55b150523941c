package assembly_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A handClock is set by hand.
type handClock struct{ at atomic.Int64 }

func (c *handClock) now() time.Time { return time.Unix(0, c.at.Load()).UTC() }

func (c *handClock) set(to time.Time) { c.at.Store(to.UnixNano()) }

// noon is when the stories about certificates begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// certified is a world with a site and its certificate, in which it is noon.
func certified(t *testing.T, change func(*hosting.Certificate)) (*world, *handClock) {
	t.Helper()
	c := &handClock{}
	c.set(noon)
	w := newWorld(t, byHand(c.now))
	w.pauses("engine:one") // the stories tell what it answers
	site := hosting.Site{Domain: "example.com", IPAddress: "*", IsActive: true}
	w.asks(hosting.Request{Ref: theSite, Tenant: 17, Spec: site.Fields().Values()}, certificateOf(theCertificate, change))
	return w, c
}

var (
	theSite        = hosting.Ref{Kind: "site", ID: 3}
	theCertificate = hosting.Ref{Kind: "ssl_certificate", ID: 5}
)

func certificateOf(ref hosting.Ref, change func(*hosting.Certificate)) hosting.Request {
	at := noon
	cert := hosting.Certificate{
		Site: theSite.ID, Type: "acme", Domain: fmt.Sprintf("c%d.example.com", ref.ID), AutoRenew: true, Status: "pending", IsActive: true, OrderedAt: &at,
	}
	if change != nil {
		change(&cert)
	}
	return hosting.Request{Ref: ref, Tenant: 17, Spec: cert.Fields().Values()}
}

func (w *world) asks(commands ...domain.Command) {
	w.t.Helper()
	_, err := w.store.Execute(w.t.Context(), domain.Metadata{Actor: "user:1"}, commands...)
	w.must(err)
}

// issues is the engine's answer that a certificate is there.
func (w *world) issues(ref hosting.Ref, until time.Time) {
	w.t.Helper()
	w.asks(hosting.Confirm{Ref: ref, EngineID: 9, Observed: field.Values{"expires_at": field.AppendTime(nil, until)}})
}

func (w *world) happens(ref hosting.Ref, name string, times int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s has happened %d times to %s", name, times, ref.Stream()), func() bool { return w.often(ref.Stream(), name) == times })
}

func (w *world) row(ref hosting.Ref, spec hosting.Spec) {
	w.t.Helper()
	row, err := w.tables.For(projections.System).Resource(w.t.Context(), ref)
	w.must(err)
	w.must(row.Load(spec))
}

// renewals are the runs that wait for something to be due.
func (w *world) renewals() int {
	return w.count(`select count(*) from saga_run where key like 'renewal:%' and status <> 'done'`)
}

// TestACertificateLives from its first order to its end, a year long.
func TestACertificateLives(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil)
	w.goes()
	ninety := noon.Add(90 * day)
	w.issues(theCertificate, ninety)
	var site hosting.Site
	w.eventually("the site serves HTTPS", func() bool {
		w.row(theSite, &site)
		return site.SSLEnabled
	})
	clock.set(ninety.Add(-30 * day).Add(-time.Minute))
	w.rests()
	w.equal("ordered too early", w.often(theCertificate.Stream(), "certificate.ordered"), 0)

	clock.set(ninety.Add(-30 * day))
	w.happens(theCertificate, "certificate.ordered", 1)
	var c hosting.Certificate
	w.row(theCertificate, &c)
	w.equal("status", c.Status, "pending")
	w.equal("replaces", c.Replaces.Equal(ninety), true)
	next := ninety.Add(60 * day)
	w.issues(theCertificate, next)
	c = hosting.Certificate{}
	w.row(theCertificate, &c)
	w.equal("status", c.Status, "issued")
	w.equal("expires", c.ExpiresAt.Equal(next), true)

	w.asks(hosting.Change{Ref: theCertificate, Spec: field.Values{"auto_renew": []byte("false")}})
	clock.set(next.Add(-30 * day))
	w.rests()
	w.equal("renewed although renewal is off", w.often(theCertificate.Stream(), "certificate.ordered"), 1)
	clock.set(next.Add(-14 * day))
	w.happens(theCertificate, "certificate.expiring", 1)
	clock.set(next)
	w.happens(theCertificate, "certificate.expired", 1)
	w.eventually("nothing is due any more", func() bool { return w.renewals() == 0 })
	w.equal("warned", w.often(theCertificate.Stream(), "certificate.expiring"), 1)
	w.equal("ordered", w.often(theCertificate.Stream(), "certificate.ordered"), 1)
}

// rests lets runs look a few times, and sees that one of them waits.
func (w *world) rests() {
	w.t.Helper()
	looks := func() int {
		return w.count(`select coalesce(sum(lease_token), 0) from saga_run where key like 'renewal:%' and status <> 'done'`)
	}
	w.eventually("one run waits", func() bool { return w.renewals() == 1 })
	before := looks()
	w.eventually("the run has looked again", func() bool { return looks() > before+2 })
}

func TestAnAuthorityThatFailsIsAskedAgainAndAgain(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil)
	w.goes()
	now := noon
	for n, rest := range []time.Duration{time.Hour, 6 * time.Hour, day} {
		w.asks(hosting.Decline{Ref: theCertificate, Code: "not_issued", At: now})
		now = now.Add(rest)
		clock.set(now)
		w.happens(theCertificate, "certificate.ordered", n+1)
	}
	w.asks(hosting.Decline{Ref: theCertificate, Code: "not_issued", At: now})
	w.eventually("no renewal is tried any more", func() bool { return w.renewals() == 0 })
	var c hosting.Certificate
	w.row(theCertificate, &c)
	w.equal("failures", c.Failures, 4)
	w.equal("status", c.Status+" "+c.LastError, "failed not_issued")
}

// The certificate of a disabled site is renewed once the site is enabled again.
func TestASiteThatIsOffIsRenewedOnceItIsOn(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil)
	w.goes()
	w.issues(theCertificate, noon.Add(90*day))
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"is_active": []byte("false")}})
	clock.set(noon.Add(91 * day))
	w.happens(theCertificate, "certificate.expired", 1)
	w.rests()
	w.equal("ordered", w.often(theCertificate.Stream(), "certificate.ordered"), 0)
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"is_active": []byte("true")}})
	w.happens(theCertificate, "certificate.ordered", 1)
}

func TestOnlyTheFirstCertificateSwitchesHTTPSOn(t *testing.T) {
	t.Parallel()
	w, _ := certified(t, nil)
	w.goes()
	w.issues(theCertificate, noon.Add(90*day))
	on := func() bool {
		var site hosting.Site
		w.row(theSite, &site)
		return site.SSLEnabled
	}
	w.eventually("the site serves HTTPS", on)
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"ssl_enabled": []byte("false")}})
	second := hosting.Ref{Kind: "ssl_certificate", ID: 6}
	w.asks(certificateOf(second, nil))
	w.issues(second, noon.Add(90*day))
	w.issues(theCertificate, noon.Add(100*day))
	w.eventually("all runs have come to their waits", func() bool {
		return w.count(`select count(*) from saga_run where key like 'renewal:%' and step = 0 and status <> 'done'`) == 0
	})
	w.equal("switched on again", on(), false)
}

// A worker that dies while it renews a certificate leads to no second order.
func TestAWorkerMayDieWhileItTendsToACertificate(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil)
	w.times.Lease = 300 * time.Millisecond
	var mu sync.Mutex
	died := map[string]bool{}
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		here := string(p) + " " + c.At().Name
		if resourceOf(c).Kind != "ssl_certificate" || died[here] {
			return nil
		}
		died[here] = true
		return sagas.ErrKilled
	})
	w.issues(theCertificate, noon.Add(90*day))
	clock.set(noon.Add(60 * day))
	w.goes()
	w.happens(theCertificate, "certificate.ordered", 1)
	w.eventually("the run after it waits", func() bool { return w.renewals() == 1 })
	w.eventually("it has died before and after each of the three steps", func() bool { // the last time right after the order
		mu.Lock()
		defer mu.Unlock()
		return len(died) == 6
	})
	w.equal("ordered", w.often(theCertificate.Stream(), "certificate.ordered"), 1)
}

// TestDueWorkIsDoneAfterARestart: the panel was down for months.
func TestDueWorkIsDoneAfterARestart(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil)
	w.issues(theCertificate, noon.Add(90*day))
	clock.set(noon.Add(95 * day))
	w.goes()
	w.happens(theCertificate, "certificate.expired", 1)
	w.happens(theCertificate, "certificate.ordered", 1)
	w.equal("warned too late", w.often(theCertificate.Stream(), "certificate.expiring"), 0)
}
