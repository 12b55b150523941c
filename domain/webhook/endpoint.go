package webhook

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// What may be asked of an endpoint. The URL and the names of events come
// checked ([CheckURL], [Known]).
type (
	// Create makes an endpoint. Its first secret is laid down in the same
	// transaction.
	Create struct {
		ID, Tenant int64
		URL        string
		Events     []string
		IsActive   bool
	}
	// Change changes what is given; nil stays. To switch on what we have
	// switched off is to try again.
	Change struct {
		ID       int64
		URL      *string
		Events   []string
		IsActive *bool
	}
	// Rotate gives the endpoint another secret, which is laid down in the same
	// transaction.
	Rotate struct{ ID int64 }
	// Remove ends an endpoint for good. A second time changes nothing.
	Remove struct{ ID int64 }
	// Disable switches an endpoint off for a reason of ours.
	Disable struct {
		ID     int64
		Reason Reason
	}
)

func (c Create) decide(e Endpoint) ([]EndpointEvent, error) {
	switch {
	case e.Tenant != 0:
		return nil, domain.Refuse(domain.Conflict, "The endpoint exists.")
	case c.ID < 1 || c.Tenant < 1 || c.URL == "" || len(c.Events) == 0:
		return nil, fmt.Errorf("webhook: endpoint %d of tenant %d lacks something", c.ID, c.Tenant)
	}
	return []EndpointEvent{EndpointCreated{
		SubjectID: Subject(c.ID), Tenant: c.Tenant, URL: c.URL, Events: c.Events, IsActive: c.IsActive,
	}}, nil
}

func (c Change) decide(e Endpoint) ([]EndpointEvent, error) {
	changed := EndpointChanged{SubjectID: Subject(c.ID)}
	if c.URL != nil && *c.URL != e.URL {
		changed.URL = *c.URL
	}
	if c.Events != nil && !slices.Equal(c.Events, e.Events) {
		changed.Events = c.Events
	}
	if c.IsActive != nil && *c.IsActive != e.IsActive {
		changed.IsActive = c.IsActive
	}
	return e.unless(changed.isEmpty(), changed)
}

func (Rotate) decide(e Endpoint) ([]EndpointEvent, error) {
	return e.unless(false, SecretRotated{Secret: e.Secrets + 1})
}

func (Remove) decide(e Endpoint) ([]EndpointEvent, error) {
	if e.Removed {
		return nil, nil
	}
	return e.unless(false, EndpointRemoved{})
}

func (c Disable) decide(e Endpoint) ([]EndpointEvent, error) {
	if e.Removed {
		return nil, nil // nobody minds any more
	}
	return e.unless(!e.IsActive, EndpointDisabled{Reason: c.Reason})
}

// unless answers with the fact if it is not so already. What is removed is not
// there.
func (e Endpoint) unless(already bool, fact EndpointEvent) ([]EndpointEvent, error) {
	switch {
	case !e.Exists():
		return nil, domain.Refuse(domain.NotFound, "No WebhookEndpoint matches the given query.")
	case already:
		return nil, nil
	}
	return []EndpointEvent{fact}, nil
}

func (c Create) Stream() domain.Stream  { return EndpointStream(c.ID) }
func (c Change) Stream() domain.Stream  { return EndpointStream(c.ID) }
func (c Rotate) Stream() domain.Stream  { return EndpointStream(c.ID) }
func (c Remove) Stream() domain.Stream  { return EndpointStream(c.ID) }
func (c Disable) Stream() domain.Stream { return EndpointStream(c.ID) }

// Facts lists every event that the streams of this package may hold.
var Facts = []domain.Fact{
	domain.FactOf[EndpointCreated]().Sealing(domain.Contact, "secret_url"),
	domain.FactOf[EndpointChanged]().Sealing(domain.Contact, "secret_url"),
	domain.FactOf[SecretRotated](),
	domain.FactOf[EndpointRemoved](),
	domain.FactOf[EndpointDisabled](),
	domain.FactOf[DeliveryRequested](),
	domain.FactOf[DeliveryAttempted](),
	domain.FactOf[Delivered](),
	domain.FactOf[DeliveryFailed](),
	domain.FactOf[RedeliveryRequested](),
}

type (
	EndpointCreated struct {
		SubjectID uuid.UUID `json:"subject"`
		Tenant    int64     `json:"tenant"`
		URL       string    `json:"secret_url"` // sealed; blank once the endpoint is removed, and masked wherever facts are shown
		Events    []string  `json:"events"`
		IsActive  bool      `json:"is_active"`
	}
	// EndpointChanged holds only what changed.
	EndpointChanged struct {
		SubjectID uuid.UUID `json:"subject"`
		URL       string    `json:"secret_url,omitempty"` // sealed
		Events    []string  `json:"events,omitempty"`
		IsActive  *bool     `json:"is_active,omitempty"`
	}
	SecretRotated struct {
		Secret int `json:"secret"` // the how manieth: 2 replaces the first
	}
	EndpointRemoved  struct{}
	EndpointDisabled struct {
		Reason Reason `json:"reason"`
	}
)

// Subject is whose key seals the address.
func (e EndpointCreated) Subject() uuid.UUID { return e.SubjectID }

// Subject is whose key seals the address.
func (e EndpointChanged) Subject() uuid.UUID { return e.SubjectID }

func (EndpointCreated) EventName() string  { return "webhook.endpoint_created" }
func (EndpointChanged) EventName() string  { return "webhook.endpoint_changed" }
func (SecretRotated) EventName() string    { return "webhook.secret_rotated" }
func (EndpointRemoved) EventName() string  { return "webhook.endpoint_removed" }
func (EndpointDisabled) EventName() string { return "webhook.endpoint_disabled" }

func (e EndpointChanged) isEmpty() bool { return e.URL == "" && e.Events == nil && e.IsActive == nil }

func (e EndpointCreated) evolve(Endpoint) Endpoint {
	return Endpoint{Tenant: e.Tenant, URL: e.URL, Events: e.Events, IsActive: e.IsActive, Secrets: 1}
}

func (e EndpointChanged) evolve(p Endpoint) Endpoint {
	if e.URL != "" {
		p.URL = e.URL
	}
	if e.Events != nil {
		p.Events = e.Events
	}
	if e.IsActive != nil {
		p.IsActive, p.Disabled = *e.IsActive, ""
	}
	return p
}

func (e SecretRotated) evolve(p Endpoint) Endpoint { p.Secrets = e.Secret; return p }

func (EndpointRemoved) evolve(p Endpoint) Endpoint {
	p.Removed, p.IsActive, p.URL = true, false, ""
	return p
}

func (e EndpointDisabled) evolve(p Endpoint) Endpoint {
	p.IsActive, p.Disabled = false, e.Reason
	return p
}
