package paneltest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
)

func AnEndpoint(id, tenant int64) webhook.Create {
	return webhook.Create{ID: id, Tenant: tenant, URL: "https://hooks.example.com/in", Events: []string{"*"}, IsActive: true}
}

func ADelivery(id uuid.UUID, endpoint, tenant int64, event string) webhook.Request {
	return webhook.Request{ID: id, Endpoint: endpoint, Tenant: tenant, Message: webhook.Message{
		ID: "e-" + id.String(), Type: event, At: time.Now(), Tenant: tenant, Data: []byte(`{}`),
	}}
}

// Hooked gives tenants 1 and 3 an endpoint each. Deliveries are named by their
// status; "foreign" belongs to tenant 3.
func (s *Shop) Hooked(t testing.TB) *Shop {
	t.Helper()
	s.Do(t, AnEndpoint(1, 1), AnEndpoint(3, 3))
	for _, name := range []string{"pending", "delivered", "failed", "foreign"} {
		id, of := uuid.New(), int64(1)
		if name == "foreign" {
			of = 3
		}
		s.Known[name] = id.String()
		commands := []domain.Command{ADelivery(id, of, of, "site.created")}
		switch name {
		case "delivered":
			commands = append(commands, webhook.Attempted{ID: id, Status: 500, Code: "status_500", At: time.Now()}, webhook.Confirm{ID: id, Status: 204, At: time.Now()})
		case "failed":
			commands = append(commands, webhook.Attempted{ID: id, Code: "timeout", At: time.Now()}, webhook.Fail{ID: id, Code: "gave_up", At: time.Now()})
		}
		s.Do(t, commands...)
	}
	if _, err := s.Owner.Exec(t.Context(), `select setval('webhook_endpoint_id', 100)`); err != nil {
		t.Fatal(err)
	}
	return s
}
