package operations_test

import (
	"slices"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/operations"
)

var (
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	parked = operations.Trouble{
		Kind: operations.WebhookParked, Subject: "7", About: map[string]string{"webhook": "7", "provider": "stripe"},
	}

	reported = operations.IncidentReported{Kind: operations.WebhookParked, About: parked.About, At: noon}
	settled  = operations.IncidentSettled{Reason: "replayed", At: noon}
)

func given(
	t *testing.T, history ...operations.IncidentEvent,
) *domaintest.Story[operations.Incident, operations.IncidentCommand, operations.IncidentEvent] {
	return domaintest.Given(t, operations.Incidents, history)
}

func TestATroubleIsToldOnceUntilItIsSettled(t *testing.T) {
	given(t).When(parked.Report(noon)).Then(reported)
	given(t, reported).When(parked.Report(noon.Add(time.Hour))).Then()
	given(t, reported).When(parked.Settle("replayed", noon)).Then(settled)
	given(t, reported, settled).When(parked.Report(noon)).Then(reported)
}

func TestWhatIsNotOpenNeedsNoSettling(t *testing.T) {
	given(t).When(parked.Settle("replayed", noon)).Then()
	given(t, reported, settled).When(parked.Settle("again", noon)).Then()
}

func TestADifferenceIsAnsweredWithWhatItOffers(t *testing.T) {
	lost := operations.MissingTrouble(5, "site", 7)
	told := operations.IncidentReported{Kind: operations.EngineMissing, About: lost.About, At: noon}
	answer := func(a string) operations.AnswerIncident {
		return operations.AnswerIncident{ID: lost.ID(), Answer: a, Reason: "r", At: noon}
	}
	answered := func(a string) operations.IncidentAnswered {
		return operations.IncidentAnswered{Answer: a, Reason: "r", At: noon}
	}
	given(t, told).When(answer(operations.Remake)).Then(answered(operations.Remake))
	given(t, told, answered(operations.Remake)).When(lost.Report(noon)).Then(told) // it is lost again
	given(t, told).When(answer(operations.Ignore)).Then(answered(operations.Ignore))
	given(t, told, answered(operations.Ignore)).When(answer(operations.Ignore)).Then()
	given(t, told, answered(operations.Ignore)).When(lost.Report(noon)).Then()
	given(t, told, answered(operations.Ignore)).When(answer(operations.Remake)).Then(answered(operations.Remake))
	given(t, told, answered(operations.Ignore)).When(lost.Settle("it is over", noon)).Then(
		operations.IncidentSettled{Reason: "it is over", At: noon},
	)
	given(t, told, answered(operations.Ignore), settled).When(lost.Report(noon)).Then(told)
	given(t, told).When(answer(operations.Adopt)).ThenRefused(domain.Conflict, "This incident has no such answer.")
	given(t, reported).When(answer(operations.Ignore)).ThenRefused(domain.Conflict, "This incident has no such answer.")
	given(t, told, settled).When(answer(operations.Remake)).ThenRefused(domain.Conflict, "The incident is settled.")
	given(t).When(answer(operations.Remake)).ThenRefused(domain.Conflict, "This incident has no such answer.")
}

// A difference in other fields is another incident, so that one that is ignored
// does not hide it.
func TestADifferenceInOtherFieldsIsAnotherIncident(t *testing.T) {
	one, same := operations.ChangedTrouble(5, "site", 7, []string{"b", "a"}), operations.ChangedTrouble(
		5, "site", 7, []string{"a", "b", "a"},
	)
	if other := operations.ChangedTrouble(5, "site", 7, []string{"a"}); one.ID() != same.ID() || one.ID() == other.ID() {
		t.Error(one, same, other)
	}
}

func TestThereAreNoOtherTroubles(t *testing.T) {
	given(t).When(operations.Report{Kind: "weather", At: noon}).ThenRefused(domain.Invalid, `kind: "weather" is not a valid choice.`)
}

func TestEveryTroubleHasAnIncidentOfItsOwn(t *testing.T) {
	other, unmatched := parked, parked
	other.Subject, unmatched.Kind = "8", operations.WebhookUnmatched
	if parked.ID() == other.ID() || parked.ID() == unmatched.ID() {
		t.Error("two troubles share an incident")
	}
	again := operations.Trouble{Kind: parked.Kind, Subject: parked.Subject}
	if again.ID() != parked.ID() {
		t.Error("one trouble has two incidents")
	}
}

func TestEveryEventThatWasEverWrittenCanBeRead(t *testing.T) {
	domaintest.Golden(t, slices.Concat(operations.IncidentEventTypes, operations.ReviewEventTypes),
		reported, settled, operations.IncidentAnswered{Answer: operations.Ignore, Reason: "the customer moves away", At: noon},
		operations.RecheckRequested{Reason: "the customer says that they paid", At: noon},
		operations.WebhookReplayed{
			Webhook: 7, Provider: "test", Event: "evt_1", Type: "checkout.session.completed", Before: "unmatched",
			Reason: "the order is there now", At: noon,
		},
		operations.WebhooksReplayed{
			Filter: map[string]string{"provider": "test", "state": "parked"}, Count: 12, Reason: "the fault is mended",
			At: noon,
		},
		operations.RunsRebuilt{Count: 3, Reason: "rows were lost", At: noon},
	)
}
