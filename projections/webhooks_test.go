package projections

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
)

func endpoint(id, tenant int64) webhook.Create {
	return webhook.Create{
		ID: id, Tenant: tenant, URL: fmt.Sprintf("https://hooks%d.example.com/in?token=s3", id),
		Events: []string{"site.*"}, IsActive: true,
	}
}

func delivery(id uuid.UUID, to int64, event string) webhook.Request {
	return webhook.Request{
		ID: id, Endpoint: to, Tenant: to,
		Message: webhook.Message{ID: id.String(), Type: event, At: noon, Tenant: to, Data: []byte(`{}`)},
	}
}

// hook is something that happens to an endpoint or to a delivery.
func (h *history) hook() domain.Command {
	id, of, on := h.uuid(), 1+h.chance.Int64N(6), h.flip()
	switch h.chance.IntN(12) {
	case 0, 1:
		return endpoint(of, 1+of%3)
	case 2:
		url := "https://hooks.example.com/" + h.uuid().String()
		return webhook.Change{ID: of, URL: &url, IsActive: &on}
	case 3:
		return webhook.Change{ID: of, Events: []string{"*"}}
	case 4:
		return webhook.Rotate{ID: of}
	case 5:
		return webhook.Disable{ID: of, Reason: webhook.Gone}
	case 6, 7:
		return delivery(id, of, []string{"site.created", webhook.TestEvent}[h.chance.IntN(2)])
	case 8:
		return webhook.Attempted{ID: id, Status: 500, Code: "http_500", At: h.at(), NextAt: h.at()}
	case 9:
		return webhook.Confirm{ID: id, Status: 200, At: h.at()}
	case 10:
		return webhook.Fail{ID: id, Code: "gave_up", At: h.at()}
	default:
		return webhook.Redeliver{ID: id, By: h.id()}
	}
}

func TestATenantReadsItsOwnEndpointsOnly(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, endpoint(1, 5), endpoint(2, 5), endpoint(3, 6))
	off := false
	p.do(t, webhook.Change{ID: 2, IsActive: &off})
	for _, c := range []struct {
		who    Caller
		listed int64
		sees   string
	}{
		{ana, 2, "1 2"},
		{ben, 1, "3"},
		{Caller{User: 9, Superuser: true}, 3, "1 2 3"},
		{Caller{User: 9, Superuser: true, Tenant: 6}, 1, "1 2 3"},
		{Caller{User: 9}, 0, ""},
	} {
		found, err := p.For(c.who).Notices().WebhookEndpoints(t.Context(), Listing{})
		if err != nil || found.Count != c.listed {
			t.Errorf("%+v: %+v, %v", c.who, found, err)
		}
		var seen []string
		for id := int64(1); id <= 3; id++ {
			if e, err := p.For(c.who).Notices().WebhookEndpoint(t.Context(), id); err == nil {
				seen = append(seen, fmt.Sprint(e.ID))
			} else if err.Error() != "No WebhookEndpoint matches the given query." {
				t.Error(err)
			}
		}
		if got := strings.Join(seen, " "); got != c.sees {
			t.Errorf("%+v sees %s", c.who, got)
		}
	}
	heard, err := p.For(System).Notices().Listening(t.Context(), 5)
	if err != nil || len(heard) != 1 || heard[0].ID != 1 || !heard[0].Wants("site.created") || heard[0].Wants("order.active") {
		t.Errorf("%+v, %v", heard, err)
	}
	if heard, err := p.For(ben).Notices().Listening(t.Context(), 5); err != nil || len(heard) != 0 {
		t.Errorf("%+v, %v", heard, err)
	}
}

