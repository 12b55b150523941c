// Package orders serves order forms on other sites, and the pages of the checkout
// (docs/storefront.md).
package orders

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// An Area is the storefront, with what it needs of the rest of the program.
type Area struct {
	Web       *web.Renderer
	Callers   *caller.Callers
	Orders    Orders
	Payments  Payments
	Hosted    HostedCheckout // nil: no such provider is in use
	Runs      Runs
	Feed      route.LiveFeed
	Changes   waiting.Log
	Offers    order.Offers
	Tax       tax.Policy
	PublicURL func() string
	LinkKeys  [][]byte // that may have signed the links in mails
	Abuse     bool     // whether the limits against abuse hold

	// Unavailable reports whether an error means that the database is away.
	Unavailable func(error) bool
}

// Orders places orders and sends their customers to pay. Commands use the same
// methods.
type Orders interface {
	// Prepare looks up what the order needs, and adds what is wrong with it to
	// wrong.
	Prepare(ctx context.Context, d *order.Draft, wrong *field.Errors) error
	// Place puts a prepared order into the log. The function located is told
	// its id before.
	Place(ctx context.Context, cause func() domain.Metadata, d *order.Draft, located func(id uuid.UUID)) (uuid.UUID, error)
	// ToPayment makes sure that a pending order can be paid, and tells where. If
	// the provider opens no page, the error is an [order.ErrNoPaymentPage].
	ToPayment(ctx context.Context, id uuid.UUID) (order.Payable, error)
	// SoldOut are the plans for machines of which none has a place now.
	SoldOut(context.Context, ...projections.Plan) (map[int64]bool, error)
	// Choice is what the reader of a mailed link may choose for an order. An order that is
	// not the user's is refused with domain.NotFound.
	Choice(ctx context.Context, id uuid.UUID, user int64) (order.TenantChoice, error)
	// ChooseTenant lets an order join a tenant of its choice, or a new one. An order that is
	// paid or has ended is refused with domain.Conflict.
	ChooseTenant(ctx context.Context, cause domain.Metadata, id uuid.UUID, joins order.Joining) error
}

// Payments asks payment providers.
type Payments interface {
	// Hint asks to look at an order soon. It may be sent any number of times.
	Hint(ctx context.Context, order uuid.UUID, reason string) error
}

// HostedCheckout is a payment provider whose page the panel itself shows. An
// unknown session is refused with domain.NotFound, one that is over with
// domain.Conflict.
type HostedCheckout interface {
	// PagePath is where the page of a session is, as a pattern of routes.
	PagePath() string
	Session(ctx context.Context, id string) (order.HostedSession, error)
	Act(context.Context, order.HostedAction) (order.HostedSession, error)
}

// Runs knows how far the provisioning of an order is.
type Runs interface {
	// Step names the step at which it is: "tenant.engine". Empty: the first.
	Step(ctx context.Context, order uuid.UUID) (string, error)
	// Stream is where it is written down.
	Stream(order uuid.UUID) domain.Stream
}

// Routes are the endpoints of the storefront.
func (s *Area) Routes() []route.Area {
	return []route.Area{s.shopArea(), s.previewArea()}
}

// PageRoutes are the pages of the checkout.
func (s *Area) PageRoutes() []route.Area { return []route.Area{s.checkoutArea(), s.joinArea()} }
