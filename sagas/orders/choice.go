package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// The customer of an order of the storefront may choose by a mailed link which tenant its
// service joins. The choice is checked when it is made and when the service is set up: then
// a tenant that can no longer be joined is replaced by a new one, because a paid order
// never waits for it (docs/orders.md, "Joining a tenant by a link").

// ErrNoChoice means that a link leads to no choice: the order does not exist, or is not the
// user's.
var ErrNoChoice = domain.Refuse(domain.NotFound, "The link is none of ours.")

// MayJoin is the user who may let an unpaid order join a tenant; 0: no user.
func MayJoin(ctx context.Context, tables *projections.Tables, id uuid.UUID) (int64, error) {
	scope := tables.For(projections.System)
	o, err := scope.Orders().OrderForRun(ctx, id)
	if err != nil || (o.Status != order.StatusPending && o.Status != order.StatusPaymentProcessing) {
		return 0, err
	}
	user, known, err := customerOf(ctx, scope, o)
	if err != nil || !known {
		return 0, err
	}
	takes, err := joinable(ctx, scope, user, o)
	if err != nil || len(takes) == 0 {
		return 0, err
	}
	return user.ID, nil
}

// customerOf is the account that has the address of an order.
func customerOf(ctx context.Context, scope projections.Scope, o projections.Order) (projections.User, bool, error) {
	email := account.PlainAddress(o.CustomerEmail)
	if email == "" {
		return projections.User{}, false, nil
	}
	user, known, err := scope.Accounts().UserByEmail(ctx, email)
	return user, known && user.IsActive, err
}

// joinable are the tenants that a user administers and that take the service of an order.
func joinable(
	ctx context.Context, scope projections.Scope, user projections.User, o projections.Order,
) (all []order.NamedTenant, err error) {
	known, err := scope.Accounts().Memberships(ctx, user.ID)
	if err != nil || !user.IsActive {
		return nil, err
	}
	var refs []hosting.Ref
	for _, m := range known {
		if m.Role == account.Admin {
			refs = append(refs, hosting.Ref{Kind: "tenant", ID: m.Tenant})
		}
	}
	rows, err := scope.Hosting().Recorded(ctx, refs...)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		row, is := rows[ref]
		if !is || row.TrashedAt != nil || row.Status == hosting.Leaving || row.Status == hosting.Gone {
			continue
		}
		var t hosting.Tenant
		if err := row.Load(&t); err != nil {
			return nil, err
		}
		if t.Takes(o.ResourceType, row.RequestedFor, row.DisabledBy...) {
			all = append(all, order.NamedTenant{ID: ref.ID, Name: t.Name})
		}
	}
	return all, nil
}

// Choice is what the reader of a mailed link may choose for an order. Any other order than
// that of the user is refused with [ErrNoChoice].
func (s *Service) Choice(ctx context.Context, id uuid.UUID, user int64) (order.TenantChoice, error) {
	scope := s.Tables.For(projections.System)
	o, err := scope.Orders().OrderForRun(ctx, id)
	if isMissing(err) {
		return order.TenantChoice{}, ErrNoChoice
	}
	if err != nil {
		return order.TenantChoice{}, err
	}
	reader, known, err := customerOf(ctx, scope, o)
	if err != nil {
		return order.TenantChoice{}, err
	}
	if !known || reader.ID != user || o.Invoice != nil {
		return order.TenantChoice{}, ErrNoChoice
	}
	c := order.TenantChoice{Number: o.OrderNumber, Plan: o.PlanName, Status: o.Status}
	if o.OrderedBy != nil {
		c.Joins = domain.OrZero(o.Tenant)
	}
	c.Tenants, err = joinable(ctx, scope, reader, o)
	return c, err
}

// ChooseTenant lets an order join a tenant of its customer, or a new one (0). The tenant was
// offered by [Service.Choice] a moment before.
func (s *Service) ChooseTenant(ctx context.Context, cause domain.Metadata, id uuid.UUID, joins order.Joining) error {
	_, err := s.Commands.Execute(ctx, cause, order.ChooseTenant{ID: id, Joins: joins, At: s.Now().UTC()})
	return err
}

// isChosen tells whether the customer has chosen the tenant of an order by a link.
func isChosen(ctx context.Context, store *eventstore.Store, o projections.Order) (bool, error) {
	if o.OrderedBy == nil {
		return false, nil
	}
	stands, _, err := eventstore.Fold(ctx, store, order.Decider, order.Stream(o.ID))
	return stands.Chosen, err
}

// insteadOfChoice lets the order make a tenant if the customer has chosen one that takes
// the service no longer, and returns what is to be done beside it.
func insteadOfChoice(ctx context.Context, d Deps, job *ProvisionInput, o projections.Order) ([]domain.Command, error) {
	if !job.Joins {
		return nil, nil
	}
	scope := d.Tables.For(projections.System)
	chosen, err := isChosen(ctx, d.Store, o)
	if err != nil || !chosen {
		return nil, err
	}
	user, err := scope.Accounts().User(ctx, job.User)
	if err != nil {
		return nil, err
	}
	takes, err := joinable(ctx, scope, user, o)
	if err != nil || slices.ContainsFunc(takes, func(t order.NamedTenant) bool { return t.ID == job.Tenant }) {
		return nil, err
	}
	numbers, err := d.Store.NextIDs(ctx, "tenant")
	if err != nil {
		return nil, err
	}
	job.Tenant, job.Joins = numbers[0], false
	return []domain.Command{order.MakeTenant{ID: job.Order, At: d.Runner.Now()}}, nil
}
