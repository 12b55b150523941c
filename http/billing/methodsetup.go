package billing

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A payment method is added without a payment on a page of its provider
// (docs/invoices.md, "Adding a payment method").

// addMethod is the form by which an administrator adds a payment method.
const addMethod = "add_method"

// An addition is what its caller agrees to.
type addition struct {
	Method  string
	Consent bool
}

// Fields are the request.
func (a *addition) Fields() field.Set {
	return field.Set{
		field.Text("payment_method", &a.Method).Required().Max(32).Is(field.Plain).Doc(
			"One of those whose provider keeps methods without a payment.",
		),
		field.Flag("consent", &a.Consent).Default(false).Doc(
			"The caller agrees that the provider keeps the method, and that renewals are charged by it. It has to be true.",
		),
	}
}

// A methodSetupPage is where a payment method is added.
type methodSetupPage projections.MethodSetup

// Fields are the answer.
func (a *methodSetupPage) Fields() field.Set {
	return field.Set{
		field.UUID("setup", &a.ID).ReadOnly().Doc("By which the payment method is found once it is saved."),
		field.Text("payment_method", &a.Provider).ReadOnly(),
		field.Text("setup_url", &a.URL).ReadOnly().Doc("The provider's page, on which the caller adds the method."),
		field.Time("expires_at", &a.ExpiresAt).ReadOnly().Doc("When the page is over."),
	}
}

func (s *paymentMethods) addRoute() route.Route {
	return route.Post(paymentMethodsPath, "Get the page where a payment method is added without a payment", s.add).
		As("payment_method_create").Of("Payment method").For(s.callers.Confirmed(s.callers.TenantAdmin())).Caching("no-store").Keeping("").
		Saying(
			"The caller is sent to setup_url. Until that page is finished or over, a repeat answers with the same "+
				"one. Nothing is paid, and no renewal is charged by the method until it is chosen.",
		).
		Failing(http.StatusBadRequest, "The consent is missing, or the provider keeps no methods without a payment.").
		Failing(http.StatusServiceUnavailable, "The payment provider does not answer: repeat the call.")
}

// add sends a member of the tenant to the provider's page. An operator agrees for no customer.
func (s *paymentMethods) add(ctx context.Context, c route.Call, a *addition) (*methodSetupPage, error) {
	who := caller.Of(c)
	offer, usable := s.offers.Configured(a.Method)
	switch {
	case !a.Consent:
		return nil, domain.RefuseField("consent", "The provider keeps a payment method only if you agree.")
	case who.Person() == uuid.Nil:
		return nil, domain.RefuseField("consent", "Only members of the tenant can save a payment method.")
	case !usable:
		return nil, domain.RefuseField("payment_method", field.NotAChoice(a.Method))
	case !offer.Keeps:
		return nil, order.ErrKeepsNone
	}
	id, err := s.setups.SetUpMethod(ctx, c.Cause, billing.AskedSetup{
		Tenant: who.Tenant(), User: who.ID, Subject: who.Subject, Provider: offer.Name, Email: who.Email,
		Language: who.Language, Currency: s.currency,
	})
	if err != nil {
		return nil, err
	}
	row, err := s.callers.System().Billing().MethodSetup(ctx, id)
	return (*methodSetupPage)(&row), err
}

// waysToKeep are the providers that keep a method without a payment. Test money is offered
// where there is no other.
func (s *paymentMethods) waysToKeep() (ways order.Offers) {
	for _, o := range s.offers.For(testMoneyAlone(s.offers)) {
		if o.Keeps {
			ways = append(ways, o)
		}
	}
	return ways
}

// addFormOf is the form of the members who administer the tenant; nil: the reader is none,
// or no provider can do it.
func (s *paymentMethods) addFormOf(c route.Call, ways order.Offers, back *web.Returned) *web.Form {
	if who := caller.Of(c); !who.Administers() || who.Person() == uuid.Nil || len(ways) == 0 {
		return nil
	}
	method := web.Input{Name: "payment_method", Type: "hidden", Value: ways[0].Name}
	if len(ways) > 1 {
		method = web.Input{Name: "payment_method", Type: "select", Required: true}
		for _, o := range ways {
			method.Options = append(method.Options, web.Option{Value: o.Name, Text: methodName(s.offers, web.Readers(c), o.Name)})
		}
	}
	f := s.web.Fill(c, web.Form{Name: addMethod, Action: c.Path, Inputs: append(
		[]web.Input{method, {Name: "consent", Type: "check"}}, s.web.PasswordInputs(c)...,
	)}, back)
	return &f
}

// addByForm sends the reader to the page of the provider.
func (s *paymentMethods) addByForm(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	var asked addition
	if err := web.DecodeForm(&asked, sent); err != nil {
		return nil, err
	}
	if err := s.web.AskUnlessFresh(ctx, c, sent); err != nil {
		return nil, err
	}
	page, err := s.add(ctx, c, &asked)
	if err != nil {
		return nil, err
	}
	d := web.SeeOther(page.URL)
	s.web.RenewUnlessFresh(ctx, c, d)
	return d, nil
}

const setupWait = 3 * time.Second // for what the provider tells

// cameBack is what a person reads who comes back from the provider's page, as the name of a
// text; "": no visitor does. The visit proves nothing: the provider is asked.
func (s *paymentMethods) cameBack(ctx context.Context, c route.Call) (string, error) {
	id, err := uuid.Parse(c.Param("setup"))
	if err != nil {
		return "", nil //nolint:nilerr // it is another visit
	}
	m, err := s.callers.Scope(c).Billing().MethodSetup(ctx, id)
	if record.IsMissing(err) {
		return "", nil
	}
	if err == nil && m.Status == billing.SetupOpen {
		err = s.setups.Hint(ctx, id, "return")
	}
	if err == nil && m.Status == billing.SetupOpen {
		err = waiting.For(ctx, s.changes, setupWait, func(ctx context.Context) (bool, error) {
			m, err = s.callers.System().Billing().MethodSetup(ctx, id)
			return m.Status != billing.SetupOpen, err
		})
	}
	return "method_setup_" + string(m.Status), err
}
