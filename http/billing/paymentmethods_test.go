package billing_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/web"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// subjectOf is the subject of a user.
func subjectOf(t testing.TB, s *paneltest.Shop, user int64) uuid.UUID {
	t.Helper()
	found, known, err := s.Tables.For(projections.System).Accounts().Identity(t.Context(), user)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return found.Subject
}

func chargedBy(t testing.TB, s *paneltest.Shop, service uuid.UUID) uuid.UUID {
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
	own := s.KeepsCard(t, 1, s.BuyerOf(t, service), service)
	of := map[string]uuid.UUID{
		"ana":       s.KeepsCard(t, 1, subjectOf(t, s, paneltest.Ana), service),
		"ben":       s.KeepsCard(t, 1, subjectOf(t, s, paneltest.Ben), service),
		"elsewhere": s.KeepsCard(t, 2, s.BuyerOf(t, service), foreign),
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
		w := bills(s, c.user, path, `{"payment_method":"`+c.card.String()+`"}`)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s chooses %s: %d %s", c.user, c.card, w.Code, w.Body)
		}
	}
	if w := bills(s, "ana", path, `{}`); w.Code != http.StatusBadRequest {
		t.Errorf("no choice: %d %s", w.Code, w.Body)
	}
	if w := bills(s, "ana", path, `{"payment_method":null}`); w.Code != http.StatusOK ||
		chargedBy(t, s, service) != uuid.Nil {
		t.Errorf("no method: %d %s", w.Code, w.Body)
	}
	for user, status := range map[string]int{
		"ben": http.StatusForbidden, "eve": http.StatusForbidden,
		"ana": http.StatusNotFound,
	} {
		if w := s.Call(http.MethodDelete, billingAPI+"payment-methods/"+of["elsewhere"].String()+"/", "",
			paneltest.Bearer(s.Known[user])...); w.Code != status {
			t.Errorf("%s removes the card of another tenant: %d %s", user, w.Code, w.Body)
		}
	}
	for user, count := range map[string]int64{"ben": 3, "eve": 0, "root": 4} {
		var page struct{ Count int64 }
		paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+"payment-methods/", "", paneltest.Bearer(s.Known[user])...),
			http.StatusOK, &page)
		if page.Count != count {
			t.Errorf("%s sees %d cards instead of %d", user, page.Count, count)
		}
	}
	if w := s.Call(http.MethodDelete, billingAPI+"payment-methods/"+own.String()+"/", "",
		paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusNoContent {
		t.Errorf("ana removes a card: %d %s", w.Code, w.Body)
	}
}

// Who pays may agree that the method is kept. An operator agrees for no customer.
func TestTheMethodOfAPaymentIsKeptIfItsPayerAgrees(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	pay := "invoices/" + own.String() + "/pay/"
	if w := bills(s, "root", pay, `{"payment_method":"test",`+
		`"save_payment_method":true}`); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "Only members of the tenant") {
		t.Errorf("an operator: %d %s", w.Code, w.Body)
	}
	var plain, keeps, again order.Payable
	var answer struct {
		OrderID uuid.UUID `json:"order_id"`
	}
	for body, to := range map[string]*order.Payable{
		`{"payment_method":"test"}`: &plain, `{"payment_method":"test","save_payment_method":true}`: &keeps,
	} {
		paneltest.Decode(t, bills(s, "ana", pay, body), http.StatusOK, &answer)
		to.ID = answer.OrderID
	}
	paneltest.Decode(t, bills(s, "ana", pay, `{"payment_method":"test","save_payment_method":true}`), http.StatusOK,
		&answer)
	again.ID = answer.OrderID
	for id, person := range map[uuid.UUID]uuid.UUID{plain.ID: uuid.Nil, keeps.ID: subjectOf(t, s, paneltest.Ana)} {
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
	card := s.KeepsCard(t, 1, subjectOf(t, s, paneltest.Ana), service)
	subscription, page := web.SubscriptionsPath+service.String()+"/", web.PaymentMethodsPath+card.String()+"/"
	s.KnowsPassword(t, paneltest.Ana)
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(web.PaymentMethodsPath).Body.String(), "visa …4242", "Expires: 2029-03", page)
	form := b.Get(subscription).Body.String()
	paneltest.Has(t, form, "How renewals are paid", `<option value="`+card.String()+`">visa …4242</option>`,
		"Without one, you pay renewals on a page.")
	b.IsForEverybody(t, "en", form)
	b.Get(subscription)
	paneltest.Refused(t, b.Twin().Send("choose_method", "payment_method", card.String()), http.StatusBadRequest,
		"This field may not be blank.")
	paneltest.Refused(t, b.Twin().Send("choose_method", "payment_method", card.String(), "password", "guessed"),
		http.StatusBadRequest, "The current password is wrong.")
	if chargedBy(t, s, service) != uuid.Nil {
		t.Error("A card is charged by a browser whose user did not give the password.")
	}
	paneltest.Goes(t, b.Send("choose_method", "payment_method", card.String(), "password", paneltest.Password), subscription)
	if chargedBy(t, s, service) != card {
		t.Error("The choice was not taken.")
	}
	paneltest.Has(t, b.Get(subscription).Body.String(), "Charged by", `<a href="`+page+`">visa …4242</a>`)
	shown := b.Get(page).Body.String()
	paneltest.Has(t, shown, "It is charged for", "Start", "2029-03", "Remove")
	b.IsForEverybody(t, "en", shown)
	b.Get(subscription)
	paneltest.Goes(t, b.Send("choose_method", "payment_method", ""), subscription)
	if chargedBy(t, s, service) != uuid.Nil {
		t.Error("The choice was not taken back.")
	}
	paneltest.Has(t, b.Get(web.InvoicesPath+openInvoiceOf(t, s, service).String()+"/").Body.String(),
		"Keep the payment method")
	reads := s.Visiting(t, paneltest.Ben).Get(page)
	if reads.Code != http.StatusOK || strings.Contains(reads.Body.String(), "Remove") {
		t.Errorf("a member: %d %s", reads.Code, reads.Body)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("remove_payment_method"), web.PaymentMethodsPath)
	if w := b.Get(page); w.Code != http.StatusNotFound {
		t.Errorf("a card that was removed: %d", w.Code)
	}
	paneltest.Has(t, b.Get(web.PaymentMethodsPath).Body.String(), "There is no saved payment method.")
}

// openInvoiceOf is the invoice of a subscription that is not paid.
func openInvoiceOf(t testing.TB, s *paneltest.Shop, service uuid.UUID) uuid.UUID {
	t.Helper()
	sub, _, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, billing.Advance{Order: service}.Stream())
	if err != nil {
		t.Fatal(err)
	}
	return sub.Open
}