func TestADeliveryIsSeenAsFarAsItIs(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	id := uuid.New()
	seen := func(want string) {
		t.Helper()
		d, err := p.For(ana).Notices().WebhookDelivery(t.Context(), 5, id)
		if err != nil {
			t.Fatal(err)
		}
		status := int64(0)
		if d.ResponseStatus != nil {
			status = *d.ResponseStatus
		}
		if got := fmt.Sprintf(
			"%s %d %d %s %v %v", d.Status, d.Attempts, status, d.Error, d.NextAttemptAt != nil, d.DeliveredAt != nil,
		); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	p.do(t, endpoint(5, 5), delivery(id, 5, "site.created"))
	seen("pending 0 0  true false")
	p.do(t, webhook.Attempted{ID: id, Status: 503, Code: "http_503", At: noon, NextAt: noon.Add(time.Minute)})
	seen("pending 1 503 http_503 true false")
	p.do(t, webhook.Attempted{ID: id, Code: "timeout", At: noon})
	seen("pending 2 0 timeout false false")
	p.do(t, webhook.Fail{ID: id, Code: "gave_up", At: noon})
	seen("failed 2 0 gave_up false false")
	p.do(t, webhook.Redeliver{ID: id, By: 1})
	seen("pending 2 0 gave_up true false")
	p.do(t, webhook.Confirm{ID: id, Status: 204, At: noon})
	seen("delivered 3 204  false true")
	for _, who := range []Caller{ben, {User: 1}} {
		if _, err := p.For(who).Notices().WebhookDelivery(t.Context(), 5, id); domain.CodeOf(err) != domain.NotFound {
			t.Errorf("%+v: %v", who, err)
		}
		if found, err := p.For(who).Notices().WebhookDeliveries(t.Context(), 5, Listing{}); err != nil || found.Count != 0 {
			t.Errorf("%+v: %+v %v", who, found, err)
		}
	}
	if _, err := p.For(ana).Notices().WebhookDelivery(t.Context(), 6, id); domain.CodeOf(err) != domain.NotFound {
		t.Error(err)
	}
}

func TestNoTenantHasMoreEndpointsThanItMayHoweverManyAskAtOnce(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	var all sync.WaitGroup
	made, refused := make(chan int64, 25), make(chan error, 25)
	for id := range int64(25) {
		all.Go(func() {
			if err := p.try(t, endpoint(id+1, 5)); err != nil {
				refused <- err
				return
			}
			made <- id + 1
		})
	}
	all.Wait()
	if len(made) != webhook.MaxEndpoints || len(refused) != 15 {
		t.Fatalf("%d were made and %d refused", len(made), len(refused))
	}
	for range 15 {
		var refusal *domain.Error
		if err := <-refused; !errors.As(err, &refusal) || refusal.Reason != "quota_exceeded" ||
			refusal.Message != "Limit reached: webhook_endpoints (10 of 10)." {
			t.Error(err)
		}
	}
	if n := p.count(t, `select count(*) from webhook_endpoints`); n != webhook.MaxEndpoints {
		t.Errorf("there are %d", n)
	}
	p.do(t, endpoint(99, 6), webhook.Remove{ID: <-made}, endpoint(100, 5))
}

func TestThereIsOneTestMessageAtATime(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	first, second := uuid.New(), uuid.New()
	p.do(t, endpoint(5, 5), delivery(first, 5, webhook.TestEvent))
	p.refused(t, "", "A test message is already on its way.", delivery(second, 5, webhook.TestEvent))
	p.do(
		t, delivery(uuid.New(), 6, webhook.TestEvent), webhook.Fail{ID: first, Code: "gave_up", At: noon},
		delivery(second, 5, webhook.TestEvent),
	)
	p.refused(t, "", "A test message is already on its way.", webhook.Redeliver{ID: first})
}

// What the log keeps of an address is of no use to who reads the table of the
// log, and to no reader once the endpoint is removed and its key destroyed.
func TestTheLogKeepsTheAddressOfAnEndpointSealed(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, endpoint(5, 5))
	other := "https://elsewhere.example.com/?token=s4"
	p.do(t, webhook.Change{ID: 5, URL: &other})
	if n := p.count(
		t,
		`select count(*) from events where convert_from(convert_to(data::text, 'UTF8'), 'UTF8') ~ 'example.com|token='`,
	); n != 0 {
		t.Errorf("%d facts tell the address", n)
	}
	e, _, err := eventstore.Fold(t.Context(), p.Store, webhook.Endpoints, webhook.EndpointStream(5))
	if err != nil || e.URL != other {
		t.Errorf("%+v, %v", e, err)
	}
	rows := eventstore.EraseRows(webhook.Subject(5))
	if _, err := p.ExecuteWith(t.Context(), domain.Metadata{Actor: "test"}, rows, webhook.Remove{ID: 5}); err != nil {
		t.Fatal(err)
	}
	again := openPanelAt(t, p.owner.Config().ConnString()) // which remembers no key
	history, err := again.Read(t.Context(), webhook.EndpointStream(5))
	if err != nil || len(history) != 3 {
		t.Fatal(history, err)
	}
	for _, r := range history {
		if strings.Contains(fmt.Sprintf("%+v", r.Event), "example.com") {
			t.Errorf("%s still tells the address", r.Name)
		}
	}
	if err := All.rebuild(t.Context(), again.owner, again.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	if n := p.count(t, `select count(*) from webhook_endpoints`); n != 0 {
		t.Errorf("%d endpoints are back", n)
	}
}

func TestDeliveriesAreShownForThirtyDays(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	over, recent, pending := uuid.New(), uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{over, recent, pending} {
		p.do(t, delivery(id, 5, "site.created"))
	}
	p.do(t, webhook.Confirm{ID: over, Status: 200, At: noon}, webhook.Confirm{ID: recent, Status: 200, At: noon})
	if _, err := p.owner.Exec(
		t.Context(), `update webhook_deliveries set created_at = now() - interval '31 days' where id <> $1`, recent,
	); err != nil {
		t.Fatal(err)
	}
	if err := p.SweepDeliveries(t.Context(), 30*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uuid.UUID]bool{over: false, recent: true, pending: true} {
		_, err := p.For(System).Notices().WebhookDelivery(t.Context(), 5, id)
		if (err == nil) != want {
			t.Error(id, err)
		}
	}
	p.do(t, webhook.Redeliver{ID: over, By: 1}) // the log knows it still
}
