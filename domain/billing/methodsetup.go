package billing

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// MethodSetupCategory is that of the streams "method_setup-<id>".
const MethodSetupCategory = "method_setup"

// A MethodSetup is how a person adds a payment method without a payment, on a page of its
// provider (docs/invoices.md, "Adding a payment method").
type MethodSetup struct {
	Status    SetupStatus `json:"status"`
	Tenant    int64       `json:"tenant"`
	User      int64       `json:"user"`
	Person    uuid.UUID   `json:"person"` // the subject of who agreed
	Provider  string      `json:"provider"`
	Test      bool        `json:"test,omitempty"`
	Session   string      `json:"session,omitempty"` // at the provider; "": none yet
	StartedAt time.Time   `json:"started_at"`
	OpenedAt  time.Time   `json:"opened_at,omitzero"`
	ExpiresAt time.Time   `json:"expires_at"` // when it is given up
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	Discarded bool        `json:"discarded,omitempty"`
	Customer  string      `json:"customer,omitempty"` // of what was discarded: the provider's ids
	Token     string      `json:"token,omitempty"`
	Kind      string      `json:"kind,omitempty"`
}

// A SetupStatus is how far the setup of a payment method is.
type SetupStatus string

const (
	SetupOpen  SetupStatus = "open"
	SetupSaved SetupStatus = "saved"
	SetupEnded SetupStatus = "ended" // without a payment method
)

// The reasons for which a setup ends without a payment method, beside [MembershipEnded] and
// [OwnerErased].
const (
	SetupExpired = "expired"  // its page was not finished in time
	SetupRefused = "refused"  // its provider does not keep the method
	SetupForeign = "mismatch" // the provider's books say that it is not the one that was asked for
)

// An AskedSetup is what a member asks for, who agrees that the method is kept.
type AskedSetup struct {
	Tenant, User    int64
	Subject         uuid.UUID
	Provider        string
	Email, Language string
	Currency        string // in which the member usually pays
}

// TenantID is the tenant in which the method will be of use.
func (m MethodSetup) TenantID() int64 { return m.Tenant }

// MethodSetups is the behaviour of the streams "method_setup-<id>".
var MethodSetups = domain.Decider[MethodSetup, MethodSetupCommand, MethodSetupEvent]{
	Decide: func(m MethodSetup, c MethodSetupCommand) ([]MethodSetupEvent, error) { return c.decide(m) },
	Evolve: func(m MethodSetup, e MethodSetupEvent) MethodSetup { return e.evolve(m) },
}

type (
	// A MethodSetupCommand asks the setup of a payment method for a change.
	MethodSetupCommand interface {
		domain.Command
		decide(MethodSetup) ([]MethodSetupEvent, error)
	}
	// A MethodSetupEvent belongs to the stream of a setup.
	MethodSetupEvent interface {
		domain.Event
		evolve(MethodSetup) MethodSetup
	}
)

