package notices

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/notices/endpointlimiter"
)

// A message to an endpoint of a tenant is an effect like a mail: one run, tried
// again for three days. It arrives at least once, and its id shows a repetition
// (docs/webhooks.md, "Delivery"; docs/sagas.md, "Webhooks to tenants").

const webhookQueue = "webhook"

// deliveriesAtOnce is how many messages all processes deliver at once. Each
// waits for another party's server, so they are many.
const deliveriesAtOnce = 32

// A DeliveryInput says which message is told to which endpoint.
type DeliveryInput struct {
	Delivery uuid.UUID `json:"delivery"`
	Round    int       `json:"round"` // counts the requests to deliver it
	Endpoint int64     `json:"endpoint"`
	Tenant   int64     `json:"tenant"`
}

// A publisher sends messages to the endpoints of tenants.
type publisher struct {
	runner     *sagas.Runner
	store      *eventstore.Store
	vault      *credentials.Vault
	tables     *projections.Tables
	webhooks   Webhooks
	customer   func(context.Context, uuid.UUID) (Customer, error)
	times      Times
	deliveries sagas.Definition[DeliveryInput]
	limiter    *endpointlimiter.Limiter
}

// registerWebhooks registers the saga, reaction and sweep of webhooks with the
// runner.
func registerWebhooks(d Deps) {
	p := &publisher{
		runner: d.Runner, store: d.Store, vault: d.Vault, tables: d.Tables, webhooks: d.Webhooks, customer: d.Customer,
		times: d.Times, limiter: endpointlimiter.New(),
	}
	p.runner.AddQueue(webhookQueue, deliveriesAtOnce)
	p.deliveries = sagas.Register(p.runner, sagas.Saga[DeliveryInput]{
		Name: "webhook", Definition: "webhook/1",
		Steps: []sagas.Step[DeliveryInput]{{
			Name: "deliver", Says: "tell the tenant's endpoint of what has happened", Queue: webhookQueue,
			Policy: deliveryPolicy(p.runner.Times(), d.Times), Independent: true,
			Effect: &sagas.Effect[DeliveryInput]{
				Key: deliveryKey, Prepare: p.deliverCall, Lasting: true, Failed: p.deliveryFailed,
				Deferred: p.deliveryGivenUp,
			},
		}},
	})
	p.runner.OnAppend(p.deliveryStarts)
	p.runner.OnEvent(p.react, slices.Collect(maps.Keys(webhookEvents))...)
	p.runner.EachRound("deliveries were not swept", func(ctx context.Context) error {
		return p.tables.SweepDeliveries(ctx, p.times.KeepDeliveries)
	})
}

// deliveryKey names a message on its way to an endpoint. Each request to deliver
// it again has its own.
func deliveryKey(in DeliveryInput) string {
	return "w/" + in.Delivery.String() + "/" + strconv.Itoa(in.Round)
}

// deliveryStarts are the runs that deliver messages, for the first time or again.
func (p *publisher) deliveryStarts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(p.runner, events, func(r eventstore.RecordedEvent) (sagas.Start, bool, error) {
		switch e := r.Event.(type) {
		case webhook.DeliveryRequested:
			return p.deliveryRun(r, webhook.Delivery{Endpoint: e.Endpoint, Tenant: e.Tenant}, 1), true, nil
		case webhook.RedeliveryRequested:
			d, _, err := eventstore.Fold(ctx, p.store, webhook.Deliveries, r.Stream)
			return p.deliveryRun(r, d, e.Round), true, err
		}
		return sagas.Start{}, false, nil
	})
}

func (p *publisher) deliveryRun(r eventstore.RecordedEvent, d webhook.Delivery, round int) sagas.Start {
	job := DeliveryInput{Delivery: uuid.MustParse(r.Stream.ID), Round: round, Endpoint: d.Endpoint, Tenant: d.Tenant}
	return p.deliveries.Start(deliveryKey(job), job, uuid.Nil)
}

