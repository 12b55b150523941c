package notices_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas/sagastest"
)

func TestAMessageIsDeliveredOnceAndSigned(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	first := sagastest.Listens(w, 1, 17)
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Succeeded)
	got := r.Heard(sagastest.URLOf(1))
	if len(got) != 1 || len(got[0].Secrets) != 1 || string(got[0].Secrets[0]) != string(first) ||
		got[0].Message.ID != "message-"+id.String() {
		t.Errorf("%+v", got)
	}

	_, err := w.Notify.Endpoints().Rotate(t.Context(), domain.Metadata{Actor: "user:1"}, 1)
	w.Must(err)
	w.Asks(webhook.Redeliver{ID: id, By: 1})
	w.Eventually("it is delivered again", func() bool { return len(r.Heard(sagastest.URLOf(1))) == 2 })
	sagastest.Delivered(w, id, webhook.Succeeded)
	again := r.Heard(sagastest.URLOf(1))[1]
	if len(again.Secrets) != 2 || string(again.Secrets[1]) != string(first) || again.Message.ID != got[0].Message.ID ||
		string(again.Message.Body()) != string(got[0].Message.Body()) {
		t.Errorf("%+v", again)
	}
	w.Equal("events", w.Often(webhook.DeliveryStream(id), "webhook.delivered"), 2)
}

func TestWhatAnEndpointDoesNotTakeIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	sagastest.Listens(w, 1, 17)
	r.Answers(sagastest.URLOf(1), func(_ context.Context, nth int) (int, error) {
		switch nth {
		case 1:
			return sagastest.Answer(500)
		case 2:
			return 0, domain.Fail(domain.Unknown, "timeout", errors.New("the endpoint did not answer"))
		}
		return 204, nil
	})
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Succeeded)
	w.Equal("attempts", sagastest.Delivery(w, id).Attempts, 3)
	history, err := w.Store.Read(t.Context(), webhook.DeliveryStream(id))
	w.Must(err)
	for i, want := range []string{"status_500", "timeout"} {
		if e := history[1+i].Event.(webhook.DeliveryAttempted); e.Code != want || !e.NextAt.After(e.At) {
			t.Errorf("attempt %d: %+v", i, e)
		}
	}
	for _, one := range r.Heard(sagastest.URLOf(1)) {
		w.Equal("message", one.Message.ID, "message-"+id.String())
	}
}

func TestADeliveryEndsWhereNothingCanComeOfIt(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	for id := int64(1); id <= 4; id++ {
		sagastest.Listens(w, id, 17)
	}
	r.Answers(sagastest.URLOf(1), func(context.Context, int) (int, error) {
		return 0, domain.Fail(domain.Permanent, "address_refused", errors.New("not one that may be called"))
	})
	off := false
	w.Asks(webhook.Change{ID: 2, IsActive: &off})
	w.Must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 3))
	w.Must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 3))
	w.Goes()
	for endpoint, code := range map[int64]string{1: "address_refused", 2: "endpoint_inactive", 3: "endpoint_inactive"} {
		id := sagastest.Sends(w, endpoint, 17)
		sagastest.Delivered(w, id, webhook.Failed)
		history, err := w.Store.Read(t.Context(), webhook.DeliveryStream(id))
		w.Must(err)
		w.Equal("code", history[len(history)-1].Event.(webhook.DeliveryFailed).Code, code)
	}
	w.Equal("calls to who is off", len(r.Heard(sagastest.URLOf(2)))+len(r.Heard(sagastest.URLOf(3))), 0)
	w.Equal("secrets of who is gone", w.Count(`select count(*) from endpoint_secrets where endpoint = 3`), 0)
	gone, _, err := eventstore.Fold(t.Context(), w.Store, webhook.Endpoints, webhook.EndpointStream(3))
	w.Must(err)
	w.Equal("address of who is gone", gone.URL, "")
	w.Equal("runs that need a person", w.Count(`select count(*) from saga_run where status = 'parked'`), 0)
}

