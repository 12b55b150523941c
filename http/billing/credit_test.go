package billing_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// A request that contradicts its invoice books nothing: the payment would be another tenant's.
func TestABookingThatContradictsItsInvoiceIsRefused(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	for said, of := range map[string]string{`"tenant":2`: "tenant", `"currency":"USD"`: "currency"} {
		w := bills(s, "root", "credit-movements/", `{"invoice":"`+own.String()+`",`+said+
			`,"amount":"20.00","payment_method":"bank_transfer","reference":"Statement 12"}`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"`+of+`":[`) {
			t.Errorf("%s: %d %s", said, w.Code, w.Body)
		}
	}
	if w := bills(s, "root", "credit-movements/", `{"invoice":"`+own.String()+
		`","tenant":1,"currency":"EUR","amount":"20.00","payment_method":"bank_transfer","reference":"Statement 12"}`); w.Code !=
		http.StatusCreated {
		t.Errorf("what the invoice says too: %d %s", w.Code, w.Body)
	}
}

// Operators book and pay out. Members of a tenant see its own money alone.
func TestOperatorsBookAndTenantsSeeTheirOwnCredit(t *testing.T) {
	t.Parallel()
	s, _, own, other := indebted(t)
	const transfer = `"amount":"20.00","payment_method":"bank_transfer","reference":"Statement 12"`
	book := `{"invoice":"` + own.String() + `",` + transfer + `}`
	for _, c := range []struct {
		user, body string
		status     int
	}{
		{"ana", book, http.StatusForbidden},
		{"ben", book, http.StatusForbidden},
		{"root", `{` + transfer + `}`, http.StatusBadRequest},
		{"root", `{"tenant":4711,"currency":"EUR",` + transfer + `}`, http.StatusBadRequest},
		{"root", `{"tenant":1,"currency":"euro",` + transfer + `}`, http.StatusBadRequest},
		{"root", strings.Replace(book, "20.00", "0.00", 1), http.StatusBadRequest},
		{"root", strings.Replace(book, `"amount"`, `"received_on":"2999-01-01","amount"`, 1), http.StatusBadRequest},
		{"root", book, http.StatusCreated},
		{"root", book, http.StatusCreated}, // the statement is read in again
	} {
		if w := bills(s, c.user, "credit-movements/", c.body); w.Code != c.status {
			t.Errorf("%s as %s: %d %s, want %d", c.body, c.user, w.Code, w.Body, c.status)
		}
	}
	var shown struct {
		Status string `json:"status"`
		Paid   string `json:"amount_paid"`
		Due    string `json:"amount_due"`
	}
	paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/", "",
		paneltest.Bearer(s.Known["ana"])...), http.StatusOK, &shown)
	if shown.Status != "paid" || shown.Paid != "12.10" || shown.Due != "0.00" {
		t.Errorf("%+v", shown)
	}
	var balances struct {
		Results []struct {
			ID      string `json:"id"`
			Balance string `json:"balance"`
		} `json:"results"`
	}
	paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+"credit/", "", paneltest.Bearer(s.Known["ben"])...),
		http.StatusOK, &balances)
	if len(balances.Results) != 1 || balances.Results[0].Balance != "7.90" {
		t.Fatalf("%+v", balances)
	}
	balance := "credit/" + balances.Results[0].ID + "/"
	if w := bills(s, "root", "credit-movements/",
		`{"invoice":"`+other.String()+`",`+transfer+`}`); w.Code != http.StatusCreated {
		t.Errorf("the same reference of another tenant: %d %s", w.Code, w.Body)
	}
	foreign, movement := s.Credited(t, 2)
	for path, status := range map[string]int{
		balance: http.StatusOK, "credit/" + foreign + "/": http.StatusNotFound,
		"credit-movements/" + movement + "/": http.StatusNotFound,
	} {
		if w := s.Call(http.MethodGet, billingAPI+path, "", paneltest.Bearer(s.Known["ana"])...); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := bills(s, "ana", balance+"pay_out/",
		`{"amount":"1.00","reference":"mine","reason":"mine"}`); w.Code != http.StatusForbidden {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := bills(s, "ana", "credit-movements/"+movement+"/reverse/",
		`{"reason":"mine"}`); w.Code != http.StatusForbidden && w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPaymentsAreBookedOnTheInvoiceAndShownAsCredit(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	page := web.InvoicesPath + own.String() + "/"
	operator, customer := s.Visiting(t, paneltest.Root), s.Visiting(t, paneltest.Ana)
	operator.Get(page)
	paneltest.Refused(t, operator.Send("book_payment", "reference", "Statement 12", "payment_method", "cash", "amount",
		"-1"), http.StatusBadRequest, "above zero")
	paneltest.Goes(t, operator.Send("book_payment", "reference", "Statement 12", "payment_method", "cash", "amount", "5"),
		page)
	paneltest.Has(t, customer.Get(page).Body.String(), "Paid so far", "5.00", "Still to be paid", "7.10")
	operator.Get(page)
	paneltest.Goes(t, operator.Send("book_payment", "reference", "Statement 13", "payment_method", "cash", "amount", "10"),
		page)

	list := customer.Get(web.CreditPath).Body.String()
	paneltest.Has(t, list, "2.90", "test money")
	_, rest, _ := strings.Cut(list, `<h3><a href="`)
	credit, _, _ := strings.Cut(rest, `"`)
	text := customer.Get(credit).Body.String()
	paneltest.Has(t, text, "Payment received", "Used for an invoice", "Statement 12", "2.90", page)
	if strings.Contains(text, "pay_out_credit") || strings.Contains(text, "reverse_booking") {
		t.Error("a customer is offered the forms of operators")
	}
	operator.Get(credit)
	paidOut := []string{"amount", "2.90", "reference", "Transfer 1", "reason", "asked for"}
	paneltest.Refused(t, operator.Twin().Send("pay_out_credit", paidOut...), http.StatusBadRequest, "This field may not be blank.")
	s.KnowsPassword(t, paneltest.Root)
	paneltest.Goes(t, operator.Send("pay_out_credit", append(paidOut, "password", paneltest.Password)...), credit)
	paneltest.Has(t, operator.Get(credit).Body.String(), "Paid out", "asked for", "0.00")
	bookings := strings.Split(operator.Get(credit).Body.String(), `<option value="`)
	id, _, _ := strings.Cut(bookings[len(bookings)-1], `"`)
	paneltest.Refused(t, operator.Send("reverse_booking", "booking", id, "reason", "wrong"), http.StatusConflict,
		"lower than this amount")
}
