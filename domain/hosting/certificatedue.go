package hosting

import "time"

// Due dates of certificates: renewal, warning and expiry
// (docs/certificates.md, "Renewal").

const (
	day = 24 * time.Hour

	renewBefore = 30 * day // or a third of the lifetime, if that is less
	warnBefore  = 14 * day // or half of the renewal period, if that is later
	keepTrying  = 30 * day // after expiry
	firstTries  = 3        // retries before the first issue
)

// backOff is the delay before the next order after consecutive failures.
func backOff(failures int) time.Duration {
	switch failures {
	case 0:
		return 0
	case 1:
		return time.Hour
	case 2:
		return 6 * time.Hour
	}
	return day
}

// Wait is the remaining delay before the next order after a failure; 0: an
// order is allowed now.
func (i Issuance) Wait(now time.Time) time.Duration {
	if i.Stage != Failed {
		return 0
	}
	return max(i.FailedAt.Add(backOff(i.Failures)).Sub(now), 0)
}

// Wait is [Issuance.Wait] for a certificate read from the read tables.
func (c *Certificate) Wait(now time.Time) time.Duration {
	i := Issuance{Stage: Stage(c.Status), Failures: int(c.Failures)}
	if c.FailedAt != nil {
		i.FailedAt = *c.FailedAt
	}
	return i.Wait(now)
}

// renewal is the time when a certificate becomes due for replacement: 30 days
// before its end, but after at least two thirds of its lifetime.
func (i Issuance) renewal() time.Time {
	due := i.Ends.Add(-renewBefore)
	if life := i.Ends.Sub(i.Since); !i.Since.IsZero() && life > 0 {
		due = later(due, i.Ends.Add(-life/3))
	}
	return due
}

// warning is the time when the tenant is warned of the expiry: 14 days before.
// With automatic renewal it is at the earliest halfway from renewal to expiry.
func (i Issuance) warning() time.Time {
	due := i.Ends.Add(-warnBefore)
	if i.AutoRenew && !i.Custom {
		due = later(due, i.renewal().Add(i.Ends.Sub(i.renewal())/2))
	}
	return due
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// renews is the time when the panel orders a certificate again by itself; zero:
// the present state allows no automatic order.
func (r Resource) renews() (none time.Time) {
	i := r.Certificate
	retry := i.FailedAt.Add(backOff(i.Failures))
	switch {
	case i.Custom, !i.AutoRenew, i.awaited(), len(r.DisabledBy) > 0:
		return none
	case i.Stage == Failed && i.Ends.IsZero() && i.Failures <= firstTries:
		return retry
	case i.Stage == Failed && retry.Before(i.Ends.Add(keepTrying)):
		return later(retry, i.renewal())
	case i.Stage == Issued, i.Stage == Expired:
		return i.renewal()
	}
	return none
}

// Due is the time of the next action on a certificate: order, warning or expiry;
// false: none is due. A certificate is ordered only while its site is served,
// because the authority validates over HTTP.
func (r Resource) Due(served bool) (next time.Time, is bool) {
	i := r.Certificate
	if i.Stage == "" || r.ended() {
		return next, false
	}
	var times []time.Time
	if served {
		times = append(times, r.renews())
	}
	if !i.Ends.IsZero() && !i.Warned {
		times = append(times, i.warning())
	}
	if !i.Ends.IsZero() && !i.Over {
		times = append(times, i.Ends)
	}
	for _, at := range times {
		if !at.IsZero() && (!is || at.Before(next)) {
			next, is = at, true
		}
	}
	return next, is
}

func (c Tend) decide(r Resource) (events []Event, err error) {
	i := r.Certificate
	if _, is := r.Due(c.Served); !is {
		return nil, nil
	}
	due := func(at time.Time) bool { return !at.IsZero() && !c.At.Before(at) }
	switch issued := !i.Ends.IsZero(); {
	case issued && !i.Over && due(i.Ends):
		events = append(events, CertificateExpired{i.Ends})
	case issued && !i.Warned && due(i.warning()):
		events = append(events, CertificateExpiring{i.Ends})
	}
	if c.Served && due(r.renews()) {
		events = append(events, i.order(c.At, nil))
	}
	return events, nil
}
