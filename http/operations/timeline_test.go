package operations_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// The chain of what happened tells also what went wrong on the way.
func TestTheTimelineTellsWhatWasTriedInVain(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) *time.Time { m := noon.Add(time.Duration(minutes) * time.Minute); return &m }
	run := operations.Run{
		ID: uuid.New(), Kind: "provision", Steps: []operations.StepRef{{Name: "tenant.engine"}, {Name: "site"}}, Step: 1,
		Status: "waiting",
		Attempts: []operations.Attempt{
			{Step: 0, StartedAt: *at(1), FinishedAt: at(2), Outcome: "retry", ErrorClass: "unknown", Error: "timed out"},
			{Step: 0, StartedAt: *at(3), FinishedAt: at(4), Outcome: "completed"},
			{Step: 1, StartedAt: *at(5), FinishedAt: at(6), Outcome: "retry", ErrorClass: "transient", Error: "busy"},
			{Step: 1, StartedAt: *at(7), FinishedAt: at(8), Outcome: "retry", ErrorClass: "transient", Error: "still busy"},
		},
		Effects: []operations.Effect{{Key: "o/1/site", Step: "site", State: "unknown", Sends: 1, UpdatedAt: *at(9)}},
	}
	detail := operations.OrderDetail{
		Runs: []operations.Run{run},
		Webhooks: []operations.Webhook{{
			ID: 7, Provider: "stripe", EventID: "evt_1", Type: "checkout.session.completed",
			State: "done", ReceivedAt: noon,
		}},
		Events: []operations.RecordedEvent{
			{
				Position: 41, Stream: domain.Stream{Category: "order", ID: "1"}, RecordedAt: noon,
				Name: "order.provisioning_started", Actor: "system:provision", Event: order.ProvisioningStarted{At: noon},
			},
			{
				Position: 42, Stream: run.Stream(), RecordedAt: *at(4), Name: "saga.step_completed", Actor: "system:provision",
				Event: sagas.StepCompleted{Step: 0, Name: "tenant.engine", External: "9", Found: true},
			},
		},
	}
	var got []string
	for _, h := range detail.Timeline() {
		got = append(got, h.Text)
	}
	want := []string{
		"setup starts",
		"webhook evt_1 of stripe came, checkout.session.completed: the order was looked at",
		"provision: done: tenant.engine, made 9 (it was there already), at attempt 2: 1 gave no answer, found by look-up",
		"provision: site failed 2 times, lastly: still busy",
		"provision: site may have been done: its answer was lost",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
