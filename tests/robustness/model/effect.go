package model

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// An Effect is one row of the ledger.
type Effect struct {
	Run              uuid.UUID
	Step             string
	State            sagas.EffectState
	Request          string // "": it may be asked for differently
	Sent, Keyed      time.Time
	Asked            bool // it is known what was asked for
	Sends, KeyedFrom int
	External         string
	Token            int64
	Generation       int
}

func (e *Effect) mayHaveHappened() bool {
	return sagas.LedgerEntry{State: e.State}.MayHaveHappened()
}

// A Place is what a claim is about.
type Place struct{ Server, Kind, Name string }

// A Held claim has an owner.
type Held struct {
	Owner string
	Taken time.Time
}

func placeOf(c sagas.Claim) Place { return Place{c.Server, c.Kind, c.Name} }

// age is the time since a call was prepared; one that never was is very old.
func (e *Effect) age(now time.Time) time.Duration {
	if e.Sent.IsZero() {
		return sagas.Seconds(1e9)
	}
	return asRead(now.Sub(e.Sent))
}

// asRead is a duration as the program reads it from the database: a float of seconds.
func asRead(d time.Duration) time.Duration {
	return sagas.Seconds(float64(d.Microseconds()) / 1e6)
}

// known is a copy of a row of the ledger; without one its state is "".
func (m *Model) known(key string) Effect {
	if e := m.Effects[key]; e != nil {
		return *e
	}
	return Effect{}
}

func (m *Model) effect(c *claimed, step trips.Step) (result, error) {
	key := trips.KeyOf(step.Name, c.in)
	known := m.known(key)
	if known.State == sagas.EffectConfirmed || known.State == sagas.EffectSkipped {
		return c.confirmed(step, known.External, true), nil
	}
	if known.State != "" || step.Kind == trips.Keyed {
		if err := c.settle(m); err != nil {
			return result{}, err
		}
	}
	if known.State != "" {
		external, found, err := m.lookBefore(*c, step, known)
		if err != nil {
			return result{}, err
		}
		if found {
			return m.adopted(c, step, key, external), nil
		}
	}
	generation := 1
	if step.Kind == trips.Keyed {
		if m.held(*c) == nil {
			return result{}, sagas.ErrFenced
		}
		generation = m.generation(*c, key)
	}
	return m.send(c, step, key, generation)
}

func (m *Model) lookBefore(c claimed, step trips.Step, known Effect) (string, bool, error) {
	if step.Kind == trips.Blind {
		return "", false, known.resendable(step, m.Now)
	}
	external, found, err := m.Outside.FindEffect(c.in, step)
	switch {
	case err != nil || found == sagas.Yes:
		return external, err == nil, err
	case found == sagas.Maybe:
		return "", false, sagas.TooEarly("undecided", trips.Times.Floor)
	}
	if known.mayHaveHappened() && known.age(m.Now) < step.Policy.Quarantine {
		return "", false, sagas.TooEarly("quarantine", step.Policy.Quarantine-known.age(m.Now))
	}
	return "", false, nil
}

func (e *Effect) resendable(step trips.Step, now time.Time) error {
	switch {
	case e.Sends == 0:
		return nil
	case e.Sends >= step.Policy.Sends:
		return domain.Fail(domain.Permanent, sagas.Unanswered, errors.New("unknown"))
	case e.age(now) < step.Policy.Quarantine:
		return sagas.TooEarly(sagas.Unanswered, step.Policy.Quarantine-e.age(now))
	}
	return nil
}

const keySends = 2

// generation is that of the key under which a payment is made next.
func (m *Model) generation(c claimed, key string) int {
	e := m.Effects[key]
	if e == nil {
		return 1
	}
	if e.Token <= c.token && (e.Sends-e.KeyedFrom >= keySends || e.Keyed.Before(m.Now.Add(-trips.Times.KeyLife))) {
		e.Generation, e.Keyed, e.KeyedFrom = e.Generation+1, m.Now, e.Sends
	}
	return e.Generation
}

func (m *Model) send(c *claimed, step trips.Step, key string, generation int) (result, error) {
	if err := m.at(sagas.BeforeIntent, *c); err != nil {
		return result{}, err
	}
	if err := m.intend(*c, step, key); err != nil {
		return result{}, err
	}
	if err := m.at(sagas.AfterIntent, *c); err != nil {
		return result{}, err
	}
	external, err := m.call(*c, step, key, generation)
	if err == nil {
		r := m.adopted(c, step, key, external)
		r.command = c.completed(external, false)
		return r, nil
	}
	if errors.Is(err, sagas.ErrKilled) {
		return result{}, err
	}
	return m.failedCall(c, step, key, err)
}

func (m *Model) call(c claimed, step trips.Step, key string, generation int) (external string, err error) {
	if err := m.at(sagas.Sent, c); err != nil {
		return "", err
	}
	switch step.Kind {
	case trips.Object:
		external, err = m.Outside.Make(trips.ClaimOf(c.in))
	case trips.Keyed:
		external, err = m.Outside.Pay(key, generation)
	default:
		err = m.Outside.Mail(key)
	}
	if err != nil {
		return "", err
	}
	return external, m.at(sagas.Answered, c)
}

