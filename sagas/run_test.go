package sagas_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/sagas"
)

// The events of a run with two steps.
var (
	places  = []sagas.StepRef{{Name: "pack", Queue: "local"}, {Name: "ship", Queue: "engine:one"}}
	started = sagas.Started{
		Key: "send:1", Definition: "send/1", Steps: places, Input: json.RawMessage(`{"parcel":7}`), Order: uuid.UUID{1},
	}
	packed  = sagas.StepCompleted{Step: 0, Name: "pack"}
	shipped = sagas.StepCompleted{Step: 1, Name: "ship", External: "parcel 7"}
	stuck   = sagas.Parked{Step: 1, Name: "ship", Code: "no_van"}
)

const movedOn = "The run has moved on."

func given(t *testing.T, history ...sagas.Event) *domaintest.Story[sagas.Run, sagas.Command, sagas.Event] {
	return domaintest.Given(t, sagas.Decider, history)
}

func TestARunStartsOnce(t *testing.T) { // G-9
	start := sagas.Start(started)
	given(t).When(start).Then(started)
	given(t, started).When(start).Then()
	given(t, started, packed, shipped).When(start).Then()
}

func TestARunGoesStepByStep(t *testing.T) {
	given(t, started).When(sagas.Complete{Key: "send:1", Step: 0}).Then(packed)
	given(t, started, packed).When(sagas.Complete{Key: "send:1", Step: 1, External: "parcel 7"}).Then(shipped)
	given(t, started, packed).When(sagas.Complete{Key: "send:1", Step: 0}).ThenRefused(domain.Conflict, movedOn)
	given(t, started, packed, shipped).When(sagas.Complete{Key: "send:1", Step: 1}).ThenRefused(domain.Conflict, movedOn)

	changed := json.RawMessage(`{"parcel":8}`)
	given(t, started).When(sagas.Complete{Key: "send:1", Step: 0, Input: changed}).
		Then(sagas.StepCompleted{Step: 0, Name: "pack", Input: changed})
}

func TestAParkedRunWaitsForAPerson(t *testing.T) {
	given(t, started, packed).When(sagas.Park{Key: "send:1", Step: 1, Code: "no_van"}).Then(stuck)
	given(t, started, packed, stuck).When(sagas.Complete{Key: "send:1", Step: 1}).ThenRefused(domain.Conflict, movedOn)
	given(t, started, packed, stuck).When(sagas.Retry{Key: "send:1", Reason: "a van came"}).Then(
		sagas.Retried{Step: 1, Name: "ship", Reason: "a van came"},
	)
	given(t, started, packed).When(sagas.Retry{Key: "send:1"}).ThenRefused(domain.Conflict, "The run is not parked.")
	given(t, started, packed, stuck).When(sagas.Skip{Key: "send:1", Step: 1, External: "parcel 8", Reason: "by hand"}).
		Then(sagas.StepSkipped{Step: 1, Name: "ship", External: "parcel 8", Reason: "by hand"})
	given(t, started, packed, stuck).When(sagas.Skip{Key: "send:1", Step: 0}).
		ThenRefused(domain.Conflict, "The run is not parked at this step.")
}

func TestARunCanBePausedBetweenItsSteps(t *testing.T) {
	given(t, started).When(sagas.Pause{"send:1", "holiday"}).Then(sagas.Paused{"holiday"})
	given(t, started, sagas.Paused{"holiday"}).When(sagas.Pause{"send:1", "again"}).Then()
	given(t, started, sagas.Paused{"holiday"}).When(sagas.Resume{"send:1", "back"}).Then(sagas.Resumed{"back"})
	given(t, started).When(sagas.Resume{"send:1", "back"}).Then()
	given(t, started, packed, stuck).When(sagas.Pause{"send:1", "holiday"}).ThenRefused(domain.Conflict, "The run cannot be paused.")
}

