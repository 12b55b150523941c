package hosting

import "time"

// When something has to be done about a certificate (docs/certificates.md,
// "Renewal").

const (
	day = 24 * time.Hour

	renewBefore = 30 * day // or a third of its life, if that is less
	warnBefore  = 14 * day // or half of what is left for renewals
	keepTrying  = 30 * day // with one that has expired
	firstTries  = 3        // with one that never was issued
)

// backOff is how long an authority is left alone after failures in a row.
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

// Wait is how long the authority is to be left alone after failures; 0: it may
// be asked.
func (i Issuance) Wait(now time.Time) time.Duration {
	if i.Stage != Failed {
		return 0
	}
	return max(i.FailedAt.Add(backOff(i.Failures)).Sub(now), 0)
}

// Wait is [Issuance.Wait] of a certificate as the read tables have it.
func (c *Certificate) Wait(now time.Time) time.Duration {
	i := Issuance{Stage: Stage(c.Status), Failures: int(c.Failures)}
	if c.FailedAt != nil {
		i.FailedAt = *c.FailedAt
	}
	return i.Wait(now)
}

// renewal is when a certificate should be replaced: 30 days before its end,
// and not before two thirds of its life are over.
func (i Issuance) renewal() time.Time {
	due := i.Ends.Add(-renewBefore)
	if life := i.Ends.Sub(i.Since); !i.Since.IsZero() && life > 0 {
		due = later(due, i.Ends.Add(-life/3))
	}
	return due
}

// warning is when somebody should know that a certificate is about to expire:
// 14 days before, and not while the first half of the time for renewals runs.
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

// renews is when the panel orders a certificate again by itself; zero: never,
// as things are.
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

// Due is when the next thing has to be done about a certificate; false: nothing,
// as things are. For a site that is not served nothing is ordered: no authority
// would find it.
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

func (c Tend) decide(r Resource) (facts []Event, err error) {
	i := r.Certificate
	if _, is := r.Due(c.Served); !is {
		return nil, nil
	}
	due := func(at time.Time) bool { return !at.IsZero() && !c.At.Before(at) }
	switch issued := !i.Ends.IsZero(); {
	case issued && !i.Over && due(i.Ends):
		facts = append(facts, CertificateExpired{i.Ends})
	case issued && !i.Warned && due(i.warning()):
		facts = append(facts, CertificateExpiring{i.Ends})
	}
	if c.Served && due(r.renews()) {
		facts = append(facts, i.order(c.At, nil))
	}
	return facts, nil
}
