package sagastest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// A Payments is a payment provider.
type Payments struct {
	Lies
	Mu       sync.Mutex
	Sessions map[string]order.Fetched
	opened   map[string]int
	Captured map[string]int    // by session
	Refunded map[string]int    // by reference
	answers  map[string]string // by key: the id of the refund that it made
	stored   map[string]error  // by key: what it will be answered for ever
	keys     []string          // that calls came under
	expired  int
	host     string
	cards    map[string]string // kept, by token: why a charge is refused; "": it is not
	keeping  map[string]string // by session whose card is kept: likewise
	Forgot   map[string]int    // by token
}

// NewPayments has no sessions.
func NewPayments() *Payments {
	return &Payments{
		Sessions: map[string]order.Fetched{}, opened: map[string]int{}, Captured: map[string]int{}, Refunded: map[string]int{},
		answers: map[string]string{}, stored: map[string]error{}, host: "pay.example.com",
		cards: map[string]string{}, keeping: map[string]string{}, Forgot: map[string]int{},
	}
}

func (*Payments) Name() string { return "test" }
func (*Payments) Host() string { return "pay.example.com" }
func (*Payments) Live() bool   { return false }

// SessionOf is the session of an order.
func SessionOf(id uuid.UUID) string { return "cs_" + id.String() }

// Reset ends all lies.
func (p *Payments) Reset() { p.Tell(nil, nil) }

// SetHost moves the provider's pages.
func (p *Payments) SetHost(h string) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.host = h
}

// OpenSession opens the session of an order, or a charge.
func (p *Payments) OpenSession(ctx context.Context, c order.Checkout) (order.Session, error) {
	if err := p.ask(ctx, false, "open", c.EffectKey); err != nil {
		return order.Session{}, err
	}
	if err := p.under(c.EffectKey); err != nil {
		return order.Session{}, err
	}
	if c.Saved != nil {
		return p.openCharge(c)
	}
	p.Mu.Lock()
	id := SessionOf(c.Order)
	if c.Save {
		p.keeping[id] = ""
	}
	if _, open := p.Sessions[id]; !open {
		p.Sessions[id] = order.Fetched{
			Provider: "test", Session: id, Order: c.Order, State: order.SessionOpen, ExpiresAt: c.ExpiresAt,
			Payments: nil,
		}
		p.opened[id]++
	}
	host := p.host
	p.Mu.Unlock()
	return order.Session{ID: id, URL: "https://" + host + "/" + id, ExpiresAt: c.ExpiresAt}, p.ask(ctx, true, "open", c.EffectKey)
}

// Fetch returns a session with its payments.
func (p *Payments) Fetch(ctx context.Context, session string) (order.Fetched, error) {
	if err := p.ask(ctx, false, "fetch", session); err != nil {
		return order.Fetched{}, err
	}
	p.Mu.Lock()
	f, ok := p.Sessions[session]
	p.Mu.Unlock()
	if !ok {
		return f, domain.Fail(domain.Permanent, "no_session", fmt.Errorf("no session %s", session))
	}
	return f, p.ask(ctx, true, "fetch", session)
}

// ExpireSession ends a session.
func (p *Payments) ExpireSession(_ context.Context, session string) error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	f := p.Sessions[session]
	if f.State == order.SessionOpen {
		f.State = order.SessionExpired
		p.Sessions[session] = f
	}
	p.expired++
	return nil
}

// Openings is how often a session was opened for an order.
func (p *Payments) Openings(id uuid.UUID) int {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.opened[SessionOf(id)]
}

// Pay makes it so that the order's session is paid, as due unless changed.
func (p *Payments) Pay(id uuid.UUID, change func(*order.Payment)) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	f := p.Sessions[SessionOf(id)]
	payment := order.Payment{ID: "pay_" + id.String(), State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}
	if change != nil {
		change(&payment)
	}
	f.Provider, f.Session, f.Order = "test", SessionOf(id), id
	if refusal, keeps := p.keeping[f.Session]; keeps && payment.State == order.StatePaid {
		payment.Saved = &order.SavedMethod{
			Customer: "cus_1", Token: "pm_" + id.String(), Kind: "card", Brand: "visa", Last4: "4242", ExpMonth: 3,
			ExpYear: 2099,
		}
		p.cards[payment.Saved.Token] = refusal
	}
	f.State, f.Payments = order.SessionComplete, append(f.Payments, payment)
	p.Sessions[SessionOf(id)] = f
}

