package hosting_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

var (
	certificate = hosting.Ref{Kind: "ssl_certificate", ID: 5}
	noon        = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

const days = 24 * time.Hour

// asks requests a certificate at noon.
func asks(change func(*hosting.Certificate)) hosting.Requested {
	at := noon
	c := hosting.Certificate{
		Site: 3, Type: "acme", Domain: "example.com", AutoRenew: true, Status: "pending", IsActive: true,
		OrderedAt: &at,
	}
	if change != nil {
		change(&c)
	}
	return hosting.Requested{Kind: "ssl_certificate", Tenant: 17, Spec: c.Fields().Values()}
}

var (
	acmeAsked   = asks(nil)
	manualAsked = asks(func(c *hosting.Certificate) { c.AutoRenew = false })
	customAsked = asks(func(c *hosting.Certificate) { c.Type = "custom" })

	ninety    = noon.Add(90 * days)
	accepted  = hosting.EngineConfirmed{EngineID: 9, Version: 1}
	seen      = hosting.EngineConfirmed{EngineID: 9, Observed: until(ninety), Version: 1}
	issued    = hosting.CertificateIssued{Ends: ninety}
	expiring  = hosting.CertificateExpiring{Ends: ninety}
	expired   = hosting.CertificateExpired{Ends: ninety}
	noAnswer  = hosting.EngineRefused{Code: "not_issued"}
	allIssued = []hosting.Event{acmeAsked, accepted, seen, issued}
)

func until(at time.Time) field.Values {
	return field.Values{"expires_at": field.AppendTime(nil, at)}
}

func failed(at time.Time) hosting.CertificateFailed {
	return hosting.CertificateFailed{Code: "not_issued", At: at}
}

func order(at time.Time) hosting.Order { return hosting.Order{Ref: certificate, At: at} }

func ordered(at time.Time) hosting.CertificateOrdered { return hosting.CertificateOrdered{At: at} }

func tend(at time.Time) hosting.Tend { return hosting.Tend{Ref: certificate, At: at, Served: true} }

// after appends events to a history.
func after(history []hosting.Event, more ...hosting.Event) []hosting.Event {
	return append(history[:len(history):len(history)], more...)
}

func TestACertificateIsIssuedOnceTheEngineTellsUntilWhenItIsValid(t *testing.T) {
	given(t, acmeAsked).When(hosting.Confirm{Ref: certificate, EngineID: 9, Version: 1}).Then(accepted)
	observed := hosting.Confirm{Ref: certificate, EngineID: 9, Observed: until(ninety), Version: 1}
	given(t, acmeAsked, accepted).When(observed).Then(seen, issued)
	given(t, allIssued...).When(observed).Then()
	given(t, acmeAsked).When(observed).Then(seen, issued)
}

func TestASiteIsNotIssued(t *testing.T) {
	given(t, requested).When(hosting.Confirm{Ref: site, EngineID: 9, Observed: until(ninety)}).
		Then(hosting.EngineConfirmed{EngineID: 9, Observed: until(ninety)})
	given(t, requested, made).When(hosting.Tend{Ref: site, At: ninety}).Then()
}

func TestAnOrderThatCameToNothingHasFailed(t *testing.T) {
	decline := hosting.Decline{Ref: certificate, Code: "not_issued", Version: 1, At: noon}
	given(t, acmeAsked).When(decline).Then(noAnswer, failed(noon))
	given(t, acmeAsked, accepted).When(decline).Then(noAnswer, failed(noon))
	given(t, acmeAsked, accepted, noAnswer, failed(noon)).When(decline).Then()
	given(t, allIssued...).When(decline).Then()
	given(t, acmeAsked, accepted, leaving).When(hosting.Decline{Ref: certificate, Code: "not_issued", At: noon}).Then(noAnswer)
}

func TestWhileAnOrderStandsThereIsNoSecondOne(t *testing.T) {
	given(t, acmeAsked).When(order(noon)).Then()
	given(t, acmeAsked, accepted).When(order(noon)).Then()
	anew := order(noon)
	anew.Anew = true
	given(t, acmeAsked, accepted).When(anew).Then()
	given(t, after(allIssued, ordered(noon))...).When(anew).Then()
}

func TestACertificateThatIsGoodForLongIsOrderedAgainOnlyOnInsistence(t *testing.T) {
	given(t, allIssued...).When(order(noon)).Then()
	given(t, allIssued...).When(order(noon.Add(60 * days))).Then(ordered(noon.Add(60 * days)))
	anew := order(noon)
	anew.Anew = true
	given(t, allIssued...).When(anew).Then(ordered(noon))
	other := order(noon)
	other.Names = []string{"shop.example.com"}
	with := hosting.CertificateOrdered{At: noon, Names: other.Names}
	given(t, allIssued...).When(other).Then(with)
	more := hosting.CertificateIssued{Ends: ninety.Add(days)}
	given(t, after(allIssued, with, more)...).When(other).Then()
	given(t, after(allIssued, with, more)...).When(anew).Then(with)
}

func TestOnlyWhatAnAuthorityIssuesCanBeOrdered(t *testing.T) {
	given(t, customAsked, accepted).When(order(noon)).ThenRefused(domain.Conflict, "Only acme certificates can be requested.")
	given(t).When(order(noon)).ThenRefused(domain.NotFound, "No SSLCertificate matches the given query.")
	given(t, acmeAsked, leaving).When(order(noon)).ThenRefused(domain.NotFound, "No SSLCertificate matches the given query.")
	halted := after(allIssued, hosting.Disabled{By: hosting.BySite})
	given(t, halted...).When(order(noon.Add(70*days))).ThenRefused(domain.Conflict, "Site is not active.")
}

// Orders wait one hour after the first failure, then six hours, then a day.
func TestAnAuthorityIsLeftAloneAfterFailures(t *testing.T) {
	history := []hosting.Event{acmeAsked}
	at := noon
	for n, wait := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
		history = append(history, noAnswer, failed(at))
		given(t, history...).When(order(at.Add(wait-time.Second))).ThenRefused(
			domain.Throttled, "The certificate authority is asked again in 1s.",
		)
		at = at.Add(wait)
		given(t, history...).When(order(at)).Then(ordered(at))
		if n < 3 {
			given(t, history...).When(tend(at)).Then(ordered(at))
		} else {
			given(t, history...).When(tend(at)).Then() // never issued: after three retries an order has to be requested
		}
		history = append(history, ordered(at))
	}
	history = append(history, issued)
	given(t, history...).When(order(at)).Then()
	given(t, after(history, ordered(at), noAnswer, failed(at))...).When(order(at.Add(time.Hour))).Then(ordered(at.Add(time.Hour)))
}