type (
	// StartSetup records that a member of a tenant agrees that a provider keeps a payment
	// method for renewals.
	StartSetup struct {
		ID            uuid.UUID
		Tenant, User  int64
		Subject       uuid.UUID // the person who agrees
		Provider      string
		Test          bool // no real money is behind the method
		At, ExpiresAt time.Time
	}
	// OpenSetup records the page on which the method is added.
	OpenSetup struct {
		ID           uuid.UUID
		Session, URL string
		ExpiresAt    time.Time
		At           time.Time
	}
	// KeepSetup records that the provider keeps the method. One that has ended discards it.
	KeepSetup struct {
		ID, Method uuid.UUID // the method is that of the [SaveMethod] beside it
		Kept       KeptMethod
		At         time.Time
	}
	// EndSetup gives a setup up.
	EndSetup struct {
		ID     uuid.UUID
		Reason string
		At     time.Time
	}
	// MethodSetupStarted: a member has agreed that a payment method is kept.
	MethodSetupStarted struct {
		Tenant    int64     `json:"tenant"`
		User      int64     `json:"user"`
		SubjectID uuid.UUID `json:"subject"` // the person who agreed
		Provider  string    `json:"provider"`
		Test      bool      `json:"test,omitempty"`
		ExpiresAt time.Time `json:"expires_at"`
		At        time.Time `json:"at"`
	}
	// MethodSetupOpened: the provider has a page on which the method is added.
	MethodSetupOpened struct {
		Session   string    `json:"session"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
		At        time.Time `json:"at"`
	}
	// MethodSetupSaved: the provider keeps the method, which is saved.
	MethodSetupSaved struct {
		Method uuid.UUID `json:"method"`
		At     time.Time `json:"at"`
	}
	// MethodSetupEnded: no method is saved by it any more.
	MethodSetupEnded struct {
		Reason string    `json:"reason"`
		At     time.Time `json:"at"`
	}
	// MethodSetupDiscarded: the provider keeps a method that is not saved, and has to forget it.
	MethodSetupDiscarded struct {
		Customer string    `json:"customer,omitempty"`
		Token    string    `json:"token"`
		Kind     string    `json:"kind"`
		At       time.Time `json:"at"`
	}
)

func (MethodSetupStarted) EventName() string   { return "billing.method_setup_started" }
func (MethodSetupOpened) EventName() string    { return "billing.method_setup_opened" }
func (MethodSetupSaved) EventName() string     { return "billing.method_setup_saved" }
func (MethodSetupEnded) EventName() string     { return "billing.method_setup_ended" }
func (MethodSetupDiscarded) EventName() string { return "billing.method_setup_discarded" }

func (e MethodSetupStarted) Says() string {
	return "a member agrees that " + e.Provider + " keeps a payment method for renewals"
}

func (MethodSetupOpened) Says() string { return "the provider shows the page on which it is added" }
func (MethodSetupSaved) Says() string  { return "the payment method is saved" }
func (e MethodSetupEnded) Says() string {
	return "no payment method is saved: " + wording.Spaced(e.Reason)
}

func (MethodSetupDiscarded) Says() string {
	return "the provider keeps a payment method that is not saved, and is told to forget it"
}

func (c StartSetup) decide(m MethodSetup) ([]MethodSetupEvent, error) {
	if m.Status != "" {
		return nil, nil // the same request again
	}
	return []MethodSetupEvent{MethodSetupStarted{
		Tenant: c.Tenant, User: c.User, SubjectID: c.Subject, Provider: c.Provider, Test: c.Test, ExpiresAt: c.ExpiresAt, At: c.At,
	}}, nil
}

func (c OpenSetup) decide(m MethodSetup) ([]MethodSetupEvent, error) {
	switch {
	case m.Session != "" && m.Session == c.Session:
		return nil, nil
	case m.Status != SetupOpen || m.Session != "":
		return nil, &domain.Error{
			Code: domain.Conflict, Reason: "invalid_state",
			Message: "The payment method cannot be added in this session.",
		}
	}
	return []MethodSetupEvent{MethodSetupOpened{Session: c.Session, URL: c.URL, ExpiresAt: c.ExpiresAt, At: c.At}}, nil
}

func (c KeepSetup) decide(m MethodSetup) ([]MethodSetupEvent, error) {
	switch {
	case m.Status == SetupOpen && m.Session != "":
		return []MethodSetupEvent{MethodSetupSaved{Method: c.Method, At: c.At}}, nil
	case m.Status == SetupEnded && !m.Discarded:
		return []MethodSetupEvent{MethodSetupDiscarded{Customer: c.Kept.Customer, Token: c.Kept.Token, Kind: c.Kept.Kind, At: c.At}}, nil
	}
	return nil, nil
}

func (c EndSetup) decide(m MethodSetup) ([]MethodSetupEvent, error) {
	if m.Status != SetupOpen {
		return nil, nil
	}
	return []MethodSetupEvent{MethodSetupEnded{Reason: c.Reason, At: c.At}}, nil
}

func (e MethodSetupStarted) evolve(MethodSetup) MethodSetup {
	return MethodSetup{
		Status: SetupOpen, Tenant: e.Tenant, User: e.User, Person: e.SubjectID, Provider: e.Provider, Test: e.Test,
		StartedAt: e.At, ExpiresAt: e.ExpiresAt,
	}
}

func (e MethodSetupOpened) evolve(m MethodSetup) MethodSetup {
	m.Session, m.ExpiresAt, m.OpenedAt = e.Session, e.ExpiresAt, e.At
	return m
}

func (MethodSetupSaved) evolve(m MethodSetup) MethodSetup { m.Status = SetupSaved; return m }

func (e MethodSetupEnded) evolve(m MethodSetup) MethodSetup {
	m.Status, m.EndedAt = SetupEnded, e.At
	return m
}

func (e MethodSetupDiscarded) evolve(m MethodSetup) MethodSetup {
	m.Discarded, m.Customer, m.Token, m.Kind = true, e.Customer, e.Token, e.Kind
	return m
}

// MethodSetupStream is the history of the setup of a payment method.
func MethodSetupStream(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: MethodSetupCategory, ID: id.String()}
}

func (c StartSetup) Stream() domain.Stream { return MethodSetupStream(c.ID) }
func (c OpenSetup) Stream() domain.Stream  { return MethodSetupStream(c.ID) }
func (c KeepSetup) Stream() domain.Stream  { return MethodSetupStream(c.ID) }
func (c EndSetup) Stream() domain.Stream   { return MethodSetupStream(c.ID) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (StartSetup) Begins() {}