// Put makes the truth of a session whatever the test wants.
func (p *Payments) Put(f order.Fetched) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.Sessions[f.Session] = f
}

// SignedHeader is the header of a webhook whose signature is right.
var SignedHeader = map[string][]string{"X-Test-Signature": {"good"}, "Content-Type": {"application/json"}}

// NewsBody is the body of a webhook about an order.
func NewsBody(event string, id uuid.UUID) []byte {
	body, _ := json.Marshal(
		order.News{EventID: event, Type: "paid", ObjectRef: SessionOf(id), Order: id, VerifiedBy: "first", Handled: true},
	)
	return body
}

// DisputeTypes is how the types of disputes begin.
func (p *Payments) DisputeTypes() string { return "CUSTOMER.DISPUTE." }

// Verify reads a webhook.
func (p *Payments) Verify(raw []byte, header map[string][]string, _ time.Time) (news order.News, err error) {
	if h := header["X-Test-Signature"]; len(h) != 1 || h[0] != "good" {
		return news, domain.Refuse(domain.Invalid, "Invalid signature.")
	}
	return news, json.Unmarshal(raw, &news)
}

// GiveAll makes it so that all was refunded at the provider itself.
func (p *Payments) GiveAll(id uuid.UUID) {
	p.Change(id, func(f *order.Payment) {
		f.Refunds = append(
			f.Refunds,
			order.Refund{ID: "re_" + f.ID, State: order.RefundSucceeded, Minor: f.Minor, Currency: f.Currency, At: time.Now()},
		)
	})
}

// Dispute makes the provider show a dispute of the whole payment.
func (p *Payments) Dispute(id uuid.UUID, state order.DisputeState) {
	p.Change(id, func(f *order.Payment) {
		f.Disputes = []order.Dispute{{ID: "dp_" + f.ID, State: state, Minor: f.Minor, Currency: f.Currency, At: time.Now()}}
	})
}

// openCharge opens a session that charges a kept card, without a page.
func (p *Payments) openCharge(c order.Checkout) (order.Session, error) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if _, kept := p.cards[c.Saved.Token]; !kept {
		return order.Session{}, domain.Fail(domain.Permanent, order.MethodGone, errors.New("no such card"))
	}
	id := SessionOf(c.Order)
	if _, open := p.Sessions[id]; !open {
		p.Sessions[id] = order.Fetched{
			Provider: "test", Session: id, Order: c.Order, State: order.SessionApproved, ByCapture: true, ExpiresAt: c.ExpiresAt,
			Payments: []order.Payment{{ID: id, State: order.StateCreated, Minor: c.Minor, Currency: c.Currency, At: time.Now()}},
		}
		p.opened[id]++
	}
	return order.Session{ID: id, ExpiresAt: c.ExpiresAt}, nil
}

// refuses is why a kept card is not charged; "": it is.
func (p *Payments) refuses(c order.CaptureCall) string {
	if c.Saved == nil {
		return ""
	}
	refusal, kept := p.cards[c.Saved.Token]
	if !kept {
		return order.MethodGone
	}
	return refusal
}

// Forget forgets a saved method.
func (p *Payments) Forget(ctx context.Context, m order.SavedMethod) error {
	if err := p.ask(ctx, false, "forget", m.Token); err != nil {
		return err
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	delete(p.cards, m.Token)
	p.Forgot[m.Token]++
	return nil
}

// Will says what a kept card does when it is charged; order.MethodGone: it disappears.
func (p *Payments) Will(token, refusal string) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if refusal == order.MethodGone {
		delete(p.cards, token)
		return
	}
	p.cards[token] = refusal
}

