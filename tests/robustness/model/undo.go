package model

import (
	"errors"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// undoStep takes a step back.
func (m *Model) undoStep(c *claimed, step trips.Step) (result, error) {
	switch {
	case step.Kind == trips.Object || step.Kind == trips.Keyed:
		return m.undoEffect(c, step)
	case step.Name == "note":
		return result{command: c.completed("", false), commands: []domain.Command{trips.Unnoted(c.in.Name, m.Business())}}, nil
	}
	return result{command: sagas.Complete{Key: c.Key, Step: c.Step}}, nil
}

func (m *Model) undoEffect(c *claimed, step trips.Step) (result, error) {
	key := trips.KeyOf(step.Name, c.in)
	gone, known := result{command: sagas.Complete{Key: c.Key, Step: c.Step}, counted: true}, m.known(key)
	if known.State == "" || known.State == sagas.EffectUndone {
		return gone, nil
	}
	token := c.token
	gone.outside = true
	gone.rows = append(gone.rows, row{
		holds: func() bool { return m.Effects[key].Token <= token }, err: sagas.ErrFenced,
		make: func() {
			m.Effects[key].State, m.Effects[key].Token = sagas.EffectUndone, token
			m.freeClaims(claimIf(step, c.in))
		},
	})
	if err := m.markUndoing(*c, key); err != nil {
		return result{}, err
	}
	external, found := known.External, sagas.Yes
	if external == "" {
		var err error
		if external, found, err = m.Outside.FindEffect(c.in, step); err != nil {
			return result{}, err
		}
	}
	switch {
	case found == sagas.Maybe:
		return result{}, sagas.TooEarly("undecided", trips.Times.Floor)
	case found == sagas.No && known.mayHaveHappened() && known.age(m.Now) < step.Policy.Quarantine:
		return result{}, sagas.TooEarly("quarantine", step.Policy.Quarantine-known.age(m.Now))
	case found == sagas.No:
		return gone, nil
	}
	return gone, m.undo(*c, step, key, external)
}

func (m *Model) undo(c claimed, step trips.Step, key, external string) error {
	if err := m.at(sagas.Sent, c); err != nil {
		return err
	}
	err := error(nil)
	if step.Kind == trips.Object {
		err = m.Outside.Remove(trips.ClaimOf(c.in), external)
	} else {
		err = m.Outside.Refund(key, external)
	}
	if err != nil {
		return err
	}
	return m.at(sagas.Answered, c)
}

func (m *Model) markUndoing(c claimed, key string) error {
	if err := m.at(sagas.BeforeIntent, c); err != nil {
		return err
	}
	if m.held(c) == nil {
		return sagas.ErrFenced
	}
	if a := (AttemptKey{c.ID(), c.token, c.Step}); m.Attempts[a] == nil {
		m.Attempts[a] = &Attempt{Began: m.Business()}
	}
	e := m.Effects[key]
	if e.Token > c.token {
		return domain.Fail(domain.Permanent, "effect_taken", errors.New("another run's"))
	}
	e.State, e.Token = sagas.EffectUndoing, c.token
	return m.at(sagas.AfterIntent, c)
}

// claimIf is the claim of a step; only objects have one.
func claimIf(step trips.Step, in trips.Trip) sagas.Claim {
	if step.Kind != trips.Object {
		return sagas.Claim{}
	}
	return trips.ClaimOf(in)
}

func (m *Model) freeClaims(c sagas.Claim) {
	for at, held := range m.Claims {
		if held.Owner == c.Owner.String() {
			delete(m.Claims, at)
		}
	}
}
