package sagas

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
)

// The facts of a run with two steps, for stories about it.
var (
	places  = []Place{{Name: "pack", Queue: "local"}, {Name: "ship", Queue: "engine:one"}}
	started = Started{Key: "send:1", Def: "send/1", Steps: places, Job: Job{Order: uuid.UUID{1}}, Order: uuid.UUID{1}}
	packed  = StepCompleted{Step: 0, Name: "pack"}
	shipped = StepCompleted{Step: 1, Name: "ship", External: "parcel 7"}
	stuck   = Parked{Step: 1, Name: "ship", Code: "no_van"}
)

func given(t *testing.T, history ...event) *domaintest.Story[Run, command, event] {
	return domaintest.Given(t, Decider, history)
}

func TestARunStartsOnce(t *testing.T) { // G-9
	start := Start(started)
	given(t).When(start).Then(started)
	given(t, started).When(start).Then()
	given(t, started, packed, shipped).When(start).Then()
}

func TestARunGoesStepByStep(t *testing.T) {
	job := started.Job
	given(t, started).When(Complete{Key: "send:1", Step: 0, Job: job}).Then(packed)
	given(t, started, packed).When(Complete{Key: "send:1", Step: 1, External: "parcel 7", Job: job}).Then(shipped)
	given(t, started, packed).When(Complete{Key: "send:1", Step: 0, Job: job}).ThenRefused(domain.Conflict, "The run has moved on.")
	given(t, started, packed, shipped).When(Complete{Key: "send:1", Step: 1, Job: job}).ThenRefused(domain.Conflict, "The run has moved on.")

	learnt := job
	learnt.Client = 9
	given(t, started).When(Complete{Key: "send:1", Step: 0, Job: learnt}).Then(StepCompleted{Step: 0, Name: "pack", Learnt: &learnt})
}

func TestAParkedRunWaitsForAPerson(t *testing.T) {
	given(t, started, packed).When(Park{Key: "send:1", Step: 1, Code: "no_van"}).Then(stuck)
	given(t, started, packed, stuck).When(Complete{Key: "send:1", Step: 1}).ThenRefused(domain.Conflict, "The run has moved on.")
	given(t, started, packed, stuck).When(Resume{Key: "send:1", Reason: "a van came"}).Then(Resumed{Step: 1, Name: "ship", Reason: "a van came"})
	given(t, started, packed).When(Resume{Key: "send:1"}).ThenRefused(domain.Conflict, "The run is not parked.")
	given(t, started, packed, stuck).When(Skip{Key: "send:1", Step: 1, External: "parcel 8", Reason: "by hand", Job: started.Job}).
		Then(StepSkipped{Step: 1, Name: "ship", External: "parcel 8", Reason: "by hand"})
	given(t, started, packed, stuck).When(Skip{Key: "send:1", Step: 0}).ThenRefused(domain.Conflict, "The run is not parked at this step.")
}

func TestARunCanBePausedBetweenItsSteps(t *testing.T) {
	given(t, started).When(Pause{"send:1", "holiday"}).Then(Paused{"holiday"})
	given(t, started, Paused{"holiday"}).When(Pause{"send:1", "again"}).Then()
	given(t, started, Paused{"holiday"}).When(Continue{"send:1", "back"}).Then(Continued{"back"})
	given(t, started).When(Continue{"send:1", "back"}).Then()
	given(t, started, packed, stuck).When(Pause{"send:1", "holiday"}).ThenRefused(domain.Conflict, "The run cannot be paused.")
}