func TestACertificateIsRenewedThirtyDaysBeforeItsEnd(t *testing.T) {
	due := ninety.Add(-30 * days)
	given(t, allIssued...).When(tend(due.Add(-time.Second))).Then()
	given(t, allIssued...).When(tend(due)).Then(ordered(due))
	given(t, after(allIssued, ordered(due))...).When(tend(due)).Then()
	next := due.Add(90 * days)
	renewed := after(allIssued, ordered(due))
	given(t, renewed...).When(hosting.Confirm{Ref: certificate, EngineID: 9, Observed: until(ninety), Version: 5}).
		Then(hosting.EngineConfirmed{EngineID: 9, Observed: until(ninety), Version: 5}) // the old one still
	given(t, renewed...).When(hosting.Confirm{Ref: certificate, EngineID: 9, Observed: until(next), Version: 5}).
		Then(hosting.EngineConfirmed{EngineID: 9, Observed: until(next), Version: 5}, hosting.CertificateIssued{Ends: next})
}

func TestAShortLifeIsRenewedAtTwoThirds(t *testing.T) {
	ends := noon.Add(6 * days)
	short := []hosting.Event{acmeAsked, accepted, hosting.CertificateIssued{Ends: ends}}
	given(t, short...).When(tend(noon.Add(4*days - time.Second))).Then()
	given(t, short...).When(tend(noon.Add(4 * days))).Then(ordered(noon.Add(4 * days)))
}

