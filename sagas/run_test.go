package sagas

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
)

// The events of a run with two steps.
var (
	places  = []StepRef{{Name: "pack", Queue: "local"}, {Name: "ship", Queue: "engine:one"}}
	started = Started{Key: "send:1", Definition: "send/1", Steps: places, Input: json.RawMessage(`{"parcel":7}`), Order: uuid.UUID{1}}
	packed  = StepCompleted{Step: 0, Name: "pack"}
	shipped = StepCompleted{Step: 1, Name: "ship", External: "parcel 7"}
	stuck   = Parked{Step: 1, Name: "ship", Code: "no_van"}
)

func given(t *testing.T, history ...event) *domaintest.Story[Run, Command, event] {
	return domaintest.Given(t, Decider, history)
}

func TestARunStartsOnce(t *testing.T) { // G-9
	start := Start(started)
	given(t).When(start).Then(started)
	given(t, started).When(start).Then()
	given(t, started, packed, shipped).When(start).Then()
}

func TestARunGoesStepByStep(t *testing.T) {
	given(t, started).When(Complete{Key: "send:1", Step: 0}).Then(packed)
	given(t, started, packed).When(Complete{Key: "send:1", Step: 1, External: "parcel 7"}).Then(shipped)
	given(t, started, packed).When(Complete{Key: "send:1", Step: 0}).ThenRefused(domain.Conflict, "The run has moved on.")
	given(t, started, packed, shipped).When(Complete{Key: "send:1", Step: 1}).ThenRefused(domain.Conflict, "The run has moved on.")

	changed := json.RawMessage(`{"parcel":8}`)
	given(t, started).When(Complete{Key: "send:1", Step: 0, Input: changed}).Then(StepCompleted{Step: 0, Name: "pack", Input: changed})
}

func TestAParkedRunWaitsForAPerson(t *testing.T) {
	given(t, started, packed).When(Park{Key: "send:1", Step: 1, Code: "no_van"}).Then(stuck)
	given(t, started, packed, stuck).When(Complete{Key: "send:1", Step: 1}).ThenRefused(domain.Conflict, "The run has moved on.")
	given(t, started, packed, stuck).When(Retry{Key: "send:1", Reason: "a van came"}).Then(
		Retried{Step: 1, Name: "ship", Reason: "a van came"},
	)
	given(t, started, packed).When(Retry{Key: "send:1"}).ThenRefused(domain.Conflict, "The run is not parked.")
	given(t, started, packed, stuck).When(Skip{Key: "send:1", Step: 1, External: "parcel 8", Reason: "by hand"}).
		Then(StepSkipped{Step: 1, Name: "ship", External: "parcel 8", Reason: "by hand"})
	given(t, started, packed, stuck).When(Skip{Key: "send:1", Step: 0}).ThenRefused(domain.Conflict, "The run is not parked at this step.")
}

func TestARunCanBePausedBetweenItsSteps(t *testing.T) {
	given(t, started).When(Pause{"send:1", "holiday"}).Then(Paused{"holiday"})
	given(t, started, Paused{"holiday"}).When(Pause{"send:1", "again"}).Then()
	given(t, started, Paused{"holiday"}).When(Resume{"send:1", "back"}).Then(Resumed{"back"})
	given(t, started).When(Resume{"send:1", "back"}).Then()
	given(t, started, packed, stuck).When(Pause{"send:1", "holiday"}).ThenRefused(domain.Conflict, "The run cannot be paused.")
}

func TestARunThatCompensatesGoesBackwards(t *testing.T) {
	turned := CompensationStarted{Step: 1, Name: "ship", Reason: "refund"}
	given(t, started, packed, stuck).When(Compensate{"send:1", 1, "refund"}).Then(turned)
	given(t, started, packed, stuck, turned).When(Compensate{"send:1", 1, "refund"}).Then()
	given(t, started, packed, stuck, turned).When(Complete{Key: "send:1", Step: 1}).Then(StepUndone{1, "ship"})
	given(t, started, packed, stuck, turned, StepUndone{1, "ship"}).When(Complete{Key: "send:1", Step: 0}).Then(StepUndone{0, "pack"})
	given(t, started, packed, shipped).When(Compensate{"send:1", 1, "refund"}).ThenRefused(domain.Conflict, "The run is over.")

	back := Decider.Replay(started, packed, stuck, turned, StepUndone{1, "ship"}, StepUndone{0, "pack"})
	if back.Status != StatusUndone || !back.Over() {
		t.Errorf("got %+v", back)
	}
	if none := Decider.Replay(started, CompensationStarted{Step: -1, Name: "pack"}); none.Status != StatusUndone {
		t.Errorf("nothing was done, so nothing is to be taken back: %+v", none)
	}
}

func TestAnOperatorsCorrectionsArePartOfTheInput(t *testing.T) {
	r := Decider.Replay(started, packed, stuck, Retried{
		Step: 1, Name: "ship", Corrections: map[string]string{"parcel": "9"}, Input: json.RawMessage(`{"parcel":9}`),
	})
	if string(r.Input) != `{"parcel":9}` || r.Status != StatusReady {
		t.Errorf("got %+v", r)
	}
}

func TestTheBackOffGrowsToItsCapAndHasAFloor(t *testing.T) {
	for n := 1; n < 100; n++ {
		if d := BackOff(3, 10, 1000, n); d < 3 || d > 1000 || n < 7 && d > 10<<(n-1) {
			t.Fatalf("attempt %d: %d", n, d)
		}
	}
}

func TestWhatIsKeptOfAnErrorHasNoAddressesAndNoTokens(t *testing.T) { // C-7, V11
	text := Scrub(
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
	domaintest.Golden(t, EventTypes,
		Started{
			Key: "provision:6f1c", Definition: "provision/1", Steps: places, Input: input,
			Order: uuid.MustParse("6f1c0d6e-0000-4000-8000-00000000000a"),
		},
		StepCompleted{Step: 2, Name: "tenant.engine", External: "9", Found: true, Input: input},
		StepUndone{Step: 2, Name: "tenant.engine"},
		StepSkipped{Step: 4, Name: "site", External: "12", Reason: "made by hand", Input: input},
		Deferred{Step: 5, Name: "welcome", Code: "unanswered"},
		EffectLost{Step: 4, Name: "site", At: "site.ready"},
		Superseded{Step: 0, Name: "push"},
		Parked{Step: 4, Name: "site", Code: "name_taken"},
		Retried{Step: 4, Name: "site", Reason: "another name", Corrections: map[string]string{"domain": "b.example.com"}, Input: input},
		Paused{Reason: "maintenance"},
		Resumed{Reason: "maintenance is over"},
		CompensationStarted{Step: 4, Name: "site", Reason: "refund"},
		LeaseReleased{Reason: "the worker hangs"},
	)
}