// deliverCall prepares a message. The endpoint is read from its stream, so a
// change of it counts from the next attempt on.
func (p *publisher) deliverCall(ctx context.Context, job *DeliveryInput) (sagas.Call, error) {
	if full := p.limiter.Busy(endpointlimiter.Limits(job.Endpoint, job.Tenant)); full > 0 {
		return sagas.Call{}, sagas.TooEarly("endpoint_busy", full)
	}
	endpoint, _, err := eventstore.Fold(ctx, p.store, webhook.Endpoints, webhook.EndpointStream(job.Endpoint))
	if err != nil {
		return sagas.Call{}, err
	}
	if !endpoint.Exists() || !endpoint.IsActive || endpoint.URL == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "endpoint_inactive", errors.New("the endpoint is off, or gone"))
	}
	delivery, _, err := eventstore.Fold(ctx, p.store, webhook.Deliveries, webhook.DeliveryStream(job.Delivery))
	if err != nil {
		return sagas.Call{}, err
	}
	secrets, err := p.vault.EndpointSecrets(ctx, job.Endpoint)
	if errors.Is(err, credentials.ErrShredded) {
		err = domain.Fail(domain.Permanent, "endpoint_inactive", err)
	}
	return sagas.Call{
		Request: map[string]any{"endpoint": job.Endpoint, "message": delivery.Message.ID}, Repeatable: true,
		Do: func(ctx context.Context) (sagas.Result, error) {
			return p.deliver(ctx, *job, endpoint.URL, secrets, delivery.Message)
		},
		Confirmed: func(r sagas.Result) sagas.Work {
			status, _ := strconv.Atoi(r.External) // 0: an operator has settled it
			return sagas.Work{Commands: []domain.Command{webhook.Confirm{ID: job.Delivery, Status: status, At: p.runner.Now()}}}
		},
	}, err
}

// deliver posts a message, if there is room at the endpoint.
func (p *publisher) deliver(ctx context.Context, job DeliveryInput, url string, secrets [][]byte, m webhook.Message) (sagas.Result, error) {
	leave, full := p.limiter.Enter(endpointlimiter.Limits(job.Endpoint, job.Tenant))
	if full > 0 {
		return sagas.Result{}, sagas.TooEarly("endpoint_busy", full)
	}
	began := clock.Now()
	status, err := p.webhooks.Deliver(ctx, url, secrets, m)
	_, rest := sagas.Classify(err)
	leave(rest)
	if err != nil {
		return sagas.Result{}, &failedDelivery{status, clock.Since(began), err}
	}
	return sagas.Result{External: strconv.Itoa(status)}, nil
}

// failedDelivery is an attempt that the endpoint did not accept.
type failedDelivery struct {
	status int // of its answer; 0: there was none
	took   time.Duration
	error
}

func (u *failedDelivery) Unwrap() error { return u.error }

// deliveryFailed records how an attempt ended, which the tenant can read. An
// attempt that waited for room is not recorded.
func (p *publisher) deliveryFailed(job DeliveryInput, l sagas.FailedAttempt) []domain.Command {
	u, tried := errors.AsType[*failedDelivery](l.Cause)
	if !tried {
		return nil
	}
	return []domain.Command{webhook.Attempted{
		ID: job.Delivery, Status: u.status, Code: l.Code, Took: u.took, At: p.runner.Now(), NextAt: l.Next,
	}}
}

// gaveUp is the code of a delivery that ended because its time was used up.
const gaveUp = "gave_up"

// deliveryGivenUp ends a delivery. An endpoint that says that it is gone is
// switched off.
func (p *publisher) deliveryGivenUp(job DeliveryInput, l sagas.FailedAttempt) sagas.Work {
	commands := p.deliveryFailed(job, l)
	code := l.Code
	if !l.Final {
		code = gaveUp
	}
	commands = append(commands, webhook.Fail{ID: job.Delivery, Code: code, At: p.runner.Now()})
	if u, tried := errors.AsType[*failedDelivery](l.Cause); tried && u.status == webhook.StatusGone {
		commands = append(commands, webhook.Disable{ID: job.Endpoint, Reason: webhook.Gone})
	}
	return sagas.Work{Commands: commands}
}
