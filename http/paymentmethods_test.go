package http_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// keepsCard saves a card of a person in a tenant, with the order that was paid by it.
func (s *shop) keepsCard(t testing.TB, tenant int64, person, with uuid.UUID) (card uuid.UUID) {
	t.Helper()
	card = uuid.NewSHA1(with, person[:])
	s.do(t, billing.SaveMethod{ID: card, Tenant: tenant, At: billedAt, Kept: billing.KeptMethod{
		SubjectID: person, Order: with, Provider: "test", Customer: "cus_1", Token: "pm_" + card.String(), Kind: "card", Brand: "visa", Last4: "4242", Expires: "2029-03",
	}})
	return card
}

// buyerOf is the person who has placed an order.
func (s *shop) buyerOf(t testing.TB, id uuid.UUID) uuid.UUID {
	t.Helper()
	o, err := s.Tables.For(projections.System).Order(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return o.Subject
}

// subjectOf is the subject of a user.
func (s *shop) subjectOf(t testing.TB, user int64) uuid.UUID {
	t.Helper()
	found, known, err := s.Tables.For(projections.System).Identity(t.Context(), user)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return found.Subject
}

func (s *shop) chargedBy(t testing.TB, service uuid.UUID) uuid.UUID {
	t.Helper()
	sub, _, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, billing.Advance{Order: service}.Stream())
	if err != nil {
		t.Fatal(err)
	}
	return sub.Method
}

// A card is of use in its own tenant alone, for its owner and for what its owner bought.
func TestASavedCardIsOfUseForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	s, service, _, _ := indebted(t)
	foreign := uuid.NewSHA1(uuid.NameSpaceOID, []byte{2})
	own := s.keepsCard(t, 1, s.buyerOf(t, service), service)
	of := map[string]uuid.UUID{
		"ana": s.keepsCard(t, 1, s.subjectOf(t, ana), service), "ben": s.keepsCard(t, 1, s.subjectOf(t, ben), service),
		"elsewhere": s.keepsCard(t, 2, s.buyerOf(t, service), foreign),
	}
	path := "subscriptions/" + service.String() + "/payment_method/"
	for _, c := range []struct {
		user   string
		card   uuid.UUID
		status int
		says   string
	}{
		{"ben", own, http.StatusForbidden, "permission"},
		{"eve", own, http.StatusForbidden, "permission"},
		{"ana", of["ben"], http.StatusBadRequest, "a person who has not bought"},
		{"ana", of["elsewhere"], http.StatusBadRequest, "no such saved payment method"},
		{"root", of["elsewhere"], http.StatusBadRequest, "no such saved payment method"},
		{"ana", uuid.New(), http.StatusBadRequest, "no such saved payment method"},
		{"ana", of["ana"], http.StatusOK, of["ana"].String()},
		{"ana", own, http.StatusOK, own.String()},
		{"root", own, http.StatusOK, own.String()},
	} {
		w := s.bills(c.user, path, `{"payment_method":"`+c.card.String()+`"}`)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s chooses %s: %d %s", c.user, c.card, w.Code, w.Body)
		}
	}
	if w := s.bills("ana", path, `{}`); w.Code != http.StatusBadRequest {
		t.Errorf("no choice: %d %s", w.Code, w.Body)
	}
	if w := s.bills("ana", path, `{"payment_method":null}`); w.Code != http.StatusOK || s.chargedBy(t, service) != uuid.Nil {
		t.Errorf("no method: %d %s", w.Code, w.Body)
	}
	for user, status := range map[string]int{"ben": http.StatusForbidden, "eve": http.StatusForbidden, "ana": http.StatusNotFound} {
		if w := s.call(http.MethodDelete, billingAPI+"payment-methods/"+of["elsewhere"].String()+"/", "", bearer(s.known[user])...); w.Code != status {
			t.Errorf("%s removes the card of another tenant: %d %s", user, w.Code, w.Body)
		}
	}
	for user, count := range map[string]int64{"ben": 3, "eve": 0, "root": 4} {
		var page struct{ Count int64 }
		decode(t, s.call(http.MethodGet, billingAPI+"payment-methods/", "", bearer(s.known[user])...), http.StatusOK, &page)
		if page.Count != count {
			t.Errorf("%s sees %d cards instead of %d", user, page.Count, count)
		}
	}
	if w := s.call(http.MethodDelete, billingAPI+"payment-methods/"+own.String()+"/", "", bearer(s.known["ana"])...); w.Code != http.StatusNoContent {
		t.Errorf("ana removes a card: %d %s", w.Code, w.Body)
	}
}