func TestWithoutRenewalTheWarningComesFourteenDaysBefore(t *testing.T) {
	for _, asked := range []hosting.Requested{manualAsked, customAsked} {
		history := []hosting.Event{asked, accepted, issued}
		warn := ninety.Add(-14 * days)
		given(t, history...).When(tend(warn.Add(-time.Second))).Then()
		given(t, history...).When(tend(warn)).Then(expiring)
		given(t, after(history, expiring)...).When(tend(warn.Add(days))).Then()
		given(t, after(history, expiring)...).When(tend(ninety)).Then(expired)
		given(t, after(history, expiring, expired)...).When(tend(ninety.Add(days))).Then()
		given(t, history...).When(tend(ninety)).Then(expired) // expired before the warning was sent
		given(t, after(history, expired)...).When(tend(ninety)).Then()
	}
}

func TestACertificateWithoutRenewalIsWarnedOf(t *testing.T) {
	off := after(allIssued, hosting.Changed{Spec: values(`{"auto_renew":false}`)})
	given(t, off...).When(tend(ninety.Add(-30 * days))).Then()
	given(t, off...).When(tend(ninety.Add(-14 * days))).Then(expiring)
	on := after(off, expiring, hosting.Changed{Spec: values(`{"auto_renew":true}`)})
	given(t, on...).When(tend(ninety.Add(-13 * days))).Then(ordered(ninety.Add(-13 * days)))
}

func TestRenewalGoesOnUntilLongAfterTheEnd(t *testing.T) {
	at := ninety.Add(-30 * days)
	history, tries := after(allIssued), 0
	for at.Before(ninety.Add(60 * days)) {
		r := hosting.Decider.Replay(history...)
		events, err := hosting.Decider.Decide(r, tend(at))
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, events...)
		if r = hosting.Decider.Replay(history...); r.Certificate.Stage.Status() == "pending" {
			history = append(history, noAnswer, failed(at))
			tries++
		}
		next, more := hosting.Decider.Replay(history...).Due(true)
		if !more {
			break
		}
		if !next.After(at) {
			t.Fatalf("due again at %s, after %s", next, at)
		}
		at = next
	}
	if tries < 55 || tries > 65 {
		t.Errorf("%d tries until %s", tries, at)
	}
	var warned, over int
	for _, e := range history {
		switch e.(type) {
		case hosting.CertificateExpiring:
			warned++
		case hosting.CertificateExpired:
			over++
		}
	}
	if warned != 1 || over != 1 {
		t.Errorf("warned %d times, expired %d times", warned, over)
	}
}

func TestWhatIsSwitchedOffIsNotRenewed(t *testing.T) {
	off := after(allIssued, hosting.Disabled{By: hosting.ByTenant})
	given(t, off...).When(tend(ninety.Add(-30 * days))).Then()
	given(t, off...).When(tend(ninety)).Then(expired)
	on := after(off, hosting.Enabled{By: hosting.ByTenant})
	given(t, on...).When(tend(ninety.Add(-29 * days))).Then(ordered(ninety.Add(-29 * days)))
}

func TestNothingIsOrderedForASiteThatIsNotServed(t *testing.T) {
	off := func(at time.Time) hosting.Tend { return hosting.Tend{Ref: certificate, At: at} }
	given(t, allIssued...).When(off(ninety.Add(-20 * days))).Then()
	given(t, allIssued...).When(off(ninety.Add(-14 * days))).Then(expiring)
	given(t, after(allIssued, expiring)...).When(off(ninety)).Then(expired)
	if at, is := hosting.Decider.Replay(after(allIssued, expiring, expired)...).Due(false); is {
		t.Errorf("due at %s", at)
	}
}

func TestNothingIsDueOfWhatIsGone(t *testing.T) {
	for _, history := range [][]hosting.Event{
		{}, {acmeAsked}, after(allIssued, leaving), after(allIssued, leaving, hosting.Removed{}), {requested, made},
	} {
		if at, is := hosting.Decider.Replay(history...).Due(true); is {
			t.Errorf("%v: due at %s", history, at)
		}
	}
}

