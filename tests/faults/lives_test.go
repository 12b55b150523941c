//go:build system

package faults_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas/sagastest"
)

// A life is what becomes of one order: how it is paid, what happens to the
// money then, and what a person makes of it if it is held.
type life struct {
	*market
	chance  *rand.Rand
	bank    bank
	id      uuid.UUID
	session string
	deeds   []string
}

// A deed is one kind of action, with its relative frequency.
type deed struct {
	what  string
	often int
	do    func(*life)
}

var payings = []deed{
	{"pays", 10, func(l *life) { l.bank.pay(l.session) }},
	{"goes away", 1, func(*life) {}},
	{"pays a cent less", 1, func(l *life) { l.bank.payOther(l.session, 1209) }},
	{"pays a cent more", 1, func(l *life) { l.bank.payOther(l.session, 1211) }},
	{"pays through a slow bank", 2, func(l *life) { l.slowly(2000, true) }},
	{"pays through a bank that is too slow", 2, func(l *life) { l.slowly(7000, true) }},
	{"pays through a bank that says no", 1, func(l *life) { l.slowly(1000, false) }},
	{"pays at the last moment", 2, func(l *life) { l.rest(3500, 4300); l.bank.pay(l.session) }},
	{"pays while an operator cancels", 3, func(l *life) { l.together(func() { l.bank.pay(l.session) }, l.cancel) }},
	{"lies", 1, func(l *life) { l.bank.lie(l.session, l.id) }},
	{"lies and pays", 1, func(l *life) { l.bank.lie(l.session, l.id); l.bank.pay(l.session) }},
}

var sequels = []deed{
	{"nothing", 5, func(*life) {}},
	{"an operator gives a part back", 2, func(l *life) { l.refund("2.10") }},
	{"an operator gives two parts back", 1, func(l *life) { l.refund("2.10"); l.refund("3.33") }},
	{"an operator gives all back", 2, func(l *life) { l.refund("") }},
	{"two operators give all back", 2, func(l *life) { l.together(func() { l.refund("") }, func() { l.refund("") }) }},
	{"the bank gives all back", 2, func(l *life) { l.atBank(l.bank.giveBack) }},
	{"bank and operator give all back", 2, func(l *life) { l.together(func() { l.refund("") }, func() { l.atBank(l.bank.giveBack) }) }},
	{"a dispute is lost", 2, func(l *life) { l.dispute(order.DisputeLost) }},
	{"a dispute is won", 1, func(l *life) { l.dispute(order.DisputeWon) }},
	{"a dispute is open", 1, func(l *life) { l.dispute(order.DisputeOpen) }},
	{"an operator cancels", 3, (*life).cancel},
	{"an operator cancels and another gives all back", 2, func(l *life) { l.together(l.cancel, func() { l.refund("") }) }},
}

func (l *life) live() {
	if !l.opens() {
		return
	}
	l.rest(0, 300)
	l.does(payings)
	if l.chance.IntN(3) > 0 {
		l.waits()
	}
	l.rest(0, 300)
	l.does(sequels)
	l.rest(0, 1000)
	if l.chance.IntN(2) == 0 {
		l.decides()
	}
}

// opens comes to the bank's page, however often it takes.
func (l *life) opens() bool {
	for range 20 {
		if s, err := l.Payments.Pages.OpenSession(l.T.Context(), l.id); err == nil {
			l.session = s.ID
			return true
		}
		l.rest(50, 150)
	}
	l.deeds = append(l.deeds, "found the bank closed")
	return false
}

func (l *life) does(deeds []deed) {
	var all int
	for _, d := range deeds {
		all += d.often
	}
	at := l.chance.IntN(all)
	for _, d := range deeds {
		if at -= d.often; at < 0 {
			l.deeds = append(l.deeds, d.what)
			l.tries(func() { d.do(l) })
			return
		}
	}
}

// tries does what may turn out to be too late, or more than there is.
func (*life) tries(what func()) {
	defer func() { _ = recover() }()
	what()
}

func (l *life) together(deeds ...func()) {
	done := make(chan struct{})
	for _, do := range deeds {
		go func() {
			defer func() { done <- struct{}{} }()
			l.tries(do)
		}()
	}
	for range deeds {
		<-done
	}
}

func (l *life) rest(least, most int) {
	select {
	case <-time.After(time.Duration(least+l.chance.IntN(most-least)) * time.Millisecond):
	case <-l.T.Context().Done():
	}
}

// waits is patient until the order runs or has come to an end, for a moment.
func (l *life) waits() {
	for range 20 {
		if l.rests(l.id) {
			return
		}
		l.rest(50, 150)
	}
}

// slowly is a bank that makes up its mind later, when the money has been fetched.
func (l *life) slowly(most int, paid bool) {
	l.bank.payLater(l.session)
	l.rest(300, most)
	l.bank.settle(l.session, paid)
}

// truth is the payment that the bank has, if it is paid. A bank that hangs is asked
// again after a second, as the panel does.
func (l *life) truth() (order.Payment, bool) {
	fetch := func() (order.Fetched, error) {
		ctx, cancel := context.WithTimeout(l.T.Context(), time.Second)
		defer cancel()
		return l.bank.Fetch(ctx, l.session)
	}
	for range 10 {
		f, err := fetch()
		if err != nil {
			continue
		}
		for _, p := range f.Payments {
			if p.State == order.StatePaid {
				return p, true
			}
		}
		return order.Payment{}, false
	}
	return order.Payment{}, false
}

func (l *life) atBank(do func(p order.Payment, session string)) {
	if p, paid := l.truth(); paid && left(p) > 0 {
		do(p, l.session)
	}
}

func (l *life) dispute(state order.DisputeState) {
	l.atBank(func(p order.Payment, session string) { l.bank.dispute(p, session, state) })
	if l.bank.Name() == "paypal" && state == order.DisputeWon {
		_, err := l.Store.Execute(
			l.T.Context(), sagastest.Operator,
			order.DecideDispute{ID: l.id, Outcome: state, Reason: "read at the bank", At: l.Runner.Now()},
		)
		l.isARefusal(err)
	}
}

func (l *life) cancel() {
	l.isARefusal(l.Orders.Cancel(l.T.Context(), sagastest.Operator, l.id, "asked for by mail"))
}

func (l *life) refund(amount string) {
	var exact *decimal.Decimal
	if amount != "" {
		d := decimal.RequireFromString(amount)
		exact = &d
	}
	l.isARefusal(l.Payments.Refund(l.T.Context(), sagastest.Operator, l.id, exact, "goodwill"))
}

// decides what to do about money that is held.
func (l *life) decides() {
	if !l.Order(l.id).OnHold() {
		return
	}
	if l.chance.IntN(2) == 0 {
		l.isARefusal(l.Payments.Accept(l.T.Context(), sagastest.Operator, l.id, "good enough"))
		return
	}
	l.refund("")
}

// isARefusal: operators are refused what cannot be, and nothing else goes wrong.
func (l *life) isARefusal(err error) {
	if _, refused := errors.AsType[*domain.Error](err); err != nil && !refused && !errors.Is(err, eventstore.ErrConflict) {
		l.T.Errorf("order %s: %v", l.id, err)
	}
}
