package order

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// The customer of an unpaid order may choose by a mailed link which tenant its service
// joins (docs/orders.md, "Joining a tenant by a link").

// JoinPath is below which the customers of orders choose a tenant.
const JoinPath = "/storefront/join/"

type (
	// ChooseTenant lets the service of an unpaid order join a tenant. That the tenant takes
	// it, and that the user administers it, is checked where those stand, before.
	ChooseTenant struct {
		ID    uuid.UUID
		Joins Joining // the zero value: a new tenant
		At    time.Time
	}
	// MakeTenant has a new tenant made for a paid order whose chosen one can no longer be
	// joined. A tenant for which a user has ordered stays.
	MakeTenant struct {
		ID uuid.UUID
		At time.Time
	}
)

// TenantChosen: the service of the order joins a tenant, or gets a new one.
type TenantChosen struct {
	Tenant  int64     `json:"tenant"`            // 0: a new one
	User    int64     `json:"user"`              // who has chosen it; 0: no user
	Instead int64     `json:"instead,omitempty"` // the chosen one, which can no longer be joined
	At      time.Time `json:"at"`
}

func (c ChooseTenant) decide(o Order) ([]Event, error) {
	isUnpaid := o.Status == StatusPending || o.Status == StatusPaymentProcessing
	switch {
	case !isUnpaid, o.PaysInvoice(), o.Charges(), o.Joins != 0 && !o.Chosen:
		return nil, o.forbids("joins no other tenant")
	case o.Joins == c.Joins.Tenant:
		return nil, nil
	}
	return []Event{TenantChosen{Tenant: c.Joins.Tenant, User: c.Joins.User, At: c.At}}, nil
}

func (c MakeTenant) decide(o Order) ([]Event, error) {
	if o.Joins == 0 {
		return nil, nil
	}
	isPaid := o.Status == StatusPaid || o.Status == StatusProvisioning || o.Status == StatusFailed
	if !o.Chosen || !isPaid {
		return nil, o.forbids("gets no other tenant")
	}
	return []Event{TenantChosen{Instead: o.Joins, At: c.At}}, nil
}

// Stream is that of the order.
func (c ChooseTenant) Stream() domain.Stream { return Stream(c.ID) }

// Stream is that of the order.
func (c MakeTenant) Stream() domain.Stream { return Stream(c.ID) }

// EventName is the name in the log.
func (TenantChosen) EventName() string { return "order.tenant_chosen" }

// Says is the sentence of a history.
func (e TenantChosen) Says() string {
	switch {
	case e.Instead != 0:
		return fmt.Sprintf("tenant %d can no longer be joined: a new tenant is made", e.Instead)
	case e.Tenant == 0:
		return "a new tenant is to be made"
	}
	return fmt.Sprintf("is to join tenant %d", e.Tenant)
}

func (e TenantChosen) evolve(o Order) Order {
	o.Joins, o.Chosen = e.Tenant, e.Tenant != 0
	return o
}

// A TenantChoice is what the customer of an order may choose from.
type TenantChoice struct {
	Number, Plan string
	Status       Status
	Joins        int64 // the tenant that is chosen by now; 0: a new one
	Tenants      []NamedTenant
}

// A NamedTenant is one that a service may join.
type NamedTenant struct {
	ID   int64
	Name string
}

// IsOpen tells whether the choice can still be made.
func (c TenantChoice) IsOpen() bool {
	return c.Status == StatusPending || c.Status == StatusPaymentProcessing
}