// intend records the effect before the call, together with what is unrecorded of the run.
// If that is refused it goes first.
func (m *Model) intend(c claimed, step trips.Step, key string) error {
	rows := c.intentRows(m, step, key)
	err := c.settleWith(m, "intend", rows...)
	if err != nil && len(c.todo.done) > 0 {
		if err := c.settle(m); err != nil {
			return err
		}
		err = c.settleWith(m, "intend", rows...)
	}
	claim := trips.ClaimOf(c.in)
	switch {
	case errors.Is(err, errContested):
		return m.contend(c, claim, step)
	case errors.Is(err, errNotIntended) && m.Effects[key].refuses(c, step):
		return domain.Fail(domain.Permanent, "request_changed", errors.New("asked for differently before"))
	case errors.Is(err, errNotIntended):
		return sagas.ErrFenced
	}
	return err
}

// lasts tells whether a lease is long enough for a call.
func (w *Row) lasts(now time.Time) bool {
	return w != nil && !w.Lease.Before(now.Add(trips.Times.Call))
}

// refuses tells whether the row of an effect is what refuses an intent.
func (e *Effect) refuses(c claimed, step trips.Step) bool {
	return e != nil && (e.Run == c.ID() && e.Token > c.token || e.Asked && e.Request != step.Request(c.in) ||
		!slices.Contains(open, e.State))
}

func (c claimed) intentRows(m *Model, step trips.Step, key string) []row {
	claim := trips.ClaimOf(c.in)
	ours := func() bool {
		held, taken := m.Claims[placeOf(claim)]
		return step.Kind != trips.Object || !taken || held.Owner == claim.Owner.String()
	}
	joined := func() bool { return len(c.todo.done) > 0 } // then the lease begins anew with this write
	intended := func() bool { return (joined() || m.held(c).lasts(m.Now)) && !m.Effects[key].refuses(c, step) }
	return []row{{holds: ours, err: errContested, make: func() {
		if step.Kind == trips.Object {
			m.Claims[placeOf(claim)] = Held{claim.Owner.String(), m.Now}
		}
	}}, {holds: intended, err: errNotIntended, make: func() {
		if m.Effects[key] == nil {
			m.Effects[key] = &Effect{Run: c.ID(), Step: step.Name, Keyed: m.Now, Generation: 1}
		}
		m.Effects[key].intend(c, step, m.Now)
		at := AttemptKey{c.ID(), c.token, c.Step}
		if a := m.Attempts[at]; a != nil {
			a.Began, a.Ended, a.Outcome = m.Business(), time.Time{}, ""
		} else {
			m.Attempts[at] = &Attempt{Began: m.Business()}
		}
	}}}
}

func (e *Effect) intend(c claimed, step trips.Step, now time.Time) {
	if e.State != sagas.EffectDeferred {
		e.State = sagas.EffectIntended
	}
	e.Asked, e.Run, e.Request, e.Sent, e.Sends, e.Token = true, c.ID(), step.Request(c.in), now, e.Sends+1, c.token
}

// open are the states of effects that have yet to be done.
var open = []sagas.EffectState{sagas.EffectIntended, sagas.EffectUnknown, sagas.EffectAbsent, sagas.EffectDeferred}

func (m *Model) contend(c claimed, claim sagas.Claim, step trips.Step) error {
	if !m.held(c).lasts(m.Now) {
		return sagas.ErrFenced
	}
	held := m.Claims[placeOf(claim)]
	expire, err := trips.Contested(
		m.Outside,
		sagas.Contest{Claim: claim, Holder: held.Owner, Idle: asRead(m.Now.Sub(held.Taken)), Quarantine: step.Policy.Quarantine},
	)
	if err != nil {
		return err
	}
	if expire {
		delete(m.Claims, placeOf(claim))
	}
	return sagas.TooEarly("name_leaving", trips.Times.Floor)
}

func (m *Model) failedCall(c *claimed, step trips.Step, key string, failure error) (result, error) {
	class, _ := sagas.Classify(failure)
	if e := m.Effects[key]; e.Token == c.token && slices.Contains(
		[]sagas.EffectState{sagas.EffectIntended, sagas.EffectUnknown, sagas.EffectDeferred}, e.State,
	) {
		state := sagas.EffectUnknown
		if class != domain.Unknown {
			state, e.Sends = sagas.EffectAbsent, e.Sends-1
		}
		if e.State != sagas.EffectDeferred {
			e.State = state
		}
	}
	if e := m.Effects[key]; sagas.CodeOf(failure) == sagas.StoredError && e.Token == c.token {
		e.KeyedFrom = e.Sends - keySends
	}
	if step.Kind == trips.Blind || class == domain.Permanent || !usedUp(step, *c) {
		return result{}, failure
	}
	if external, found, err := m.Outside.FindEffect(c.in, step); err == nil && found == sagas.Yes {
		return m.adopted(c, step, key, external), nil
	}
	return result{}, failure
}

func (c *claimed) confirmed(step trips.Step, external string, found bool) result {
	if step.Kind == trips.Object {
		c.in.Box = external
	}
	return result{command: c.completed(external, found), counted: true, outside: true}
}

func (m *Model) adopted(c *claimed, step trips.Step, key, external string) result {
	r, run, token := c.confirmed(step, external, true), c.ID(), c.token
	r.rows = append(r.rows, row{
		holds: func() bool {
			e := m.Effects[key]
			return (e.Run != run || e.Token <= token) && slices.Contains(open, e.State)
		}, err: sagas.ErrFenced,
		make: func() {
			e := m.Effects[key]
			e.State, e.External, e.Token, e.Run = sagas.EffectConfirmed, external, token, run
		},
	})
	return r
}
