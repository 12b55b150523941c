package paypal

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
)

// A method is added without a payment in two calls. The first makes a setup token, to which
// the customer agrees on PayPal's page. The second makes a payment token of it, once.

// What PayPal is asked for.
type (
	newSetup struct {
		Customer owner `json:"customer"`
		Source   struct {
			PayPal newWallet `json:"paypal"`
		} `json:"payment_source"`
	}
	newWallet struct {
		Usage      string          `json:"usage_type"`
		Several    bool            `json:"permit_multiple_payment_tokens"` // as in [keeping]
		Experience setupExperience `json:"experience_context"`
	}
	setupExperience struct {
		Return   string `json:"return_url"`
		Cancel   string `json:"cancel_url"`
		Locale   string `json:"locale,omitempty"`
		Shipping string `json:"shipping_preference"`
		Vault    string `json:"vault_instruction"`
	}
	newMethod struct {
		Source struct {
			Token tokenID `json:"token"`
		} `json:"payment_source"`
	}
	tokenID struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	}
)

// What PayPal answers.
type (
	setupToken struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Customer owner  `json:"customer"`
		Links    []link `json:"links"`
	}
	methodList struct {
		Customer owner   `json:"customer"`
		Methods  []vault `json:"payment_tokens"`
	}
	// An owner is a customer at PayPal. Each setup makes one of its own.
	owner struct {
		ID        string `json:"id,omitempty"`
		Reference string `json:"merchant_customer_id,omitempty"` // ours: the setup
	}
)

const (
	setupsPath  = "/v3/vault/setup-tokens"
	methodsPath = "/v3/vault/payment-tokens"
)

// setupStates says how far a session is whose setup token has a status.
var setupStates = map[string]order.SessionState{
	"CREATED":               order.SessionOpen,
	"PAYER_ACTION_REQUIRED": order.SessionOpen,
	"APPROVED":              order.SessionApproved,
	"VAULTED":               order.SessionComplete,
	"TOKENIZED":             order.SessionComplete,
}

// A setupID is the session of a setup: PayPal's ids of its token, and of the customer by whom
// the method is found once the token is gone.
type setupID struct{ token, customer string }

var setupIDs = regexp.MustCompile(`^setup\.([0-9A-Za-z_-]{1,36})\.([0-9A-Za-z_-]{1,36})$`)

func (id setupID) String() string { return "setup." + id.token + "." + id.customer }

// setupOf reads the session of a setup.
func setupOf(session string) (id setupID, is bool) {
	parts := setupIDs.FindStringSubmatch(session)
	if parts == nil {
		return id, false
	}
	return setupID{parts[1], parts[2]}, true
}

// OpenSetup makes a setup token and returns the page where the customer agrees to it. The
// same effect key answers with the same one for as long as PayPal remembers it: three hours.
func (p *Provider) OpenSetup(ctx context.Context, c order.Checkout) (order.Session, error) {
	q := question{what: "create setup", method: http.MethodPost, path: setupsPath, key: c.EffectKey, body: askedSetup(c)}
	var made setupToken
	if err := classed(q, p.ask(ctx, q, &made)); err != nil {
		return order.Session{}, err
	}
	id, page := setupID{made.ID, made.Customer.ID}, pageOf(made.Links)
	if _, is := setupOf(id.String()); !is || page == "" {
		return order.Session{}, unclear(q, errors.New("the answer has no setup token, no customer, or no page"))
	}
	expires := c.ExpiresAt
	if expires.IsZero() {
		expires = clock.Now().Add(sessionLife)
	}
	return order.Session{ID: id.String(), URL: page, ExpiresAt: expires}, nil
}

func askedSetup(c order.Checkout) newSetup {
	ask := newSetup{Customer: owner{Reference: told(c.Order.String(), c.Installation)}}
	ask.Source.PayPal = newWallet{Usage: "MERCHANT", Several: true, Experience: setupExperience{
		Return: c.ReturnURL, Cancel: c.CancelURL, Locale: locales[c.Language], Shipping: "NO_SHIPPING", Vault: "ON_CREATE_PAYMENT_TOKENS",
	}}
	return ask
}

