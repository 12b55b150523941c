package sagastest

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

// Endpoints are the programs of tenants, behind their URLs.
type Endpoints struct {
	Mu     sync.Mutex
	got    []Receipt
	does   map[string]func(ctx context.Context, nth int) (int, error) // by URL; missing: 200
	inside map[string]int
	Most   map[string]int // calls at a time
}

// A Receipt is one message as an endpoint got it.
type Receipt struct {
	url     string
	Secrets [][]byte
	Message webhook.Message
}

// NewEndpoints are endpoints that take everything.
func NewEndpoints() *Endpoints {
	return &Endpoints{does: map[string]func(context.Context, int) (int, error){}, inside: map[string]int{}, Most: map[string]int{}}
}

// Deliver takes a message.
func (r *Endpoints) Deliver(ctx context.Context, url string, secrets [][]byte, m webhook.Message) (int, error) {
	r.Mu.Lock()
	r.got = append(r.got, Receipt{url, secrets, m})
	nth, does := len(r.at(url)), r.does[url]
	r.inside[url]++
	r.Most[url] = max(r.Most[url], r.inside[url])
	r.Mu.Unlock()
	defer func() {
		r.Mu.Lock()
		r.inside[url]--
		r.Mu.Unlock()
	}()
	if does != nil {
		return does(ctx, nth)
	}
	return 200, nil
}

// at is what has arrived at a URL. Call it with the lock.
func (r *Endpoints) at(url string) (all []Receipt) {
	for _, one := range r.got {
		if one.url == url {
			all = append(all, one)
		}
	}
	return all
}

// Heard are the messages at an address.
func (r *Endpoints) Heard(url string) []Receipt {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.at(url)
}

// Answers sets what an address answers.
func (r *Endpoints) Answers(url string, does func(ctx context.Context, nth int) (int, error)) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.does[url] = does
}

// Answer answers with a status that is tried again.
func Answer(status int) (int, error) {
	return status, domain.Fail(domain.Transient, fmt.Sprintf("status_%d", status), errors.New("the endpoint answered otherwise"))
}

// ListeningWorld has receivers behind the endpoints of tenants.
func ListeningWorld(t *testing.T) (*World, *Endpoints) {
	t.Helper()
	r := NewEndpoints()
	w := NewWorld(t, func(o *assembly.Options) { o.Webhooks = r })
	return w, r
}

// URLOf is the address of an endpoint.
func URLOf(id int64) string { return fmt.Sprintf("https://t%d.example/hook?token=s3same", id) }

// Listens opens an endpoint and answers with its secret.
func Listens(w *World, id, tenant int64, events ...string) []byte {
	w.T.Helper()
	if events == nil {
		events = []string{"*"}
	}
	text, err := w.Notify.Endpoints().Open(
		w.T.Context(), domain.Metadata{Actor: "user:1"},
		webhook.Create{ID: id, Tenant: tenant, URL: URLOf(id), Events: events, IsActive: true},
	)
	w.Must(err)
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	w.Must(err)
	w.Equal("length of the secret", len(secret), 32)
	return secret
}

// Sends asks for a message to an endpoint.
func Sends(w *World, endpoint, tenant int64) uuid.UUID {
	w.T.Helper()
	id := uuid.New()
	w.Asks(webhook.Request{ID: id, Endpoint: endpoint, Tenant: tenant, Message: webhook.Message{
		ID: "message-" + id.String(), Type: "site.created", At: Noon, Tenant: tenant,
		Data: webhook.Thing{Kind: "site", ID: 3, Tenant: tenant, URL: "/"}.Data(),
	}})
	return id
}

// Delivery is a message as the log has it.
func Delivery(w *World, id uuid.UUID) webhook.Delivery {
	w.T.Helper()
	d, _, err := eventstore.Fold(w.T.Context(), w.Store, webhook.Deliveries, webhook.DeliveryStream(id))
	w.Must(err)
	return d
}

// Delivered waits until a delivery has a status.
func Delivered(w *World, id uuid.UUID, status webhook.Status) {
	w.T.Helper()
	w.Eventually("the delivery is "+string(status), func() bool { return Delivery(w, id).Status == status })
}
