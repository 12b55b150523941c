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
	parked = operations.Trouble{Kind: operations.WebhookParked, Subject: "7", About: map[string]string{"webhook": "7", "provider": "stripe"}}

	reported = operations.IncidentReported{Kind: operations.WebhookParked, About: parked.About, At: noon}
	settled  = operations.IncidentSettled{Reason: "replayed", At: noon}
)

func given(t *testing.T, history ...operations.IncidentEvent) *domaintest.Story[operations.Incident, operations.IncidentCommand, operations.IncidentEvent] {
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
		reported, settled,
		operations.RecheckRequested{Reason: "the customer says that they paid", At: noon},
		operations.WebhookReplayed{
			Webhook: 7, Provider: "test", Event: "evt_1", Type: "checkout.session.completed", Before: "unmatched", Reason: "the order is there now", At: noon,
		},
		operations.WebhooksReplayed{Filter: map[string]string{"provider": "test", "state": "parked"}, Count: 12, Reason: "the fault is mended", At: noon},
		operations.RunsRebuilt{Count: 3, Reason: "rows were lost", At: noon},
	)
}