// FinishSetup has PayPal keep the method to which the customer has agreed.
func (p *Provider) FinishSetup(ctx context.Context, c order.SetupCall) (*order.SavedMethod, error) {
	q := question{what: "keep a method", method: http.MethodPost, path: methodsPath, key: c.Key}
	id, is := setupOf(c.Session)
	if !is {
		return nil, noSuch(q)
	}
	var body newMethod
	body.Source.Token = tokenID{ID: id.token, Type: "SETUP_TOKEN"}
	q.body = body
	var made vault
	err := p.ask(ctx, q, &made)
	if no, refused := errors.AsType[*refusal](err); refused {
		return nil, no.unkept(q)
	}
	if err != nil {
		return nil, err
	}
	if saved := made.saved(); saved != nil {
		return saved, nil
	}
	return nil, unclear(q, errors.New("the answer has no method"))
}

// unkept is what the refusal to keep a method means. Where the customer has to agree again,
// it is no failure. A token that is used, or gone, is told by the next look.
func (r *refusal) unkept(q question) error {
	failed := r.failure(q)
	switch {
	case r.says("PAYER_ACTION_REQUIRED"):
		return nil
	case r.says(alreadyTokenized), r.gone():
		return domain.Fail(domain.Unknown, "in_progress", failed)
	case r.status == http.StatusUnprocessableEntity:
		return domain.Fail(domain.Permanent, r.code(), failed)
	}
	return failed
}

// fetchSetup reads what PayPal holds for true about a setup. PayPal forgets setup tokens, and
// they never show what was made of them: the methods of their customer do.
func (p *Provider) fetchSetup(ctx context.Context, id setupID) (order.Fetched, error) {
	f := order.Fetched{Provider: p.Name(), Session: id.String(), State: order.SessionExpired, Live: p.Live()}
	q := question{what: "get setup", method: http.MethodGet, path: setupsPath + "/" + id.token}
	var held setupToken
	err := p.ask(ctx, q, &held)
	no, refused := errors.AsType[*refusal](err)
	switch state, known := setupStates[held.Status]; {
	case refused && no.missing():
	case err != nil:
		return order.Fetched{}, classed(q, err)
	case !known || held.ID != id.token:
		return order.Fetched{}, unclear(q, errors.New("the answer is another setup token, or one of a status that is not known"))
	default:
		f.State, f.Order = state, orderOf(held.Customer.Reference)
		if tokens.MatchString(held.Customer.ID) {
			id.customer = held.Customer.ID
		}
	}
	if f.State == order.SessionOpen || f.State == order.SessionApproved {
		return f, nil
	}
	return p.added(ctx, id.customer, f)
}

// added completes a setup by the method that PayPal keeps for its customer, if it does.
func (p *Provider) added(ctx context.Context, customer string, f order.Fetched) (order.Fetched, error) {
	q := question{what: "list methods", method: http.MethodGet, path: methodsPath + "?customer_id=" + customer}
	var list methodList
	err := p.ask(ctx, q, &list)
	if no, refused := errors.AsType[*refusal](err); refused && no.missing() {
		return f, nil
	}
	if err != nil {
		return order.Fetched{}, classed(q, err)
	}
	for _, m := range list.Methods {
		of := orderOf(cmp.Or(m.Customer.Reference, list.Customer.Reference))
		if saved := m.saved(); saved != nil && (f.Order == uuid.Nil || of == uuid.Nil || of == f.Order) {
			saved.Customer = cmp.Or(saved.Customer, customer)
			f.State, f.Saved = order.SessionComplete, saved
			if f.Order == uuid.Nil {
				f.Order = of
			}
			return f, nil
		}
	}
	return f, nil
}
