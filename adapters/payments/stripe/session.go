package stripe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// Names of what Stripe keeps for us.
const (
	reference    = "order_id"     // the order's id
	installation = "installation" // of the panel: another one may use the same account
)

// told are the metadata of what is made for an order by an installation.
func told(id uuid.UUID, by string) map[string]string {
	all := map[string]string{reference: id.String()}
	if by != "" {
		all[installation] = by
	}
	return all
}

// OpenSession opens a payment page for exactly the amount that is due, tax
// included (rule S-4). The same effect key answers with the same session; with
// another order or amount it is refused for good. A page can be paid for
// between half an hour and a day. With a saved method there is no page: the
// session is a charge.
func (p *Provider) OpenSession(ctx context.Context, c order.Checkout) (order.Session, error) {
	if c.Saved != nil {
		return p.openCharge(ctx, c)
	}
	s, err := p.client.V1CheckoutSessions.Create(ctx, page(c))
	if err != nil {
		return order.Session{}, failure("open a session", err)
	}
	if s.ID == "" || s.URL == "" {
		return order.Session{}, domain.Fail(domain.Unknown, "garbage", errors.New("stripe, open a session: the answer has none"))
	}
	return order.Session{ID: s.ID, URL: s.URL, ExpiresAt: moment(s.ExpiresAt)}, nil
}

func page(c order.Checkout) *sdk.CheckoutSessionCreateParams {
	ours := told(c.Order, c.Installation)
	q := &sdk.CheckoutSessionCreateParams{
		Mode: sdk.String(sdk.CheckoutSessionModePayment),
		LineItems: []*sdk.CheckoutSessionCreateLineItemParams{{
			Quantity: sdk.Int64(1),
			PriceData: &sdk.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: sdk.String(strings.ToLower(c.Currency)), UnitAmount: sdk.Int64(c.Minor),
				TaxBehavior: sdk.String(sdk.PriceTaxBehaviorInclusive),
				ProductData: &sdk.CheckoutSessionCreateLineItemPriceDataProductDataParams{
					Name: sdk.String(cmp.Or(c.Description, c.Number)),
				},
			},
		}},
		// The customer pays what was ordered, in the currency that was ordered.
		AdaptivePricing: &sdk.CheckoutSessionCreateAdaptivePricingParams{Enabled: sdk.Bool(false)},

		ClientReferenceID: sdk.String(c.Order.String()), Metadata: ours,
		PaymentIntentData: &sdk.CheckoutSessionCreatePaymentIntentDataParams{Metadata: ours, Description: sdk.String(c.Number)},
		SuccessURL:        sdk.String(c.ReturnURL), CancelURL: sdk.String(c.CancelURL),
		Locale: sdk.String(locale(c.Language)), ExpiresAt: sdk.Int64(c.ExpiresAt.Unix()),
	}
	if c.Email != "" {
		q.CustomerEmail = sdk.String(c.Email)
	}
	if c.Save && c.Minor > 0 { // what costs nothing has no payment and no method
		keep(q)
	}
	q.SetIdempotencyKey(c.EffectKey)
	return q
}

// locales are the languages of Stripe's page.
var locales = strings.Fields(`bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR
	ro ru sk sl sv th tr vi zh zh-HK zh-TW`)

// locale is the page's language; one that it does not have is left to the browser.
func locale(language string) string {
	if slices.Contains(locales, language) {
		return language
	}
	if short, _, _ := strings.Cut(language, "-"); slices.Contains(locales, short) {
		return short
	}
	return "auto"
}

// ExpireSession makes sure that the session can no longer be paid. A session
// that is over already, paid or not, is a success; Fetch tells which. Doing it
// twice does no harm, so each try has a key of its own: a failure that Stripe
// has stored would otherwise come back for a day (rule S-6).
func (p *Provider) ExpireSession(ctx context.Context, id string) error {
	if isCharge(id) {
		return p.expireCharge(ctx, id)
	}
	q := &sdk.CheckoutSessionExpireParams{}
	q.SetIdempotencyKey("expire/" + id + "/" + uuid.NewString())
	_, err := p.client.V1CheckoutSessions.Expire(ctx, id, q)
	if err == nil {
		return nil
	}
	expire := failure("expire a session", err)
	if domain.ClassOf(expire) != domain.Permanent {
		return expire
	}
	s, err := p.client.V1CheckoutSessions.Retrieve(ctx, id, nil)
	switch {
	case err != nil:
		return failure("look at a session that does not expire", err)
	case s.Status == sdk.CheckoutSessionStatusComplete, s.Status == sdk.CheckoutSessionStatusExpired:
		return nil
	}
	return expire
}

// moment is a time of Stripe's; zero is none.
func moment(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}