func TestTheStagesHaveFourNames(t *testing.T) {
	for _, c := range []struct {
		history []hosting.Event
		stage   hosting.Stage
		status  string
	}{
		{[]hosting.Event{acmeAsked}, hosting.Ordering, "pending"},
		{[]hosting.Event{acmeAsked, accepted}, hosting.Awaited, "pending"},
		{allIssued, hosting.Issued, "issued"},
		{[]hosting.Event{acmeAsked, noAnswer, failed(noon)}, hosting.Failed, "failed"},
		{after(allIssued, ordered(noon)), hosting.Renewing, "pending"},
		{after(allIssued, expired), hosting.Expired, "issued"},
		{after(allIssued, expired, ordered(ninety)), hosting.Ordering, "pending"},
		{after(allIssued, ordered(noon), expired), hosting.Awaited, "pending"},
		{after(allIssued, leaving, hosting.Removed{}), hosting.Withdrawn, "revoked"},
		{[]hosting.Event{requested, made}, "", ""},
	} {
		stage := hosting.Decider.Replay(c.history...).Certificate.Stage
		if stage != c.stage || stage.Status() != c.status {
			t.Errorf("%v: %s, which is %s", c.history, stage, stage.Status())
		}
	}
}

// In any sequence of commands at most one order is open, no order follows a
// failure within an hour, and Tend does everything that is due.
func TestRandomLivesOfCertificates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := hosting.Decider.Replay(acmeAsked)
		now, lastFailed := noon, time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 20*24*60).Draw(t, "minutes")) * time.Minute)
			pending := r.Certificate.Stage.Status() == "pending"
			events, err := hosting.Decider.Decide(r, anything(t, now))
			for _, e := range events {
				if _, is := e.(hosting.CertificateOrdered); is && (pending || now.Before(lastFailed.Add(time.Hour))) {
					t.Fatalf("ordered at %s although %v, %s", now, pending, lastFailed)
				}
				if f, is := e.(hosting.CertificateFailed); is {
					lastFailed = f.At
				}
				if _, is := e.(hosting.CertificateIssued); is {
					lastFailed = time.Time{}
				}
				r = hosting.Decider.Evolve(r, e)
			}
			if err != nil && domain.CodeOf(err) == "" {
				t.Fatal(err)
			}
			settled(t, r, now)
		}
	})
}

func anything(t *rapid.T, now time.Time) hosting.Command {
	ends := now.Add(time.Duration(rapid.IntRange(-5, 100).Draw(t, "days")) * days)
	return rapid.SampledFrom([]hosting.Command{
		hosting.Confirm{Ref: certificate, EngineID: 9},
		hosting.Confirm{Ref: certificate, EngineID: 9, Observed: until(ends)},
		hosting.Decline{Ref: certificate, Code: "not_issued", At: now},
		order(now), tend(now),
		hosting.Order{Ref: certificate, At: now, Anew: true},
		hosting.Change{Ref: certificate, Spec: values(fmt.Sprintf(`{"auto_renew":%t}`, rapid.Bool().Draw(t, "renew")))},
		hosting.Disable{Ref: certificate, By: hosting.BySite},
		hosting.Enable{Ref: certificate, By: hosting.BySite},
	}).Draw(t, "command")
}

// settled checks that Tend leaves nothing due.
func settled(t *rapid.T, r hosting.Resource, now time.Time) {
	for range 3 {
		at, is := r.Due(true)
		if !is || at.After(now) {
			return
		}
		events, err := hosting.Decider.Decide(r, tend(now))
		if err != nil || len(events) == 0 {
			t.Fatalf("due since %s, and nothing to do (%v) at %s: %+v", at, err, now, r.Certificate)
		}
		for _, e := range events {
			r = hosting.Decider.Evolve(r, e)
		}
	}
	t.Fatalf("due again and again: %+v", r.Certificate)
}

func TestAnIssuanceReadsAsItWasWritten(t *testing.T) {
	r := hosting.Decider.Replay(after(allIssued, ordered(noon), noAnswer, failed(noon))...)
	text, err := json.Marshal(r)
	var again hosting.Resource
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || fmt.Sprint(again.Certificate) != fmt.Sprint(r.Certificate) {
		t.Errorf("%s: %+v, %v", text, again.Certificate, err)
	}
}
