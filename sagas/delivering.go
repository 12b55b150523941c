package sagas

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Messages to the endpoints of tenants are effects like mails: a run each,
// tried again for three days. That an endpoint hears of something twice is no
// harm, because the message's id tells; that it does not is (docs/webhooks.md,
// "Delivery"; docs/sagas.md, "Webhooks to tenants").
const (
	webhookDef   = "webhook/1"
	webhookQueue = "webhook"
)

// deliveriesAtOnce is how many messages all processes deliver at once. Each
// waits for a stranger, so they are many.
const deliveriesAtOnce = 32

func (s *Sagas) deliverStep() step {
	return step{
		name: "deliver", says: "tell the tenant's endpoint of what has happened", queue: webhookQueue, policy: s.policies.deliver, many: true,
		effect: &effect{key: deliveryKey, prepare: s.deliverCall, lasting: true, failed: s.deliveryFailed, deferred: s.deliveryGivenUp},
	}
}

// deliveryKey names a message on its way to an endpoint: another one each time
// that somebody asks for it again.
func deliveryKey(j Job) string { return "w/" + j.Delivery.String() + "/" + strconv.Itoa(j.Round) }

// deliveryStarts are the runs that begin with the wish to have a message
// delivered, for the first time or again.
func (s *Sagas) deliveryStarts(ctx context.Context, facts []eventstore.Recorded) (starts []eventstore.Start, err error) {
	for i, fact := range facts {
		switch e := fact.Event.(type) {
		case webhook.DeliveryRequested:
			starts = append(starts, s.starting(i, s.delivering(fact, webhook.Delivery{Endpoint: e.Endpoint, Tenant: e.Tenant, Round: 1})))
		case webhook.RedeliveryRequested:
			d, _, err := eventstore.Fold(ctx, s.store, webhook.Deliveries, fact.Stream)
			if err != nil {
				return nil, err
			}
			d.Round = e.Round
			starts = append(starts, s.starting(i, s.delivering(fact, d)))
		}
	}
	return oneQueueRow(starts), nil
}

func (s *Sagas) delivering(fact eventstore.Recorded, d webhook.Delivery) Start {
	job := Job{Delivery: uuid.MustParse(fact.Stream.ID), Round: d.Round, Endpoint: d.Endpoint, Tenant: d.Tenant}
	return Start{Key: "webhook:" + deliveryKey(job), Def: webhookDef, Steps: s.places([]string{"deliver"}), Job: job}
}

// deliverCall makes a message ready. What the endpoint is comes from its
// history, so a change of it counts from the next attempt on.
func (s *Sagas) deliverCall(ctx context.Context, job Job) (Call, error) {
	if full := s.crowds.full(gatesOf(job)); full > 0 {
		return Call{}, wait("endpoint_busy", full)
	}
	endpoint, _, err := eventstore.Fold(ctx, s.store, webhook.Endpoints, webhook.EndpointStream(job.Endpoint))
	if err != nil {
		return Call{}, err
	}
	if !endpoint.Exists() || !endpoint.IsActive || endpoint.URL == "" {
		return Call{}, domain.Fail(domain.Permanent, "endpoint_inactive", errors.New("the endpoint is off, or gone"))
	}
	delivery, _, err := eventstore.Fold(ctx, s.store, webhook.Deliveries, webhook.DeliveryStream(job.Delivery))
	if err != nil {
		return Call{}, err
	}
	secrets, err := s.store.EndpointSecrets(ctx, job.Endpoint)
	if errors.Is(err, eventstore.ErrShredded) {
		err = domain.Fail(domain.Permanent, "endpoint_inactive", err)
	}
	return Call{
		Request: map[string]any{"endpoint": job.Endpoint, "message": delivery.Message.ID}, Repeatable: true,
		Do: func(ctx context.Context) (Result, error) {
			return s.deliver(ctx, job, endpoint.URL, secrets, delivery.Message)
		},
		Confirmed: func(r Result) Work {
			status, _ := strconv.Atoi(r.External) // 0: an operator has settled it
			return Work{Commands: []domain.Command{webhook.Confirm{ID: job.Delivery, Status: status, At: s.now()}}}
		},
	}, err
}

// deliver posts a message, if there is room at the endpoint.
func (s *Sagas) deliver(ctx context.Context, job Job, url string, secrets [][]byte, m webhook.Message) (Result, error) {
	leave, full := s.crowds.enter(gatesOf(job))
	if full > 0 {
		return Result{}, wait("endpoint_busy", full)
	}
	began := time.Now()
	status, err := s.webhooks.Deliver(ctx, url, secrets, m)
	_, rest := classify(err)
	leave(rest)
	if err != nil {
		return Result{}, &unwelcome{status, time.Since(began), err}
	}
	return Result{External: strconv.Itoa(status)}, nil
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
func (s *Sagas) deliveryFailed(job Job, l lapse) []domain.Command {
	u, tried := errors.AsType[*unwelcome](l.cause)
	if !tried {
		return nil
	}
	return []domain.Command{webhook.Attempted{
		ID: job.Delivery, Status: u.status, Code: l.code, Took: u.took, At: s.now(), NextAt: l.next,
	}}
}

// gaveUp is why a delivery has ended that might have come to something some
// day.
const gaveUp = "gave_up"

// saysGone is the status of an endpoint that wants to hear nothing more.
const saysGone = 410

// deliveryGivenUp ends a delivery. An endpoint that says that it is gone hears
// nothing more.
func (s *Sagas) deliveryGivenUp(job Job, l lapse) Work {
	commands := s.deliveryFailed(job, l)
	code := l.code
	if !l.final {
		code = gaveUp
	}
	commands = append(commands, webhook.Fail{ID: job.Delivery, Code: code, At: s.now()})
	if u, tried := errors.AsType[*unwelcome](l.cause); tried && u.status == saysGone {
		commands = append(commands, webhook.Disable{ID: job.Endpoint, Reason: webhook.Gone})
	}
	return Work{Commands: commands}
}