// An endpoint that says 410 is switched off, and its tenant is told.
func TestWhoSaysGoneIsToldNothingMore(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	sagastest.Listens(w, 1, 17)
	w.Opens(1, "ana@example.com", "es")
	w.Opens(2, "ben@example.com", "en")
	w.Asks(
		account.GrantMembership{User: 1, Tenant: 17, Role: account.Admin, At: sagastest.Noon},
		account.GrantMembership{User: 2, Tenant: 17, Role: account.Member, At: sagastest.Noon},
	)
	r.Answers(sagastest.URLOf(1), func(context.Context, int) (int, error) {
		return 410, domain.Fail(domain.Permanent, "gone", errors.New("the endpoint answered 410"))
	})
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Failed)
	w.Equal("attempts", sagastest.Delivery(w, id).Attempts, 1)
	endpoint, _, err := eventstore.Fold(t.Context(), w.Store, webhook.Endpoints, webhook.EndpointStream(1))
	w.Must(err)
	if endpoint.IsActive || endpoint.Disabled != webhook.Gone {
		t.Errorf("%+v", endpoint)
	}
	w.Eventually("the administrator is told", func() bool { return len(w.Told(1)) == 1 })
	w.Equal("told", w.Told(1), []string{string(notice.Warning) + ": Se ha desactivado un webhook"})
	w.Equal("others are told", len(w.Told(2)), 0)
	sagastest.Sends(w, 1, 17)
	w.Eventually("the next one is given up", func() bool {
		return w.Count(`select count(*) from events where name = 'webhook.delivery_failed'`) == 2
	})
	w.Equal("calls", len(r.Heard(sagastest.URLOf(1))), 1)
}

// What is asked for under one secret key is delivered under the next.
func TestAnEndpointThatIsRemovedTakesItsSecretsAlong(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	secret := sagastest.Listens(w, 1, 17)
	id := sagastest.Sends(w, 1, 17)
	w.Goes()
	sagastest.Delivered(w, id, webhook.Succeeded)
	w.Must(w.Notify.Endpoints().Remove(t.Context(), domain.Metadata{Actor: "user:1"}, 1))
	if got := r.Heard(sagastest.URLOf(1)); len(got) != 1 || string(got[0].Secrets[0]) != string(secret) {
		t.Errorf("%+v", got)
	}
	if left, err := w.Vault().EndpointSecrets(t.Context(), 1); !errors.Is(err, credentials.ErrShredded) {
		t.Errorf("%d secrets are left: %v", len(left), err)
	}
}

func TestTenantsHearOfTheirOwnRecordsOnceEach(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	w.Pauses("engine:one")
	sagastest.Listens(w, 1, 17)
	sagastest.Listens(w, 2, 17, "site.deleted", "tenant.*")
	sagastest.Listens(w, 3, 18)
	site := hosting.Site{Domain: "example.com", IPAddress: "*", IsActive: true}
	w.Asks(hosting.Request{Ref: sagastest.TheSite, Tenant: 17, Spec: site.Fields().Values()})
	w.Asks(hosting.Confirm{Ref: sagastest.TheSite, EngineID: 9, Version: 1})
	// news, but active it was before
	w.Asks(hosting.Confirm{Ref: sagastest.TheSite, EngineID: 9, Observed: field.Values{"document_root": []byte(`"/var/www"`)}})
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"ssl_enabled": []byte("true")}})
	w.Asks(hosting.Decline{Ref: sagastest.TheSite, Code: "quota_exceeded"})
	w.Asks(hosting.Remove{Ref: sagastest.TheSite}, hosting.Confirm{Ref: sagastest.TheSite})
	w.Goes()
	heard := func(id int64) (all []string) {
		for _, one := range r.Heard(sagastest.URLOf(id)) {
			all = append(all, one.Message.Type)
		}
		slices.Sort(all)
		return all
	}
	w.Eventually("all is told", func() bool { return len(heard(1)) == 5 && len(heard(2)) == 1 })
	sagastest.Listens(w, 4, 17) // it came later
	w.Repeated()
	w.Repeated()
	w.Equal("told", heard(1), []string{"site.active", "site.created", "site.deleted", "site.failed", "site.updated"})
	w.Equal("told who wants less", heard(2), []string{"site.deleted"})
	w.Equal("told another tenant", len(heard(3)), 0)
	w.Equal("messages", w.Count(`select count(*) from events where name = 'webhook.delivery_requested'`), 6)
	one := r.Heard(sagastest.URLOf(1))[0].Message
	w.Equal("data", string(one.Data), `{"kind":"site","id":3,"tenant":17,"url":"/hosting/api/rest/sites/3/"}`)
}
