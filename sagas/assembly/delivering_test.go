package assembly_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

func TestAMessageIsDeliveredOnceAndSigned(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	first := w.listens(1, 17)
	w.goes()
	id := w.sends(1, 17)
	w.delivered(id, webhook.Succeeded)
	got := r.heard(urlOf(1))
	if len(got) != 1 || len(got[0].secrets) != 1 || string(got[0].secrets[0]) != string(first) || got[0].message.ID != "message-"+id.String() {
		t.Errorf("%+v", got)
	}

	_, err := w.Notify.Endpoints().Rotate(t.Context(), domain.Metadata{Actor: "user:1"}, 1)
	w.must(err)
	w.asks(webhook.Redeliver{ID: id, By: 1})
	w.eventually("it is delivered again", func() bool { return len(r.heard(urlOf(1))) == 2 })
	w.delivered(id, webhook.Succeeded)
	again := r.heard(urlOf(1))[1]
	if len(again.secrets) != 2 || string(again.secrets[1]) != string(first) || again.message.ID != got[0].message.ID || string(again.message.Body()) != string(got[0].message.Body()) {
		t.Errorf("%+v", again)
	}
	w.equal("events", w.often(webhook.DeliveryStream(id), "webhook.delivered"), 2)
}

func TestWhatAnEndpointDoesNotTakeIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.listens(1, 17)
	r.answers(urlOf(1), func(_ context.Context, nth int) (int, error) {
		switch nth {
		case 1:
			return busy(500)
		case 2:
			return 0, domain.Fail(domain.Unknown, "timeout", errors.New("the endpoint did not answer"))
		}
		return 204, nil
	})
	w.goes()
	id := w.sends(1, 17)
	w.delivered(id, webhook.Succeeded)
	w.equal("attempts", w.delivery(id).Attempts, 3)
	history, err := w.store.Read(t.Context(), webhook.DeliveryStream(id))
	w.must(err)
	for i, want := range []string{"status_500", "timeout"} {
		if e := history[1+i].Event.(webhook.DeliveryAttempted); e.Code != want || !e.NextAt.After(e.At) {
			t.Errorf("attempt %d: %+v", i, e)
		}
	}
	for _, one := range r.heard(urlOf(1)) {
		w.equal("message", one.message.ID, "message-"+id.String())
	}
}

func TestADeliveryEndsWhereNothingCanComeOfIt(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	for id := int64(1); id <= 4; id++ {
		w.listens(id, 17)
	}
	r.answers(urlOf(1), func(context.Context, int) (int, error) {
		return 0, domain.Fail(domain.Permanent, "address_refused", errors.New("not one that may be called"))
	})
	off := false
	w.asks(webhook.Change{ID: 2, IsActive: &off})
	w.must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 3))
	w.must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 3))
	w.goes()
	for endpoint, code := range map[int64]string{1: "address_refused", 2: "endpoint_inactive", 3: "endpoint_inactive"} {
		id := w.sends(endpoint, 17)
		w.delivered(id, webhook.Failed)
		history, err := w.store.Read(t.Context(), webhook.DeliveryStream(id))
		w.must(err)
		w.equal("code", history[len(history)-1].Event.(webhook.DeliveryFailed).Code, code)
	}
	w.equal("calls to who is off", len(r.heard(urlOf(2)))+len(r.heard(urlOf(3))), 0)
	w.equal("secrets of who is gone", w.count(`select count(*) from endpoint_secrets where endpoint = 3`), 0)
	gone, _, err := eventstore.Fold(t.Context(), w.store, webhook.Endpoints, webhook.EndpointStream(3))
	w.must(err)
	w.equal("address of who is gone", gone.URL, "")
	w.equal("runs that need a person", w.count(`select count(*) from saga_run where status = 'parked'`), 0)
}

// An endpoint that says 410 is switched off, and its tenant is told.
func TestWhoSaysGoneIsToldNothingMore(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.listens(1, 17)
	w.opens(1, "ana@example.com", "es")
	w.opens(2, "ben@example.com", "en")
	w.asks(account.GrantMembership{User: 1, Tenant: 17, Role: account.Admin, At: noon}, account.GrantMembership{User: 2, Tenant: 17, Role: account.Member, At: noon})
	r.answers(urlOf(1), func(context.Context, int) (int, error) {
		return 410, domain.Fail(domain.Permanent, "gone", errors.New("the endpoint answered 410"))
	})
	w.goes()
	id := w.sends(1, 17)
	w.delivered(id, webhook.Failed)
	w.equal("attempts", w.delivery(id).Attempts, 1)
	endpoint, _, err := eventstore.Fold(t.Context(), w.store, webhook.Endpoints, webhook.EndpointStream(1))
	w.must(err)
	if endpoint.IsActive || endpoint.Disabled != webhook.Gone {
		t.Errorf("%+v", endpoint)
	}
	w.eventually("the administrator is told", func() bool { return len(w.told(1)) == 1 })
	w.equal("told", w.told(1), []string{string(notice.Warning) + ": Se ha desactivado un webhook"})
	w.equal("others are told", len(w.told(2)), 0)
	w.sends(1, 17)
	w.eventually("the next one is given up", func() bool {
		return w.count(`select count(*) from events where name = 'webhook.delivery_failed'`) == 2
	})
	w.equal("calls", len(r.heard(urlOf(1))), 1)
}

func TestAfterThreeDaysADeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newReceivers()
	w := newWorld(t, func(o *assembly.Options) { o.Webhooks = r; o.Times.WebhookBudget = 300 * time.Millisecond })
	w.listens(1, 17)
	r.answers(urlOf(1), func(context.Context, int) (int, error) { return busy(503) })
	w.goes()
	id := w.sends(1, 17)
	w.delivered(id, webhook.Failed)
	history, err := w.store.Read(t.Context(), webhook.DeliveryStream(id))
	w.must(err)
	w.equal("code", history[len(history)-1].Event.(webhook.DeliveryFailed).Code, "gave_up")
	r.answers(urlOf(1), nil)
	w.asks(webhook.Redeliver{ID: id, By: 1})
	w.delivered(id, webhook.Succeeded)
}

// Ten endpoints, of which one hangs with everything that waits for it: the
// others hear of everything at once.
func TestAHangingEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	released := make(chan struct{})
	for id := int64(1); id <= 10; id++ {
		w.listens(id, 100+id%5)
	}
	r.answers(urlOf(1), func(ctx context.Context, _ int) (int, error) {
		select {
		case <-released:
			return 200, nil
		case <-ctx.Done():
			return 0, domain.Fail(domain.Unknown, "timeout", ctx.Err())
		}
	})
	var waiting, others []uuid.UUID
	for range 20 {
		waiting = append(waiting, w.sends(1, 101))
	}
	w.goes()
	for id := int64(2); id <= 10; id++ {
		for range 3 {
			others = append(others, w.sends(id, 100+id%5))
		}
	}
	for _, id := range others {
		w.delivered(id, webhook.Succeeded)
	}
	r.mu.Lock()
	w.equal("calls to who hangs, at once", r.most[urlOf(1)], 2)
	r.mu.Unlock()
	close(released)
	for _, id := range waiting {
		w.delivered(id, webhook.Succeeded)
	}
	w.equal("breakers", w.count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'webhook'`), 0)
}

// A worker dies after the call, so its outcome is unknown. The message is sent once
// more with the same id.
func TestAWorkerThatDiesAfterTheCallSendsTheSameMessageAgain(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.listens(1, 17)
	died := false
	var mu sync.Mutex
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		if p == sagas.Answered && c.Definition == "webhook/1" && !died {
			died = true
			return sagas.ErrKilled
		}
		return nil
	})
	w.goes()
	id := w.sends(1, 17)
	w.delivered(id, webhook.Succeeded)
	got := r.heard(urlOf(1))
	if len(got) != 2 || got[0].message.ID != got[1].message.ID || string(got[0].message.Body()) != string(got[1].message.Body()) {
		t.Errorf("%+v", got)
	}
	w.equal("events", w.often(webhook.DeliveryStream(id), "webhook.delivered"), 1)
}

// All messages to an endpoint respect its Retry-After.
func TestWhoAsksForAPauseGetsIt(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.listens(1, 17)
	const rest = 400 * time.Millisecond
	var mu sync.Mutex
	var asked time.Time
	r.answers(urlOf(1), func(_ context.Context, nth int) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if nth == 1 {
			asked = time.Now()
			return 429, &domain.Failure{Class: domain.Transient, Code: "status_429", RetryAfter: rest, Err: errors.New("the endpoint answered 429")}
		}
		if early := rest - time.Since(asked); early > 0 {
			t.Errorf("called %s too early", early)
		}
		return 200, nil
	})
	w.goes()
	id := w.sends(1, 17)
	w.eventually("it was asked", func() bool { return len(r.heard(urlOf(1))) > 0 })
	other := w.sends(1, 17)
	w.delivered(id, webhook.Succeeded)
	w.delivered(other, webhook.Succeeded)
	w.equal("attempts of the other", w.delivery(other).Attempts, 1)
}

// What is asked for under one secret key is delivered under the next.
func TestAnEndpointThatIsRemovedTakesItsSecretsAlong(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	secret := w.listens(1, 17)
	id := w.sends(1, 17)
	w.goes()
	w.delivered(id, webhook.Succeeded)
	w.must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 1))
	if got := r.heard(urlOf(1)); len(got) != 1 || string(got[0].secrets[0]) != string(secret) {
		t.Errorf("%+v", got)
	}
	if left, err := w.vault().EndpointSecrets(t.Context(), 1); !errors.Is(err, credentials.ErrShredded) {
		t.Errorf("%d secrets are left: %v", len(left), err)
	}
}

func TestTenantsHearWhatBecomesOfTheirOrders(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	tenant := w.provision(id).Job.Tenant
	w.listens(1, tenant, "order.*", "credit_note.*", "tenant.*")
	w.must(w.Payments.Refund(t.Context(), operator, id, nil, "withdrawn"))
	w.becomes(id, order.StatusRefunded)
	said := func() map[string]string {
		all := map[string]string{}
		for _, one := range r.heard(urlOf(1)) {
			all[one.message.Type] = string(one.message.Data)
		}
		return all
	}
	w.eventually("all is told", func() bool { return len(said()) == 2 })
	w.equal("the order", said()["order.refunded"], fmt.Sprintf(`{"kind":"order","order_id":"%[1]s","tenant":%[2]d,"url":"/storefront/api/orders/%[1]s/"}`, id, tenant))
	note := w.text(`select id::text from credit_notes where order_id = $1`, id)
	w.equal("the credit note", said()["credit_note.created"],
		fmt.Sprintf(`{"kind":"credit_note","order_id":"%s","number":"%s","tenant":%d,"url":"/billing/api/v1/credit-notes/%s/"}`,
			id, w.text(`select number from credit_notes where order_id = $1`, id), tenant, note))
}

func TestTenantsHearOfTheirOwnRecordsOnceEach(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	w.pauses("engine:one")
	w.listens(1, 17)
	w.listens(2, 17, "site.deleted", "tenant.*")
	w.listens(3, 18)
	site := hosting.Site{Domain: "example.com", IPAddress: "*", IsActive: true}
	w.asks(hosting.Request{Ref: theSite, Tenant: 17, Spec: site.Fields().Values()})
	w.asks(hosting.Confirm{Ref: theSite, EngineID: 9, Version: 1})
	w.asks(hosting.Confirm{Ref: theSite, EngineID: 9, Observed: field.Values{"document_root": []byte(`"/var/www"`)}}) // news, but active it was before
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"ssl_enabled": []byte("true")}})
	w.asks(hosting.Decline{Ref: theSite, Code: "quota_exceeded"})
	w.asks(hosting.Remove{Ref: theSite}, hosting.Confirm{Ref: theSite})
	w.goes()
	heard := func(id int64) (all []string) {
		for _, one := range r.heard(urlOf(id)) {
			all = append(all, one.message.Type)
		}
		slices.Sort(all)
		return all
	}
	w.eventually("all is told", func() bool { return len(heard(1)) == 5 && len(heard(2)) == 1 })
	w.listens(4, 17) // it came later
	w.repeated()
	w.repeated()
	w.equal("told", heard(1), []string{"site.active", "site.created", "site.deleted", "site.failed", "site.updated"})
	w.equal("told who wants less", heard(2), []string{"site.deleted"})
	w.equal("told another tenant", len(heard(3)), 0)
	w.equal("messages", w.count(`select count(*) from events where name = 'webhook.delivery_requested'`), 6)
	one := r.heard(urlOf(1))[0].message
	w.equal("data", string(one.Data), `{"kind":"site","id":3,"tenant":17,"url":"/hosting/api/rest/sites/3/"}`)
}

func TestNothingOfAnEndpointIsLoggedOrKeptInTheClear(t *testing.T) {
	t.Parallel()
	w, r := listeningWorld(t)
	secret := w.listens(1, 17)
	r.answers(urlOf(1), func(_ context.Context, nth int) (int, error) {
		if nth < 8 { // more than opens a breaker
			return busy(500)
		}
		return 200, nil
	})
	w.goes()
	w.delivered(w.sends(1, 17), webhook.Succeeded)
	kept := w.count(`select count(*) from events e where e::text like '%s3same%' or e::text like '%t1.example%'`) +
		w.count(`select count(*) from saga_attempt a where a::text like '%s3same%' or a::text like '%t1.example%'`) +
		w.count(`select count(*) from effect a where a::text like '%s3same%' or a::text like '%t1.example%'`) +
		w.count(`select count(*) from saga_run a where a::text like '%s3same%' or a::text like '%t1.example%'`)
	w.equal("places where the address stands", kept, 0)
	if said := w.logged.String(); strings.Contains(said, "s3same") || strings.Contains(said, "t1.example") || strings.Contains(said, base64.StdEncoding.EncodeToString(secret)) {
		t.Errorf("logged %s", said)
	}
}
