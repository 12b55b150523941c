package billing

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// PaymentMethodCategory is that of the streams "payment_method-<id>".
const PaymentMethodCategory = "payment_method"

// A PaymentMethod is kept by its provider to be charged for renewals. It belongs to the
// person who agreed, in one tenant (docs/invoices.md, "Saved payment methods").
type PaymentMethod struct {
	Tenant   int64     `json:"tenant"`
	Person   uuid.UUID `json:"person"` // the subject of who agreed
	Provider string    `json:"provider"`
	Customer string    `json:"customer,omitempty"` // the provider's ids
	Token    string    `json:"token"`
	Kind     string    `json:"kind"`
	Removed  bool      `json:"removed,omitempty"`
}

// Usable tells whether the method can be charged.
func (m PaymentMethod) Usable() bool { return m.Token != "" && !m.Removed }

// TenantID is the tenant in which the method is of use.
func (m PaymentMethod) TenantID() int64 { return m.Tenant }

// PaymentMethods is the behaviour of the streams "payment_method-<id>".
var PaymentMethods = domain.Decider[PaymentMethod, PaymentMethodCommand, PaymentMethodEvent]{
	Decide: func(m PaymentMethod, c PaymentMethodCommand) ([]PaymentMethodEvent, error) { return c.decide(m) },
	Evolve: func(m PaymentMethod, e PaymentMethodEvent) PaymentMethod { return e.evolve(m) },
}

type (
	// A PaymentMethodCommand asks a saved payment method for a change.
	PaymentMethodCommand interface {
		domain.Command
		decide(PaymentMethod) ([]PaymentMethodEvent, error)
	}
	// A PaymentMethodEvent belongs to the stream of a saved payment method.
	PaymentMethodEvent interface {
		domain.Event
		evolve(PaymentMethod) PaymentMethod
	}
)

type (
	// SaveMethod records that a provider keeps a payment method, as a person has agreed.
	SaveMethod struct {
		ID     uuid.UUID
		Tenant int64
		Kept   KeptMethod
		At     time.Time
	}
	// A KeptMethod is what is known of a payment method.
	KeptMethod struct {
		SubjectID                   uuid.UUID // the person who agreed
		Order                       uuid.UUID // that was paid with it, and with which the person agreed; zero: none was
		Setup                       uuid.UUID // by which it was added without a payment; zero: it was paid with
		Provider                    string
		Customer, Token             string // the provider's ids
		Kind, Brand, Last4, Expires string // such as card, visa, 4242, 2029-03
	}
	// RemoveMethod ends the use of a saved payment method.
	RemoveMethod struct {
		ID     uuid.UUID
		Reason string
		At     time.Time
	}
	// PaymentMethodSaved: the provider keeps the method for renewals.
	PaymentMethodSaved struct {
		Tenant    int64     `json:"tenant"`
		SubjectID uuid.UUID `json:"subject"`        // the person who agreed
		Order     uuid.UUID `json:"order,omitzero"` // with which the person agreed; zero: with a setup
		Setup     uuid.UUID `json:"setup,omitzero"` // likewise
		Provider  string    `json:"provider"`
		Customer  string    `json:"customer,omitempty"`
		Token     string    `json:"token"`
		Kind      string    `json:"kind"`
		Brand     string    `json:"brand"`
		Last4     string    `json:"last4"`
		Expires   string    `json:"expires"`
		At        time.Time `json:"at"`
	}
	// PaymentMethodRemoved: the method is charged no more.
	PaymentMethodRemoved struct {
		Reason string    `json:"reason"`
		At     time.Time `json:"at"`
	}
)

// The reasons for which a saved payment method ends.
const (
	RemovedByOwner  = "removed"    // its owner or an operator has removed it
	GoneAtProvider  = "gone"       // the provider does not keep it any more
	MembershipEnded = "membership" // its owner has left the tenant
	OwnerErased     = "erased"     // its owner was erased
)

func (PaymentMethodSaved) EventName() string   { return "billing.payment_method_saved" }
func (PaymentMethodRemoved) EventName() string { return "billing.payment_method_removed" }

func (e PaymentMethodSaved) Says() string { return "saved for renewals: " + e.Label() }

// Label names the method as its owner knows it: "visa …4242".
func (e PaymentMethodSaved) Label() string { return MethodLabel(e.Kind, e.Brand, e.Last4) }

// MethodLabel names a payment method as its owner knows it: "visa …4242", or "card".
func MethodLabel(kind, brand, last4 string) string {
	return cmp.Or(brand, wording.Spaced(kind)) + wording.Around(" …", last4, "")
}

func (e PaymentMethodRemoved) Says() string { return "charged no more: " + wording.Spaced(e.Reason) }

func (c SaveMethod) decide(m PaymentMethod) ([]PaymentMethodEvent, error) {
	if m.Token != "" {
		return nil, nil
	}
	k := c.Kept
	return []PaymentMethodEvent{PaymentMethodSaved{
		Tenant: c.Tenant, SubjectID: k.SubjectID, Order: k.Order, Setup: k.Setup, Provider: k.Provider,
		Customer: k.Customer, Token: k.Token,
		Kind: k.Kind, Brand: k.Brand, Last4: k.Last4, Expires: k.Expires, At: c.At,
	}}, nil
}

func (c RemoveMethod) decide(m PaymentMethod) ([]PaymentMethodEvent, error) {
	if !m.Usable() {
		return nil, nil
	}
	return []PaymentMethodEvent{PaymentMethodRemoved{Reason: c.Reason, At: c.At}}, nil
}

func (e PaymentMethodSaved) evolve(PaymentMethod) PaymentMethod {
	return PaymentMethod{Tenant: e.Tenant, Person: e.SubjectID, Provider: e.Provider, Customer: e.Customer, Token: e.Token, Kind: e.Kind}
}

func (PaymentMethodRemoved) evolve(m PaymentMethod) PaymentMethod { m.Removed = true; return m }

// PaymentMethodStream is the history of a saved payment method.
func PaymentMethodStream(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: PaymentMethodCategory, ID: id.String()}
}

func (c SaveMethod) Stream() domain.Stream   { return PaymentMethodStream(c.ID) }
func (c RemoveMethod) Stream() domain.Stream { return PaymentMethodStream(c.ID) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (SaveMethod) Begins() {}
