// Package webhook is how tenants let their own programs hear of what happens:
// endpoints, which are addresses that a tenant has given us, and deliveries,
// each of which is one message on its way to one endpoint (docs/webhooks.md).
//
// The address may hold a token of the tenant's. The log keeps it sealed, under
// a key of the endpoint's own; the secret that messages are signed with stands
// beside the log and never in it.
package webhook

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// EndpointCollection is the name of all endpoints in paths.
const EndpointCollection = "webhook-endpoints"

// EndpointCategory is that of the streams "webhook_endpoint-<number>",
// DeliveryCategory that of the streams "webhook_delivery-<uuid>".
const (
	EndpointCategory = "webhook_endpoint"
	DeliveryCategory = "webhook_delivery"
)

// MaxEndpoints is how many a tenant may have.
const MaxEndpoints = 10

// An Endpoint is what the history of one amounts to.
type Endpoint struct {
	Tenant   int64    `json:"tenant"`
	URL      string   `json:"-"` // for deliveries alone; no log or audit shows it
	Events   []string `json:"events,omitempty"`
	IsActive bool     `json:"is_active"`
	Disabled Reason   `json:"disabled,omitempty"` // why it is off, if we have switched it off
	Secrets  int      `json:"secrets"`            // how many it has had, one after the other
	Removed  bool     `json:"removed,omitempty"`
}

// Exists tells whether there is such an endpoint, still.
func (e Endpoint) Exists() bool { return e.Tenant != 0 && !e.Removed }

// TenantID is the tenant whose endpoint it is.
func (e Endpoint) TenantID() int64 { return e.Tenant }

// Wants tells whether the endpoint is to hear of events of this type: it is
// on, and one of its names covers the type. Test messages come without being
// wanted.
func (e Endpoint) Wants(event string) bool {
	return e.Exists() && e.IsActive && slices.ContainsFunc(e.Events, func(name string) bool { return Covers(name, event) })
}

// Covers tells whether a name that an endpoint may list means the type:
// "site.created" means itself, "site.*" all of sites, "*" everything.
func Covers(name, event string) bool {
	group, isGroup := strings.CutSuffix(name, "*")
	return name == event || isGroup && strings.HasPrefix(event, group) && event != TestEvent
}

// EndpointStream is the history of an endpoint.
func EndpointStream(id int64) domain.Stream {
	return domain.Stream{Category: EndpointCategory, ID: strconv.FormatInt(id, 10)}
}

// Subject is under whose key the log seals what an endpoint is reached by. The
// key goes when the endpoint is removed.
func Subject(endpoint int64) uuid.UUID {
	return uuid.UUID(binary.BigEndian.AppendUint64([]byte("webhook/"), uint64(endpoint))) //nolint:gosec // any 64 bits will do
}

// Endpoints is the behaviour of the streams of endpoints.
var Endpoints = domain.Decider[Endpoint, EndpointCommand, EndpointEvent]{
	Decide: func(e Endpoint, c EndpointCommand) ([]EndpointEvent, error) { return c.decide(e) },
	Evolve: func(e Endpoint, f EndpointEvent) Endpoint { return f.evolve(e) },

	Personal: true, // the URL is one of the texts that the log seals
}

type (
	// An EndpointCommand asks for a change of an endpoint.
	EndpointCommand interface {
		domain.Command
		decide(Endpoint) ([]EndpointEvent, error)
	}
	// An EndpointEvent belongs to the stream of an endpoint.
	EndpointEvent interface {
		domain.Event
		evolve(Endpoint) Endpoint
	}
)
