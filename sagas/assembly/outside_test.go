package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	netmail "net/mail"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
)

// The outside: it keeps what it is told, counts every creation by name, and
// lies when a test tells it to, before or after it has done what was asked.

// lies are told by tests, per call. A nil lie is the truth.
type lies struct {
	mu            sync.Mutex
	before, after func(call, name string) error
}

func (l *lies) tell(before, after func(call, name string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func (l *lies) ask(after bool, call, name string) error {
	l.mu.Lock()
	lie := l.before
	if after {
		lie = l.after
	}
	l.mu.Unlock()
	if lie == nil {
		return nil
	}
	return lie(call, name)
}

type fakeCompute struct {
	lies
	mu   sync.Mutex
	vms  map[string]hosting.VM // by name
	made map[string]int        // by tag
}

func newCompute() *fakeCompute {
	return &fakeCompute{vms: map[string]hosting.VM{}, made: map[string]int{}}
}

func (*fakeCompute) Server() string { return "one" }

func (c *fakeCompute) FindVM(_ context.Context, tag, name string) (hosting.VM, bool, error) {
	if err := c.ask(false, "find", tag); err != nil {
		return hosting.VM{}, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, vm := range c.vms {
		if vm.Tag == tag {
			return vm, true, nil
		}
	}
	vm, ok := c.vms[name]
	return vm, ok, nil
}

func (c *fakeCompute) CreateVM(_ context.Context, vm hosting.VM) (string, error) {
	if err := c.ask(false, "create", vm.Tag); err != nil {
		return "", err
	}
	c.mu.Lock()
	if _, taken := c.vms[vm.Name]; taken {
		c.mu.Unlock()
		return "", domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", vm.Name))
	}
	vm.External, vm.State, vm.Address = "ext-"+vm.Name, "running", "192.0.2.7"
	c.vms[vm.Name] = vm
	c.made[vm.Tag]++
	c.mu.Unlock()
	return vm.External, c.ask(true, "create", vm.Tag)
}

func (c *fakeCompute) SwitchVM(_ context.Context, external string, on bool) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(false, "switch", name); err != nil {
		return err
	}
	c.mu.Lock()
	vm, there := c.vms[name]
	if there {
		vm.State = map[bool]string{true: "running", false: "stopped"}[on]
		c.vms[name] = vm
	}
	c.mu.Unlock()
	if !there {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s is not there", name))
	}
	return c.ask(true, "switch", name)
}

func (c *fakeCompute) RemoveVM(_ context.Context, external string) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(false, "remove", name); err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.vms, name)
	c.mu.Unlock()
	return c.ask(true, "remove", name)
}

// forget loses all machines.
func (c *fakeCompute) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.vms)
}

// state is how a machine stands; "": there is none.
func (c *fakeCompute) state(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vms[name].State
}

// all are the machines by name.
func (c *fakeCompute) all() map[string]hosting.VM {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.vms)
}

func (c *fakeCompute) creations(tag string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made[tag]
}

type fakeMail struct {
	lies
	mu   sync.Mutex
	sent []notice.Mail
}

func newMail() *fakeMail { return &fakeMail{} }

func (m *fakeMail) Send(_ context.Context, mail notice.Mail) error {
	to, err := netmail.ParseAddress(mail.To)
	if err != nil {
		return domain.Fail(domain.Permanent, "malformed", err)
	}
	call := callOf(mail)
	if err := m.ask(false, call, to.Address); err != nil {
		return err
	}
	m.mu.Lock()
	m.sent = append(m.sent, mail)
	m.mu.Unlock()
	return m.ask(true, call, to.Address)
}

// callOf tells letters from notifications, and from the question which tenant an unpaid
// order joins. Whether that is asked depends on how fast the customer pays.
func callOf(mail notice.Mail) string {
	_, isNews := mail.Headers["List-Unsubscribe"]
	switch {
	case isNews:
		return "notify"
	case strings.Contains(mail.Text, order.JoinPath):
		return "offer"
	}
	return "send"
}

// to are the letters that an address has got; news are the notifications, and offers the
// questions which tenant an order joins.
func (m *fakeMail) to(address string) []notice.Mail     { return m.got(address, "send") }
func (m *fakeMail) news(address string) []notice.Mail   { return m.got(address, "notify") }
func (m *fakeMail) offers(address string) []notice.Mail { return m.got(address, "offer") }

func (m *fakeMail) got(address, call string) (mails []notice.Mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mail := range m.sent {
		to, err := netmail.ParseAddress(mail.To)
		if err == nil && to.Address == address && callOf(mail) == call {
			mails = append(mails, mail)
		}
	}
	return mails
}

