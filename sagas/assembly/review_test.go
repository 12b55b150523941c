package assembly

import (
	"testing"
	"time"

	"hostpanel/domain/domaintest"
)

func TestWhatOperatorsAskedForReadsForEver(t *testing.T) {
	noted := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	domaintest.Golden(t, ReviewEventTypes,
		RecheckRequested{Reason: "the customer says that they paid", At: noted},
		WebhookReplayed{Webhook: 7, Provider: "test", Event: "evt_1", Type: "checkout.session.completed", Before: "unmatched", Reason: "the order is there now", At: noted},
		WebhooksReplayed{Filter: map[string]string{"provider": "test", "state": "parked"}, Count: 12, Reason: "the fault is mended", At: noted},
	)
}
