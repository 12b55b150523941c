package billing

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Payment methods that providers keep for renewals (docs/invoices.md, "Saved payment
// methods").

const paymentMethodsPath = prefix + "payment-methods/"

// A paymentMethod is kept by its provider, to be charged for renewals.
type paymentMethod struct {
	projections.PaymentMethod
	mayRemove bool // the caller administers the tenant
}

// Tag changes with the payment method.
func (m *paymentMethod) Tag() string {
	return record.Tag(billing.PaymentMethodCategory, m.ID.String(), m.Version)
}

// Fields are the payment method.
func (m *paymentMethod) Fields() field.Set {
	return field.Set{
		field.UUID("id", &m.ID).ReadOnly(),
		field.Int("tenant", &m.Tenant).ReadOnly(),
		field.Text("provider", &m.Provider).ReadOnly().Doc("That keeps it."),
		field.Text("kind", &m.Kind).ReadOnly().Doc("Such as card."),
		field.Text("brand", &m.Brand).ReadOnly().Doc(
			"Such as visa; blank: it has none. All of a method is blank once its owner is erased.",
		),
		field.Text("last4", &m.Last4).ReadOnly().Doc("Its last digits; blank: it has none."),
		field.Text("expires", &m.Expires).ReadOnly().
			Doc("Its last month, such as 2029-03; blank: it does not expire.").Labelled("payment_method_expires"),
		field.NullUUID("order", &m.OrderID).ReadOnly().Doc("With which its owner agreed that it is kept; null: without a payment."),
		field.NullUUID("setup", &m.SetupID).ReadOnly().Doc("By which it was added without a payment; null: it was paid with."),
		field.Time("created_at", &m.CreatedAt).ReadOnly().Labelled("payment_method_since"),
		field.Time("updated_at", &m.UpdatedAt).ReadOnly(),
	}
}

func (s *paymentMethods) routes() []route.Route {
	return []route.Route{
		listing.Pages[paymentMethod](paymentMethodsPath, "Saved payment methods, newest first", listing.Spec{
			Filters: paymentMethodFilters, UUIDs: true,
		}, s.listPaymentMethods).As("payment_method_list"),
		s.addRoute(),
		route.Get(paymentMethodsPath+"{id:uuid}/", "A saved payment method", record.Found[paymentMethod]).
			As("payment_method_read").Of("Payment method").Finding(s.findPaymentMethod),
		route.Delete(paymentMethodsPath+"{id:uuid}/", "Remove a saved payment method", s.removePaymentMethod).
			As("payment_method_delete").Of("Payment method").For(s.callers.TenantAdmin()).Finding(s.findPaymentMethod).
			Saying("Renewals that it was charged for are paid on a page. Its provider is told to keep it no longer."),
	}
}

func paymentMethodFilters() field.Set {
	return field.Set{
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.UUID("order", new(uuid.UUID)).Doc("Only the one that was saved with this order."),
		field.UUID("setup", new(uuid.UUID)).Doc("Only the one that was added by this setup."),
	}
}

func (s *paymentMethods) listPaymentMethods(
	ctx context.Context, c route.Call, l projections.Listing,
) (projections.Listed[paymentMethod], error) {
	rows, err := s.callers.Scope(c).Billing().PaymentMethods(ctx, l)
	return record.Map(rows, err, func(row projections.PaymentMethod) paymentMethod { return paymentMethod{PaymentMethod: row} })
}

func (s *paymentMethods) findPaymentMethod(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.paymentMethod(ctx, c))
}

func (s *paymentMethods) removePaymentMethod(ctx context.Context, c route.Call) error {
	m := c.Subject.(*paymentMethod) //nolint:forcetypeassert // found by findPaymentMethod
	return s.subscriptions.RemoveMethod(ctx, c.CauseOf(domain.Versions{billing.PaymentMethodStream(m.ID): m.Version}), m.ID)
}

// A methodChoice says by which saved payment method renewals are charged.
type methodChoice struct{ Method *uuid.UUID }

// Fields are the request.
func (m *methodChoice) Fields() field.Set {
	return field.Set{
		field.NullUUID("payment_method", &m.Method).Required().Doc(
			"A saved payment method of the caller, or of who bought the service; null: renewals are paid on a page.",
		),
	}
}

func (s *subscriptions) chooseRoute() route.Route {
	return subscriptionAction(s, "payment_method", "Choose the saved payment method that renewals are charged by", s.chooseMethod).
		For(s.callers.Confirmed(s.callers.TenantAdmin())).Saying("An invoice that is due is charged at once.")
}

func (s *subscriptions) chooseMethod(ctx context.Context, c route.Call, sub *subscription, q *methodChoice) error {
	if q.Method != nil {
		if err := s.mayCharge(ctx, c, sub, *q.Method); err != nil {
			return err
		}
	}
	return s.subscriptions.ChooseMethod(ctx, changeOf(c, sub), sub.OrderID, domain.OrZero(q.Method))
}

// mayCharge refuses methods of other tenants, and those of people who have neither bought
// the service nor make the call.
func (s *subscriptions) mayCharge(ctx context.Context, c route.Call, sub *subscription, method uuid.UUID) error {
	m, err := s.callers.Scope(c).Billing().PaymentMethod(ctx, method)
	if record.IsMissing(err) || err == nil && m.Tenant != sub.Tenant {
		return domain.RefuseField("payment_method", "There is no such saved payment method.")
	}
	if err != nil || m.Subject == caller.Of(c).Person() {
		return err
	}
	bought, err := s.callers.System().Orders().Order(ctx, sub.OrderID)
	if err == nil && m.Subject != bought.Subject {
		err = domain.RefuseField("payment_method", "The payment method belongs to a person who has not bought this service.")
	}
	return err
}
