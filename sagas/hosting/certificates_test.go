package hosting_test

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func happens(w *sagastest.World, ref hosting.Ref, name string, times int) {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("%s has happened %d times to %s", name, times, ref.Stream()), func() bool {
		return w.Often(ref.Stream(), name) == times
	})
}

func row(w *sagastest.World, ref hosting.Ref, spec hosting.Spec) {
	w.T.Helper()
	row, err := w.Tables.For(projections.System).Hosting().Resource(w.T.Context(), ref)
	w.Must(err)
	w.Must(row.Load(spec))
}

// renewals are the runs that wait for something to be due.
func renewals(w *sagastest.World) int {
	return w.Count(`select count(*) from saga_run where key like 'renewal:%' and status <> 'done'`)
}

// rests lets runs look a few times, and sees that one of them waits.
func rests(w *sagastest.World) {
	w.T.Helper()
	looks := func() int {
		return w.Count(`select coalesce(sum(lease_token), 0) from saga_run where key like 'renewal:%' and status <> 'done'`)
	}
	w.Eventually("one run waits", func() bool { return renewals(w) == 1 })
	before := looks()
	w.Eventually("the run has looked again", func() bool { return looks() > before+2 })
}

func TestAnAuthorityThatFailsIsAskedAgainAndAgain(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil)
	w.Goes()
	now := sagastest.Noon
	for n, rest := range []time.Duration{time.Hour, 6 * time.Hour, sagastest.Day} {
		w.Asks(hosting.Decline{Ref: sagastest.TheCertificate, Code: "not_issued", At: now})
		now = now.Add(rest)
		clock.Set(now)
		happens(w, sagastest.TheCertificate, "certificate.ordered", n+1)
	}
	w.Asks(hosting.Decline{Ref: sagastest.TheCertificate, Code: "not_issued", At: now})
	w.Eventually("no renewal is tried any more", func() bool { return renewals(w) == 0 })
	var c hosting.Certificate
	row(w, sagastest.TheCertificate, &c)
	w.Equal("failures", c.Failures, 4)
	w.Equal("status", c.Status+" "+c.LastError, "failed not_issued")
}

// The certificate of a disabled site is renewed once the site is enabled again.
func TestASiteThatIsOffIsRenewedOnceItIsOn(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil)
	w.Goes()
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(90*sagastest.Day))
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"is_active": []byte("false")}})
	clock.Set(sagastest.Noon.Add(91 * sagastest.Day))
	happens(w, sagastest.TheCertificate, "certificate.expired", 1)
	rests(w)
	w.Equal("ordered", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 0)
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"is_active": []byte("true")}})
	happens(w, sagastest.TheCertificate, "certificate.ordered", 1)
}

func TestOnlyTheFirstCertificateSwitchesHTTPSOn(t *testing.T) {
	t.Parallel()
	w, _ := sagastest.Certified(t, nil)
	w.Asks(sagastest.CertificateOf(hosting.Ref{Kind: "ssl_certificate", ID: 7}, nil)) // that is never issued
	w.Goes()
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(90*sagastest.Day))
	on := func() bool {
		var site hosting.Site
		row(w, sagastest.TheSite, &site)
		return site.SSLEnabled
	}
	w.Eventually("the site serves HTTPS", on)
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"ssl_enabled": []byte("false")}})
	second := hosting.Ref{Kind: "ssl_certificate", ID: 6}
	w.Asks(sagastest.CertificateOf(second, nil))
	sagastest.Issues(w, second, sagastest.Noon.Add(90*sagastest.Day))
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(100*sagastest.Day))
	w.Eventually("all runs have come to their waits", func() bool {
		return w.Count(`select count(*) from saga_run where key like 'renewal:%' and step = 0 and status <> 'done'`) == 0
	})
	w.Equal("switched on again", on(), false)
}

// TestDueWorkIsDoneAfterARestart: the panel was down for months.
func TestDueWorkIsDoneAfterARestart(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil)
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(90*sagastest.Day))
	clock.Set(sagastest.Noon.Add(95 * sagastest.Day))
	w.Goes()
	happens(w, sagastest.TheCertificate, "certificate.expired", 1)
	happens(w, sagastest.TheCertificate, "certificate.ordered", 1)
	w.Equal("warned too late", w.Often(sagastest.TheCertificate.Stream(), "certificate.expiring"), 0)
}