// Give gives back a part of a payment.
func (p *Payments) Give(id uuid.UUID, refund string, minor int64) {
	p.Change(id, func(f *order.Payment) {
		f.Refunds = append(
			f.Refunds,
			order.Refund{ID: refund, State: order.RefundSucceeded, Minor: minor, Currency: f.Currency, At: time.Now()},
		)
	})
}

// Race pays in a session that may be over; a stubborn customer pays all the same.
func (p *Payments) Race(id uuid.UUID, stubborn bool) {
	p.Mu.Lock()
	open := p.Sessions[SessionOf(id)].State == order.SessionOpen
	p.Mu.Unlock()
	if open || stubborn {
		p.Pay(id, nil)
	}
}

// Kept is what the provider has taken for an order and not given back.
func (p *Payments) Kept(id uuid.UUID) (minor int64) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	for _, pay := range p.Sessions[SessionOf(id)].Payments {
		if pay.State != order.StatePaid {
			continue
		}
		minor += pay.Minor
		for _, r := range pay.Refunds {
			minor -= r.Minor
		}
	}
	return minor
}

// Some providers keep a method only once they are asked for it, after its owner has agreed.

// FinishSetup keeps the card of a setup that its customer has approved.
func (p *Payments) FinishSetup(ctx context.Context, c order.SetupCall) (*order.SavedMethod, error) {
	if err := p.ask(ctx, false, "finish", c.Session); err != nil {
		return nil, err
	}
	p.Adds(uuid.MustParse(strings.TrimPrefix(c.Session, "cs_")))
	p.Mu.Lock()
	p.Captured[c.Session]++
	saved := *p.Sessions[c.Session].Saved
	p.Mu.Unlock()
	return &saved, p.ask(ctx, true, "finish", c.Session)
}

// Approves makes it so that the customer has agreed that the provider keeps a method.
func (p *Payments) Approves(id uuid.UUID) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	f := p.Sessions[SessionOf(id)]
	f.State = order.SessionApproved
	p.Sessions[SessionOf(id)] = f
}

// OpenSetup opens a page on which a card is added.
func (p *Payments) OpenSetup(ctx context.Context, c order.Checkout) (order.Session, error) {
	return p.OpenSession(ctx, c)
}

// Adds makes it so that the customer has added a card on the page of a setup.
func (p *Payments) Adds(id uuid.UUID) (token string) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	f := p.Sessions[SessionOf(id)]
	token = "pm_" + id.String()
	f.Provider, f.Session, f.Order, f.State = "test", SessionOf(id), id, order.SessionComplete
	f.Saved = &order.SavedMethod{Customer: "cus_1", Token: token, Kind: "card", Brand: "visa", Last4: "4242", ExpMonth: 3, ExpYear: 2099}
	p.cards[token] = ""
	p.Sessions[f.Session] = f
	return token
}

// Forgets is how often a card was forgotten.
func (p *Payments) Forgets(token string) int {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.Forgot[token]
}

// The provider's side of captures and refunds: it counts what moves money, and
// answers a key that it has stored a failure under with that failure for ever.

func (p *Payments) under(key string) error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.keys = append(p.keys, key)
	return p.stored[key]
}

// Stores makes the provider answer a key with a mistake of its own for ever.
func (p *Payments) Stores(key string) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.stored[key] = domain.Fail(domain.Unknown, "server_error", ErrLie)
}

// Came tells whether a key was used.
func (p *Payments) Came(key string) bool {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return slices.Contains(p.keys, key)
}

// Approve makes it so that the customer has agreed to pay.
func (p *Payments) Approve(id uuid.UUID, at time.Time) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.Sessions[SessionOf(id)] = order.Fetched{
		Provider: "test", Session: SessionOf(id), Order: id, State: order.SessionApproved, ByCapture: true,
		Payments: []order.Payment{{ID: SessionOf(id), State: order.StateCreated, Minor: 1210, Currency: "EUR", At: at}},
	}
}