func TestARunThatCompensatesGoesBackwards(t *testing.T) {
	turned := sagas.CompensationStarted{Step: 1, Name: "ship", Reason: "refund"}
	given(t, started, packed, stuck).When(sagas.Compensate{"send:1", 1, "refund"}).Then(turned)
	given(t, started, packed, stuck, turned).When(sagas.Compensate{"send:1", 1, "refund"}).Then()
	given(t, started, packed, stuck, turned).When(sagas.Complete{Key: "send:1", Step: 1}).Then(sagas.StepUndone{1, "ship"})
	given(t, started, packed, stuck, turned, sagas.StepUndone{1, "ship"}).When(sagas.Complete{Key: "send:1", Step: 0}).
		Then(sagas.StepUndone{0, "pack"})
	given(t, started, packed, shipped).When(sagas.Compensate{"send:1", 1, "refund"}).ThenRefused(domain.Conflict, "The run is over.")

	back := sagas.Decider.Replay(started, packed, stuck, turned, sagas.StepUndone{1, "ship"}, sagas.StepUndone{0, "pack"})
	if back.Status != sagas.StatusUndone || !back.Over() {
		t.Errorf("got %+v", back)
	}
	if none := sagas.Decider.Replay(started, sagas.CompensationStarted{Step: -1, Name: "pack"}); none.Status != sagas.StatusUndone {
		t.Errorf("nothing was done, so nothing is to be taken back: %+v", none)
	}
}

func TestAnOperatorsCorrectionsArePartOfTheInput(t *testing.T) {
	r := sagas.Decider.Replay(started, packed, stuck, sagas.Retried{
		Step: 1, Name: "ship", Corrections: map[string]string{"parcel": "9"}, Input: json.RawMessage(`{"parcel":9}`),
	})
	if string(r.Input) != `{"parcel":9}` || r.Status != sagas.StatusReady {
		t.Errorf("got %+v", r)
	}
}

func TestTheBackOffGrowsToItsCapAndHasAFloor(t *testing.T) {
	for n := 1; n < 100; n++ {
		if d := sagas.BackOff(3, 10, 1000, n); d < 3 || d > 1000 || n < 7 && d > 10<<(n-1) {
			t.Fatalf("attempt %d: %d", n, d)
		}
	}
}

func TestWhatIsKeptOfAnErrorHasNoAddressesAndNoTokens(t *testing.T) { // C-7, V11
	text := sagas.Scrub(
		domain.Fail(domain.Unknown, "x", errTold("mail to ana@example.com with token 7Yt0hVn2kq5Zp9Wc3Rj8Lx1Bd6Fg4Hs0Am2Qe5Ui refused")),
	)
	if text != "unknown failure (x): mail to <address> with token <token> refused" {
		t.Errorf("got %q", text)
	}
}

type errTold string

func (e errTold) Error() string { return string(e) }

func TestWhatWasOnceWrittenReadsForEver(t *testing.T) {
	input := json.RawMessage(`{"order":"6f1c0d6e-0000-4000-8000-00000000000a","type":"hosting","user":5,"tenant":17}`)
	domaintest.Golden(t, sagas.EventTypes,
		sagas.Started{
			Key: "provision:6f1c", Definition: "provision/1", Steps: places, Input: input,
			Order: uuid.MustParse("6f1c0d6e-0000-4000-8000-00000000000a"),
		},
		sagas.StepCompleted{Step: 2, Name: "tenant.engine", External: "9", Found: true, Input: input},
		sagas.StepUndone{Step: 2, Name: "tenant.engine"},
		sagas.StepSkipped{Step: 4, Name: "site", External: "12", Reason: "made by hand", Input: input},
		sagas.Deferred{Step: 5, Name: "welcome", Code: "unanswered"},
		sagas.EffectLost{Step: 4, Name: "site", At: "site.ready"},
		sagas.Superseded{Step: 0, Name: "push"},
		sagas.Parked{Step: 4, Name: "site", Code: "name_taken"},
		sagas.Retried{
			Step: 4, Name: "site", Reason: "another name", Corrections: map[string]string{"domain": "b.example.com"}, Input: input,
		},
		sagas.Paused{Reason: "maintenance"},
		sagas.Resumed{Reason: "maintenance is over"},
		sagas.CompensationStarted{Step: 4, Name: "site", Reason: "refund"},
		sagas.LeaseReleased{Reason: "the worker hangs"},
	)
}