func TestATurnedRunGoesBackwards(t *testing.T) {
	turned := Turned{Step: 1, Name: "ship", Reason: "refund"}
	given(t, started, packed, stuck).When(Turn{"send:1", 1, "refund"}).Then(turned)
	given(t, started, packed, stuck, turned).When(Turn{"send:1", 1, "refund"}).Then()
	given(t, started, packed, stuck, turned).When(Complete{Key: "send:1", Step: 1}).Then(StepUndone{1, "ship"})
	given(t, started, packed, stuck, turned, StepUndone{1, "ship"}).When(Complete{Key: "send:1", Step: 0}).Then(StepUndone{0, "pack"})
	given(t, started, packed, shipped).When(Turn{"send:1", 1, "refund"}).ThenRefused(domain.Conflict, "The run is over.")

	back := Decider.Replay(started, packed, stuck, turned, StepUndone{1, "ship"}, StepUndone{0, "pack"})
	if back.Status != Undone || !back.Over() {
		t.Errorf("got %+v", back)
	}
	if none := Decider.Replay(started, Turned{Step: -1, Name: "pack"}); none.Status != Undone {
		t.Errorf("nothing was done, so nothing is to be taken back: %+v", none)
	}
}

func TestAnOperatorsInputIsPartOfTheJob(t *testing.T) {
	r := Decider.Replay(started, packed, stuck, Resumed{Step: 1, Name: "ship", Input: map[string]string{"domain": "b.example", "os_choice": "debian-13"}})
	if r.Job.Domain != "b.example" || r.Job.OS != "debian-13" || r.Status != Ready {
		t.Errorf("got %+v", r)
	}
}

func TestTheBackOffGrowsToItsCapAndHasAFloor(t *testing.T) {
	for n := 1; n < 100; n++ {
		if d := backOff(3, 10, 1000, n); d < 3 || d > 1000 || n < 7 && d > 10<<(n-1) {
			t.Fatalf("attempt %d: %d", n, d)
		}
	}
}

func TestWhatIsKeptOfAnErrorHasNoAddressesAndNoTokens(t *testing.T) { // C-7, V11
	text := scrub(domain.Fail(domain.Unknown, "x", errTold("mail to ana@example.com with token 7Yt0hVn2kq5Zp9Wc3Rj8Lx1Bd6Fg4Hs0Am2Qe5Ui refused")))
	if text != "unknown failure (x): mail to <address> with token <token> refused" {
		t.Errorf("got %q", text)
	}
}

type errTold string

func (e errTold) Error() string { return string(e) }

func TestWhatWasOnceWrittenReadsForEver(t *testing.T) {
	noted := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	job := Job{
		Order: uuid.MustParse("6f1c0d6e-0000-4000-8000-00000000000a"), Type: "hosting", User: 5, Opened: true, Tenant: 17, Site: 3, VM: 77, Client: 9,
		Domain: "ana.example.com", OS: "debian-12", Effect: "o/6f1c0d6e-0000-4000-8000-00000000000a/welcome",
	}
	domaintest.Golden(t, Facts,
		Started{Key: "provision:6f1c", Def: "provision/1", Steps: places, Job: job, Order: job.Order},
		StepCompleted{Step: 2, Name: "tenant.engine", External: "9", Found: true, Learnt: &job},
		StepUndone{Step: 2, Name: "tenant.engine"},
		StepSkipped{Step: 4, Name: "site", External: "12", Reason: "made by hand", Learnt: &job},
		Deferred{Step: 5, Name: "welcome", Code: "unanswered"},
		Parked{Step: 4, Name: "site", Code: "name_taken"},
		Resumed{Step: 4, Name: "site", Reason: "another name", Input: map[string]string{"domain": "b.example.com"}},
		Paused{Reason: "maintenance"},
		Continued{Reason: "maintenance is over"},
		Turned{Step: 4, Name: "site", Reason: "refund"},
		Released{Reason: "the worker hangs"},
		RecheckRequested{Reason: "the customer says that they paid", At: noted},
		WebhookReplayed{Webhook: 7, Provider: "test", Event: "evt_1", Type: "checkout.session.completed", Before: "unmatched", Reason: "the order is there now", At: noted},
		WebhooksReplayed{Filter: map[string]string{"provider": "test", "state": "parked"}, Count: 12, Reason: "the fault is mended", At: noted},
	)
}