// Capture captures an approved payment.
func (p *Payments) Capture(ctx context.Context, c order.CaptureCall) error {
	if err := p.ask(ctx, false, "capture", c.Session); err != nil {
		return err
	}
	if err := p.under(c.Key); err != nil {
		return err
	}
	p.Mu.Lock()
	f := p.Sessions[c.Session]
	minor := int64(1210)
	if c.Saved != nil {
		minor = f.Payments[0].Minor
	}
	if refusal := p.refuses(c); refusal != "" && f.State == order.SessionApproved {
		f.State = order.SessionComplete
		f.Payments = []order.Payment{
			{ID: SessionOf(c.Order), State: order.StateFailed, Minor: minor, Currency: "EUR", Code: refusal, At: time.Now()},
		}
		p.Sessions[c.Session] = f
		p.Mu.Unlock()
		return domain.Fail(domain.Permanent, refusal, errors.New("the card was not charged"))
	}
	if f.State == order.SessionApproved {
		f.State = order.SessionComplete
		f.Payments = append(
			slices.Clone(f.Payments),
			order.Payment{ID: "cap_" + c.Order.String(), State: order.StatePaid, Minor: minor, Currency: "EUR", At: time.Now()},
		)
		p.Sessions[c.Session] = f
		p.Captured[c.Session]++
	}
	p.Mu.Unlock()
	return p.ask(ctx, true, "capture", c.Session)
}

// Refund gives money back.
func (p *Payments) Refund(ctx context.Context, c order.RefundCall) (order.Refund, error) {
	if err := p.ask(ctx, false, "refund", c.Reference); err != nil {
		return order.Refund{}, err
	}
	if err := p.under(c.Key); err != nil {
		return order.Refund{}, err
	}
	r, err := p.giveBack(c)
	if err != nil {
		return order.Refund{}, err
	}
	return r, p.ask(ctx, true, "refund", c.Reference)
}

func (p *Payments) giveBack(c order.RefundCall) (order.Refund, error) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	r := order.Refund{
		ID: "re_" + c.Key, State: order.RefundSucceeded, Minor: c.Minor, Currency: c.Currency, Reference: c.Reference, At: time.Now(),
	}
	if _, made := p.answers[c.Key]; made {
		return r, nil
	}
	f := p.Sessions[c.Session]
	i := slices.IndexFunc(f.Payments, func(pay order.Payment) bool { return pay.ID == c.Payment && pay.State == order.StatePaid })
	if i < 0 {
		return r, domain.Fail(domain.Permanent, "no_such_payment", errors.New("nothing was paid like this"))
	}
	left := f.Payments[i].Minor
	for _, before := range f.Payments[i].Refunds {
		if before.State != order.RefundStopped {
			left -= before.Minor
		}
	}
	if c.Minor > left {
		return r, domain.Fail(domain.Permanent, "amount_too_large", fmt.Errorf("%d are left", left))
	}
	p.answers[c.Key] = r.ID
	p.Refunded[c.Reference]++
	p.Sessions[c.Session] = withPayment(f, i, func(pay *order.Payment) { pay.Refunds = append(pay.Refunds, r) })
	return r, nil
}

// withPayment is a copy of what a session is, with one payment changed.
func withPayment(f order.Fetched, i int, change func(*order.Payment)) order.Fetched {
	f.Payments = slices.Clone(f.Payments)
	f.Payments[i].Refunds, f.Payments[i].Disputes = slices.Clone(f.Payments[i].Refunds), slices.Clone(f.Payments[i].Disputes)
	change(&f.Payments[i])
	return f
}

// Change makes the truth about an order's first payment another one.
func (p *Payments) Change(id uuid.UUID, change func(*order.Payment)) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.Sessions[SessionOf(id)] = withPayment(p.Sessions[SessionOf(id)], 0, change)
}

// Refunds counts how often money was given back under one reference.
func (p *Payments) Refunds(reference string) int {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.Refunded[reference]
}

// Captures is how often an order was captured.
func (p *Payments) Captures(id uuid.UUID) int {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.Captured[SessionOf(id)]
}

// RaceOver is [Payments.Race] over an amount.
func (p *Payments) RaceOver(id uuid.UUID, minor int64) {
	p.Mu.Lock()
	open := p.Sessions[SessionOf(id)].State == order.SessionOpen
	p.Mu.Unlock()
	if open {
		p.Pay(id, func(pay *order.Payment) { pay.Minor = minor })
	}
}