// Who pays may agree that the method is kept. An operator agrees for no customer.
func TestTheMethodOfAPaymentIsKeptIfItsPayerAgrees(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	pay := "invoices/" + own.String() + "/pay/"
	if w := s.bills("root", pay, `{"payment_method":"test","save_payment_method":true}`); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Only members of the tenant") {
		t.Errorf("an operator: %d %s", w.Code, w.Body)
	}
	var plain, keeps, again order.Payable
	var answer struct {
		OrderID uuid.UUID `json:"order_id"`
	}
	for body, to := range map[string]*order.Payable{
		`{"payment_method":"test"}`: &plain, `{"payment_method":"test","save_payment_method":true}`: &keeps,
	} {
		decode(t, s.bills("ana", pay, body), http.StatusOK, &answer)
		to.ID = answer.OrderID
	}
	decode(t, s.bills("ana", pay, `{"payment_method":"test","save_payment_method":true}`), http.StatusOK, &answer)
	again.ID = answer.OrderID
	for id, person := range map[uuid.UUID]uuid.UUID{plain.ID: uuid.Nil, keeps.ID: s.subjectOf(t, ana)} {
		o, _, err := eventstore.Fold(t.Context(), s.Store, order.Decider, order.Stream(id))
		if err != nil || o.KeepFor != person {
			t.Errorf("order %s keeps the method for %s instead of %s: %v", id, o.KeepFor, person, err)
		}
	}
	if plain.ID == keeps.ID {
		t.Error("The page of a payment without an agreement keeps the method.")
	}
}

func TestATenantManagesItsSavedCardsInTheBrowser(t *testing.T) {
	t.Parallel()
	s, service, _, _ := indebted(t)
	card := s.keepsCard(t, 1, s.subjectOf(t, ana), service)
	subscription, page := web.SubscriptionsPath+service.String()+"/", web.PaymentMethodsPath+card.String()+"/"
	b := s.visiting(t, ana)
	has(t, b.get(web.PaymentMethodsPath).Body.String(), "visa …4242", "Expires: 2029-03", page)
	form := b.get(subscription).Body.String()
	has(t, form, "How renewals are paid", `<option value="`+card.String()+`">visa …4242</option>`, "Without one, you pay renewals on a page.")
	b.isForEverybody(t, "en", form)
	b.get(subscription)
	goes(t, b.send("choose_method", "payment_method", card.String()), subscription)
	if s.chargedBy(t, service) != card {
		t.Error("The choice was not taken.")
	}
	has(t, b.get(subscription).Body.String(), "Charged by", `<a href="`+page+`">visa …4242</a>`)
	shown := b.get(page).Body.String()
	has(t, shown, "It is charged for", "Start", "2029-03", "Remove")
	b.isForEverybody(t, "en", shown)
	b.get(subscription)
	goes(t, b.send("choose_method", "payment_method", ""), subscription)
	if s.chargedBy(t, service) != uuid.Nil {
		t.Error("The choice was not taken back.")
	}
	has(t, b.get(web.InvoicesPath+s.openInvoiceOf(t, service).String()+"/").Body.String(), "Keep the payment method")
	reads := s.visiting(t, ben).get(page)
	if reads.Code != http.StatusOK || strings.Contains(reads.Body.String(), "Remove") {
		t.Errorf("a member: %d %s", reads.Code, reads.Body)
	}
	b.get(page)
	goes(t, b.send("remove_payment_method"), web.PaymentMethodsPath)
	if w := b.get(page); w.Code != http.StatusNotFound {
		t.Errorf("a card that was removed: %d", w.Code)
	}
	has(t, b.get(web.PaymentMethodsPath).Body.String(), "There is no saved payment method.")
}

// openInvoiceOf is the invoice of a subscription that is not paid.
func (s *shop) openInvoiceOf(t testing.TB, service uuid.UUID) uuid.UUID {
	t.Helper()
	sub, _, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, billing.Advance{Order: service}.Stream())
	if err != nil {
		t.Fatal(err)
	}
	return sub.Open
}
