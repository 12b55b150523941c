package assembly

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Messages to the endpoints of tenants are effects like mails: a run each,
// tried again for three days. That an endpoint hears of something twice is no
// harm, because the message's id tells; that it does not is (docs/webhooks.md,
// "Delivery"; docs/sagas.md, "Webhooks to tenants").
const (
	webhookQueue = "webhook"
)

// deliveriesAtOnce is how many messages all processes deliver at once. Each
// waits for a stranger, so they are many.
const deliveriesAtOnce = 32

// A DeliveryInput says which message is told to which endpoint.
type DeliveryInput struct {
	Delivery uuid.UUID `json:"delivery"`
	Round    int       `json:"round"` // counts the requests to deliver it
	Endpoint int64     `json:"endpoint"`
	Tenant   int64     `json:"tenant"`
}

func (s *Panel) registerDeliveries() {
	s.deliveries = sagas.Register(s.Runner, sagas.Saga[DeliveryInput]{Name: "webhook", Definition: "webhook/1", Steps: []sagas.Step[DeliveryInput]{{
		Name: "deliver", Says: "tell the tenant's endpoint of what has happened", Queue: webhookQueue, Policy: s.policies.deliver, Independent: true,
		Effect: &sagas.Effect[DeliveryInput]{Key: deliveryKey, Prepare: s.deliverCall, Lasting: true, Failed: s.deliveryFailed, Deferred: s.deliveryGivenUp},
	}}})
}

// deliveryKey names a message on its way to an endpoint: another one each time
// that somebody asks for it again.
func deliveryKey(in DeliveryInput) string {
	return "w/" + in.Delivery.String() + "/" + strconv.Itoa(in.Round)
}

// deliveryStarts are the runs that begin with the wish to have a message
// delivered, for the first time or again.
func (s *Panel) deliveryStarts(ctx context.Context, facts []eventstore.RecordedEvent) (starts []eventstore.Start, err error) {
	for i, fact := range facts {
		switch e := fact.Event.(type) {
		case webhook.DeliveryRequested:
			starts = append(starts, s.Starting(i, s.delivering(fact, webhook.Delivery{Endpoint: e.Endpoint, Tenant: e.Tenant, Round: 1})))
		case webhook.RedeliveryRequested:
			d, _, err := eventstore.Fold(ctx, s.store, webhook.Deliveries, fact.Stream)
			if err != nil {
				return nil, err
			}
			d.Round = e.Round
			starts = append(starts, s.Starting(i, s.delivering(fact, d)))
		}
	}
	return starts, nil
}

func (s *Panel) delivering(fact eventstore.RecordedEvent, d webhook.Delivery) sagas.Start {
	job := DeliveryInput{Delivery: uuid.MustParse(fact.Stream.ID), Round: d.Round, Endpoint: d.Endpoint, Tenant: d.Tenant}
	return s.deliveries.Start(deliveryKey(job), job, uuid.Nil)
}

// deliverCall makes a message ready. What the endpoint is comes from its
// history, so a change of it counts from the next attempt on.
func (s *Panel) deliverCall(ctx context.Context, job *DeliveryInput) (sagas.Call, error) {
	if full := s.endpoints.busy(limitsOf(*job)); full > 0 {
		return sagas.Call{}, sagas.TooEarly("endpoint_busy", full)
	}
	endpoint, _, err := eventstore.Fold(ctx, s.store, webhook.Endpoints, webhook.EndpointStream(job.Endpoint))
	if err != nil {
		return sagas.Call{}, err
	}
	if !endpoint.Exists() || !endpoint.IsActive || endpoint.URL == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "endpoint_inactive", errors.New("the endpoint is off, or gone"))
	}
	delivery, _, err := eventstore.Fold(ctx, s.store, webhook.Deliveries, webhook.DeliveryStream(job.Delivery))
	if err != nil {
		return sagas.Call{}, err
	}
	secrets, err := s.vault.EndpointSecrets(ctx, job.Endpoint)
	if errors.Is(err, credentials.ErrShredded) {
		err = domain.Fail(domain.Permanent, "endpoint_inactive", err)
	}
	return sagas.Call{
		Request: map[string]any{"endpoint": job.Endpoint, "message": delivery.Message.ID}, Repeatable: true,
		Do: func(ctx context.Context) (sagas.Result, error) {
			return s.deliver(ctx, *job, endpoint.URL, secrets, delivery.Message)
		},
		Confirmed: func(r sagas.Result) sagas.Work {
			status, _ := strconv.Atoi(r.External) // 0: an operator has settled it
			return sagas.Work{Commands: []domain.Command{webhook.Confirm{ID: job.Delivery, Status: status, At: s.Now()}}}
		},
	}, err
}

// deliver posts a message, if there is room at the endpoint.
func (s *Panel) deliver(ctx context.Context, job DeliveryInput, url string, secrets [][]byte, m webhook.Message) (sagas.Result, error) {
	leave, full := s.endpoints.enter(limitsOf(job))
	if full > 0 {
		return sagas.Result{}, sagas.TooEarly("endpoint_busy", full)
	}
	began := time.Now()
	status, err := s.webhooks.Deliver(ctx, url, secrets, m)
	_, rest := sagas.Classify(err)
	leave(rest)
	if err != nil {
		return sagas.Result{}, &unwelcome{status, time.Since(began), err}
	}
	return sagas.Result{External: strconv.Itoa(status)}, nil
}

// unwelcome is an attempt that the endpoint did not take.
type unwelcome struct {
	status int // of its answer; 0: there was none
	took   time.Duration
	error
}

func (u *unwelcome) Unwrap() error { return u.error }

// deliveryFailed shows the tenant how an attempt ended. That there was no room
// for one shows nobody.
func (s *Panel) deliveryFailed(job DeliveryInput, l sagas.FailedAttempt) []domain.Command {
	u, tried := errors.AsType[*unwelcome](l.Cause)
	if !tried {
		return nil
	}
	return []domain.Command{webhook.Attempted{
		ID: job.Delivery, Status: u.status, Code: l.Code, Took: u.took, At: s.Now(), NextAt: l.Next,
	}}
}

// gaveUp is why a delivery has ended that might have come to something some
// day.
const gaveUp = "gave_up"

// saysGone is the status of an endpoint that wants to hear nothing more.
const saysGone = 410

// deliveryGivenUp ends a delivery. An endpoint that says that it is gone hears
// nothing more.
func (s *Panel) deliveryGivenUp(job DeliveryInput, l sagas.FailedAttempt) sagas.Work {
	commands := s.deliveryFailed(job, l)
	code := l.Code
	if !l.Final {
		code = gaveUp
	}
	commands = append(commands, webhook.Fail{ID: job.Delivery, Code: code, At: s.Now()})
	if u, tried := errors.AsType[*unwelcome](l.Cause); tried && u.status == saysGone {
		commands = append(commands, webhook.Disable{ID: job.Endpoint, Reason: webhook.Gone})
	}
	return sagas.Work{Commands: commands}
}
