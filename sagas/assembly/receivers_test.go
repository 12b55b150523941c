package assembly_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/sagas/assembly"
)

// receivers are the programs of tenants, behind their URLs.
type receivers struct {
	mu     sync.Mutex
	got    []received
	does   map[string]func(ctx context.Context, nth int) (int, error) // by URL; missing: 200
	inside map[string]int
	most   map[string]int // calls at a time
}

type received struct {
	url     string
	secrets [][]byte
	message webhook.Message
}

func newReceivers() *receivers {
	return &receivers{does: map[string]func(context.Context, int) (int, error){}, inside: map[string]int{}, most: map[string]int{}}
}

func (r *receivers) Deliver(ctx context.Context, url string, secrets [][]byte, m webhook.Message) (int, error) {
	r.mu.Lock()
	r.got = append(r.got, received{url, secrets, m})
	nth, does := len(r.at(url)), r.does[url]
	r.inside[url]++
	r.most[url] = max(r.most[url], r.inside[url])
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.inside[url]--
		r.mu.Unlock()
	}()
	if does != nil {
		return does(ctx, nth)
	}
	return 200, nil
}

// at is what has arrived at a URL. Call it with the lock.
func (r *receivers) at(url string) (all []received) {
	for _, one := range r.got {
		if one.url == url {
			all = append(all, one)
		}
	}
	return all
}

func (r *receivers) heard(url string) []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at(url)
}

func (r *receivers) answers(url string, does func(ctx context.Context, nth int) (int, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.does[url] = does
}

// busy answers with a status that is tried again.
func busy(status int) (int, error) {
	return status, domain.Fail(domain.Transient, fmt.Sprintf("status_%d", status), errors.New("the endpoint answered otherwise"))
}

// listeningWorld has receivers behind the endpoints of tenants.
func listeningWorld(t *testing.T) (*world, *receivers) {
	t.Helper()
	r := newReceivers()
	w := newWorld(t, func(o *assembly.Options) { o.Webhooks = r })
	return w, r
}

func urlOf(id int64) string { return fmt.Sprintf("https://t%d.example/hook?token=s3same", id) }

// listens opens an endpoint and answers with its secret.
func (w *world) listens(id, tenant int64, events ...string) []byte {
	w.t.Helper()
	if events == nil {
		events = []string{"*"}
	}
	text, err := w.Notify.Endpoints().Open(w.t.Context(), domain.Metadata{Actor: "user:1"}, webhook.Create{ID: id, Tenant: tenant, URL: urlOf(id), Events: events, IsActive: true})
	w.must(err)
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	w.must(err)
	w.equal("length of the secret", len(secret), 32)
	return secret
}

// sends asks for a message to an endpoint.
func (w *world) sends(endpoint, tenant int64) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.asks(webhook.Request{ID: id, Endpoint: endpoint, Tenant: tenant, Message: webhook.Message{
		ID: "message-" + id.String(), Type: "site.created", At: noon, Tenant: tenant, Data: webhook.Thing{Kind: "site", ID: 3, Tenant: tenant, URL: "/"}.Data(),
	}})
	return id
}

func (w *world) delivery(id uuid.UUID) webhook.Delivery {
	w.t.Helper()
	d, _, err := eventstore.Fold(w.t.Context(), w.store, webhook.Deliveries, webhook.DeliveryStream(id))
	w.must(err)
	return d
}

func (w *world) delivered(id uuid.UUID, status webhook.Status) {
	w.t.Helper()
	w.eventually("the delivery is "+string(status), func() bool { return w.delivery(id).Status == status })
}
