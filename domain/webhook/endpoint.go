package webhook

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
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

// A Reason says why we have switched an endpoint off.
type Reason string

// Gone endpoints have answered [StatusGone] to a delivery.
const Gone Reason = "gone"

// StatusGone is the HTTP status of an endpoint that accepts no more messages.
const StatusGone = 410

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
		return nil, nil // no longer relevant
	}
	return e.unless(!e.IsActive, EndpointDisabled{Reason: c.Reason})
}

// unless answers with the event if it is not so already. What is removed is not
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

// EventTypes lists every event that the streams of this package may hold.
var EventTypes = []domain.EventType{
	domain.Register[EndpointCreated]().Sealing(domain.Contact, "secret_url"),
	domain.Register[EndpointChanged]().Sealing(domain.Contact, "secret_url"),
	domain.Register[SecretRotated](),
	domain.Register[EndpointRemoved](),
	domain.Register[EndpointDisabled](),
	domain.Register[DeliveryRequested](),
	domain.Register[DeliveryAttempted](),
	domain.Register[Delivered](),
	domain.Register[DeliveryFailed](),
	domain.Register[RedeliveryRequested](),
}

type (
	// EndpointCreated: a tenant has an endpoint for these events ("*": all).
	EndpointCreated struct {
		SubjectID uuid.UUID `json:"subject"`
		Tenant    int64     `json:"tenant"`
		URL       string    `json:"secret_url"` // sealed; blank once the endpoint is removed, and masked wherever events are shown
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
	// SecretRotated: the endpoint has another secret, which stands beside the log.
	SecretRotated struct {
		Secret int `json:"secret"` // the how manieth: 2 replaces the first
	}
	// EndpointRemoved: the endpoint is gone, for good.
	EndpointRemoved struct{}
	// EndpointDisabled: the panel has switched the endpoint off.
	EndpointDisabled struct {
		Reason Reason `json:"reason"`
	}
)

func (EndpointCreated) EventName() string  { return "webhook.endpoint_created" }
func (EndpointChanged) EventName() string  { return "webhook.endpoint_changed" }
func (SecretRotated) EventName() string    { return "webhook.secret_rotated" }
func (EndpointRemoved) EventName() string  { return "webhook.endpoint_removed" }
func (EndpointDisabled) EventName() string { return "webhook.endpoint_disabled" }

func (e EndpointCreated) Says() string {
	return "endpoint" + wording.Around(" at ", hostOf(e.URL), "") + " for " + strings.Join(e.Events, ", ") + isOff(&e.IsActive)
}

func (e EndpointChanged) Says() string {
	return strings.TrimSuffix(
		"changed: "+wording.Around("now at ", hostOf(e.URL), "; ")+wording.Around(
			"for ", strings.Join(e.Events, ", "), "; ",
		)+strings.TrimPrefix(isOff(e.IsActive), ", "),
		"; ",
	)
}

func (e SecretRotated) Says() string {
	return fmt.Sprintf("secret %d, in place of the one before", e.Secret)
}

func (EndpointRemoved) Says() string { return "removed" }

func (e EndpointDisabled) Says() string {
	return "switched off by the panel: " + wording.Spaced(string(e.Reason))
}

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

// hostOf is the part of an address that may be printed: the rest may hold a token.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func isOff(on *bool) string {
	switch {
	case on == nil:
		return ""
	case *on:
		return ", switched on"
	}
	return ", switched off"
}
