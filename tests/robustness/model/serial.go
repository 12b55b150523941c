package model

import (
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// earlier is why a trip waits for one with a lower number of its line.
const earlier = "earlier_wish"

// afterEarlier lets trips of the line with lower numbers begin first. One that is parked is
// superseded.
func (m *Model) afterEarlier(c claimed) error {
	line, number := trips.LineOf(c.in)
	wait := false
	for _, w := range m.Runs {
		at, nth := trips.LineOf(trips.InputOf(w.Run))
		if at != line || nth >= number || w.Run.Over() || rowStep(w.Run) > 0 && w.Status != "parked" {
			continue
		}
		over := false
		if w.Status == "parked" {
			var err error
			if over, err = m.supersede(c, w.Run); err != nil {
				return err
			}
		} else if w.Status == "waiting" && w.RunAt.After(m.Business()) {
			w.RunAt = m.Business()
		}
		wait = wait || !over
	}
	if wait {
		return sagas.Await(line, earlier, 0)
	}
	return nil
}

// supersede ends a parked run. What may be on its way outside has its quarantine first.
func (m *Model) supersede(c claimed, run sagas.Run) (over bool, err error) {
	var rows []row
	if step := stepOf(run); step.IsEffect() {
		key := trips.KeyOf(step.Name, trips.InputOf(run))
		known := m.known(key)
		if left := step.Policy.Quarantine - known.age(m.Now); known.mayHaveHappened() && left > 0 {
			m.Seen = append(m.Seen, "superseded: quarantine")
			return false, sagas.TooEarly(earlier, left)
		}
		rows = append(rows, row{make: func() {
			if e := m.Effects[key]; e != nil && slices.Contains([]sagas.EffectState{sagas.EffectIntended, sagas.EffectUnknown}, e.State) {
				e.State = sagas.EffectDeferred
			}
		}})
	}
	meta := m.workerMeta(c, "")
	meta.ID, meta.Actor = uuid.NewSHA1(run.ID(), []byte("superseded")), "system:engine"
	err = m.overrule(meta, run, sagas.Supersede{Key: run.Key}, rows)
	if domain.CodeOf(err) == domain.Conflict {
		return false, nil
	}
	m.Seen = append(m.Seen, "superseded: done")
	return err == nil, err
}
