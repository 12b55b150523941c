package billing

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// paymentMethodPages are what is kept at payment providers for a tenant.
func (s *paymentMethods) pages() []route.Route {
	const path = web.PaymentMethodsPath + "{id:uuid}/"
	pages := web.ActRoutes(web.ActPage[*paymentMethod]{
		Web: s.web, Find: s.paymentMethod, Show: s.showPaymentMethod,
		Acts: []web.Act[*paymentMethod]{{
			Name: "remove_payment_method", IsOpen: func(m *paymentMethod) bool { return m.mayRemove }, Grave: true,
			Leaves: web.PaymentMethodsPath,
			Do: web.Pressed(func(ctx context.Context, c route.Call, _ *paymentMethod, _ *route.Nothing) error {
				return s.removePaymentMethod(ctx, c)
			}),
		}},
	}, path, "payment_method", "Payment method", "A saved payment method", "Remove a saved payment method")
	pages[1] = pages[1].For(caller.AdminSession(s.callers))
	adding := web.FormPage{Forms: map[string]web.FormHandler{addMethod: s.addByForm}, Show: s.showPaymentMethods}
	return append([]route.Route{
		web.View(web.PaymentMethodsPath, "The tenant's saved payment methods", adding.Look).As("payment_methods_page"),
		s.web.Press(web.PaymentMethodsPath, "Add a payment method without a payment", adding).As("payment_methods_form").For(
			caller.AdminSession(s.callers),
		),
	}, pages...)
}

// paymentMethod is the one that the path names.
func (s *paymentMethods) paymentMethod(ctx context.Context, c route.Call) (*paymentMethod, error) {
	row, err := s.callers.Scope(c).Billing().PaymentMethod(ctx, c.UUID("id"))
	return &paymentMethod{row, caller.Of(c).Administers()}, err
}

// list is what is kept at payment providers for a tenant.
func (s *paymentMethods) list() web.List[projections.PaymentMethod] {
	return web.List[projections.PaymentMethod]{
		Web: s.web, Name: "payment_methods", Before: hasTenant, Wide: true,
		Fields: func(m *projections.PaymentMethod) field.Set { return (&paymentMethod{PaymentMethod: *m}).Fields() },
		Cards:  web.Cards{Page: web.PaymentMethodsPath, Title: "kind"},
		Read:   caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.PaymentMethods),
		More: func(c route.Call, m *projections.PaymentMethod, card *web.Card) {
			card.Title = billing.MethodLabel(m.Kind, m.Brand, m.Last4)
			card.Note = web.Texts[web.Readers(c)].Values((&paymentMethod{PaymentMethod: *m}).Fields(), "expires")
		},
	}
}

func (s *paymentMethods) showPaymentMethods(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	said, err := s.cameBack(ctx, c)
	if err != nil {
		return nil, err
	}
	data, err := web.ListData(ctx, c, s.list())
	if err != nil {
		return nil, err
	}
	ways := s.waysToKeep()
	data["Said"], data["Add"] = said, s.addFormOf(c, ways, back)
	d, err := s.web.Sheet(c, back.StatusOf(), "payment_methods", "payment_methods_title", data)
	if err == nil {
		d.FormAction = web.PaymentOrigins(ways, s.publicURL())
	}
	return d, err
}

// showPaymentMethod is the page of a saved payment method, with what it is charged for.
func (s *paymentMethods) showPaymentMethod(
	ctx context.Context, c route.Call, m *paymentMethod, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	charged, err := s.callers.System().Billing().ChargedBy(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	return s.web.Sheet(c, back.StatusOf(), "payment_method", "payment_method_title", map[string]any{
		"Title": billing.MethodLabel(m.Kind, m.Brand, m.Last4), "Charged": web.CardsOf(c, subscriptionList, charged), "Acts": acts,
		"Facts": append(w.Values(m.Fields(), "created_at", "expires"),
			web.Told(web.Aspect{Name: w["payment_method_provider"], Text: methodName(s.offers, web.Readers(c), m.Provider)})...),
	})
}

// subscriptionWithMethods is the one that the path names, with the saved payment methods
// that the reader may choose for it.
func (s *subscriptions) subscriptionWithMethods(ctx context.Context, c route.Call) (*subscription, error) {
	sub, err := s.subscription(ctx, c)
	if err != nil {
		return sub, err
	}
	bought, err := s.callers.System().Orders().Order(ctx, sub.OrderID)
	if err != nil && !record.IsMissing(err) {
		return sub, err
	}
	people := []uuid.UUID{bought.Subject, caller.Of(c).Person()}
	sub.methods, err = s.callers.System().Billing().PaymentMethodsOf(ctx, sub.Tenant, people...)
	if err == nil && sub.SavedMethod != nil {
		var charged projections.PaymentMethod
		if charged, err = s.callers.Scope(c).Billing().PaymentMethod(ctx, *sub.SavedMethod); record.IsMissing(err) {
			return sub, nil
		}
		sub.charged = billing.MethodLabel(charged.Kind, charged.Brand, charged.Last4)
	}
	return sub, err
}

// hasMethods tells whether there is a choice of how renewals are paid.
func hasMethods(sub *subscription) bool {
	return sub.mayChange && sub.Status != billing.Over && (len(sub.methods) > 0 || sub.SavedMethod != nil)
}

// A pressedChoice is the choice of a form, where nothing stands for no method.
type pressedChoice struct{ methodChoice }

// Fields are the form.
func (m *pressedChoice) Fields() field.Set {
	return field.Set{field.NullUUID("payment_method", &m.Method)}
}

func (s *subscriptions) chooseByForm(ctx context.Context, c route.Call, sub *subscription, q *pressedChoice) error {
	return s.chooseMethod(ctx, c, sub, &q.methodChoice)
}

func methodInputs(sub *subscription) []web.Input {
	choice := web.Input{Name: "payment_method", Type: "select", Options: []web.Option{{Value: ""}}}
	for _, m := range sub.methods {
		choice.Options = append(choice.Options, web.Option{Value: m.ID.String(), Text: billing.MethodLabel(m.Kind, m.Brand, m.Last4)})
	}
	if sub.SavedMethod != nil {
		choice.Value = sub.SavedMethod.String()
	}
	return []web.Input{choice}
}

func chargedBy(w web.Words, sub *subscription) web.Aspect {
	if sub.SavedMethod == nil {
		return web.Aspect{}
	}
	return web.Aspect{Name: w["subscription_charged"], Text: sub.charged, Path: web.PaymentMethodsPath + sub.SavedMethod.String() + "/"}
}