type fakePayments struct {
	lies
	mu       sync.Mutex
	sessions map[string]order.Fetched
	opened   map[string]int
	captured map[string]int    // by session
	refunded map[string]int    // by reference
	answers  map[string]string // by key: the id of the refund that it made
	stored   map[string]error  // by key: what it will be answered for ever
	keys     []string          // that calls came under
	expired  int
	host     string
	cards    map[string]string // kept, by token: why a charge is refused; "": it is not
	keeping  map[string]string // by session whose card is kept: likewise
	forgot   map[string]int    // by token
}

func newPayments() *fakePayments {
	return &fakePayments{
		sessions: map[string]order.Fetched{}, opened: map[string]int{}, captured: map[string]int{}, refunded: map[string]int{},
		answers: map[string]string{}, stored: map[string]error{}, host: "pay.example.com",
		cards: map[string]string{}, keeping: map[string]string{}, forgot: map[string]int{},
	}
}

func (*fakePayments) Name() string  { return "test" }
func (*fakePayments) Host() string  { return "pay.example.com" }
func (*fakePayments) Live() bool    { return false }
func sessionOf(id uuid.UUID) string { return "cs_" + id.String() }
func (p *fakePayments) reset()      { p.tell(nil, nil) }
func (p *fakePayments) setHost(h string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.host = h
}

func (p *fakePayments) OpenSession(_ context.Context, c order.Checkout) (order.Session, error) {
	if err := p.ask(false, "open", c.EffectKey); err != nil {
		return order.Session{}, err
	}
	if err := p.under(c.EffectKey); err != nil {
		return order.Session{}, err
	}
	if c.Saved != nil {
		return p.openCharge(c)
	}
	p.mu.Lock()
	id := sessionOf(c.Order)
	if c.Save {
		p.keeping[id] = ""
	}
	if _, open := p.sessions[id]; !open {
		p.sessions[id] = order.Fetched{
			Provider: "test", Session: id, Order: c.Order, State: order.SessionOpen, ExpiresAt: c.ExpiresAt,
			Payments: nil,
		}
		p.opened[id]++
	}
	host := p.host
	p.mu.Unlock()
	return order.Session{ID: id, URL: "https://" + host + "/" + id, ExpiresAt: c.ExpiresAt}, p.ask(true, "open", c.EffectKey)
}

func (p *fakePayments) Fetch(_ context.Context, session string) (order.Fetched, error) {
	if err := p.ask(false, "fetch", session); err != nil {
		return order.Fetched{}, err
	}
	p.mu.Lock()
	f, ok := p.sessions[session]
	p.mu.Unlock()
	if !ok {
		return f, domain.Fail(domain.Permanent, "no_session", fmt.Errorf("no session %s", session))
	}
	return f, p.ask(true, "fetch", session)
}

func (p *fakePayments) ExpireSession(_ context.Context, session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.sessions[session]
	if f.State == order.SessionOpen {
		f.State = order.SessionExpired
		p.sessions[session] = f
	}
	p.expired++
	return nil
}

// openings is how often a session was opened for an order.
func (p *fakePayments) openings(id uuid.UUID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened[sessionOf(id)]
}

// pay makes it so that the order's session is paid, as due unless changed.
func (p *fakePayments) pay(id uuid.UUID, change func(*order.Payment)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.sessions[sessionOf(id)]
	payment := order.Payment{ID: "pay_" + id.String(), State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}
	if change != nil {
		change(&payment)
	}
	f.Provider, f.Session, f.Order = "test", sessionOf(id), id
	if refusal, keeps := p.keeping[f.Session]; keeps && payment.State == order.StatePaid {
		payment.Saved = &order.SavedMethod{Customer: "cus_1", Token: "pm_" + id.String(), Kind: "card", Brand: "visa", Last4: "4242", ExpMonth: 3, ExpYear: 2099}
		p.cards[payment.Saved.Token] = refusal
	}
	f.State, f.Payments = order.SessionComplete, append(f.Payments, payment)
	p.sessions[sessionOf(id)] = f
}

// put makes the truth of a session whatever the test wants.
func (p *fakePayments) put(f order.Fetched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[f.Session] = f
}

var signed = map[string][]string{"X-Test-Signature": {"good"}, "Content-Type": {"application/json"}}

func newsBody(event string, id uuid.UUID) []byte {
	body, _ := json.Marshal(order.News{EventID: event, Type: "paid", ObjectRef: sessionOf(id), Order: id, VerifiedBy: "first", Handled: true})
	return body
}

func (p *fakePayments) DisputeTypes() string { return "CUSTOMER.DISPUTE." }

func (p *fakePayments) Verify(raw []byte, header map[string][]string, _ time.Time) (news order.News, err error) {
	if h := header["X-Test-Signature"]; len(h) != 1 || h[0] != "good" {
		return news, domain.Refuse(domain.Invalid, "Invalid signature.")
	}
	return news, json.Unmarshal(raw, &news)
}
