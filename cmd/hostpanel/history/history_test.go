package history

import (
	"encoding/json"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// Who has a trace of a request finds what the request has changed.
func TestAHistoryShowsTheTraceOfTheRequest(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	shown, err := json.Marshal(asLines([]eventstore.RecordedEvent{
		{Event: hosting.Removed{}, Metadata: domain.Metadata{Traceparent: trace}}, {Event: hosting.Removed{}},
	}))
	if err != nil || strings.Count(string(shown), `"traceparent"`) != 1 || !strings.Contains(string(shown), `"traceparent":"`+trace+`"`) {
		t.Errorf("%s: %v", shown, err)
	}
}
