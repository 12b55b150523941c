//go:build einvoices

package billing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// To run this test against the published rules, run make einvoices.

// invoiceSeller is who sells in these stories.
var invoiceSeller = billing.Seller{
	Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28001", Country: "ES", TaxID: "ESB12345678",
	Register: "Madrid, T 1, F 2", IBAN: "ES9121000418450200051332", BIC: "CAIXESBB",
}

// invoiceBuyers are a consumer and a business of each sort of place.
func invoiceBuyers() map[string]buyer.Details {
	of := func(country, code, id string) buyer.Details {
		return buyer.Details{Address: "Street 1", City: "City", PostalCode: code, Country: country, TaxID: id}
	}
	return map[string]buyer.Details{
		"at home": of("ES", "48001", ""), "business at home": of("ES", "48001", "ESB87654321"), "person at home": of("ES", "", "12345678Z"),
		"France": of("FR", "69001", ""), "business in France": of("FR", "69001", "FR12345678901"),
		"business in Greece": of("GR", "10431", "EL123456789"), "Finland": of("FI", "00100", ""), "Ireland": of("IE", "D02 X285", ""),
		"Monaco": of("MC", "98000", ""), "business in Monaco": of("MC", "98000", "FR12345678901"),
		"Canary Islands": of("ES", "35001", ""), "business in the Canary Islands": of("ES", "38001", "ESB87654321"),
		"Ceuta": of("ES", "51001", ""), "Melilla": of("ES", "52001", "ESB87654321"), "Åland": of("FI", "22100", "FI12345678"),
		"Guadeloupe": of("FR", "97110", ""), "Réunion": of("RE", "97400", "FR12345678901"), "Livigno": of("IT", "23041", ""),
		"Campione": of("IT", "22061", ""), "Büsingen": of("DE", "78266", "DE123456789"), "Heligoland": of("DE", "27498", ""),
		"Mount Athos": of("GR", "63086", ""), "Madeira": of("PT", "9000-082", ""), "Azores": of("PT", "9500-119", ""),
		"business in Northern Ireland": of("GB", "BT1 1AA", "XI123456789"), "Britain": of("GB", "EC1A 1BB", "GB123456789"),
		"United States": of("US", "02108", ""), "Switzerland": of("CH", "8001", "CHE-123.456.788"), "Australia": of("AU", "2000", ""),
	}
}

var (
	category = regexp.MustCompile(`<cac:TaxCategory>\s*<cbc:ID>(\w+)<`)
	payable  = regexp.MustCompile(`<cbc:PayableAmount[^>]*>([^<]*)<`)
)

// Documents of the stories, and of each sort of buyer in each mode, currency and kind of bill,
// break no rule of the published schematron for UBL. Where it cannot be had, the rules of the
// program are held against them all the same.
func TestEveryDocumentKeepsThePublishedRules(t *testing.T) {
	folder := t.TempDir()
	written := map[string]int{}
	write := func(sort, name string, text []byte) {
		written[sort]++
		written["of category "+category.FindStringSubmatch(string(text))[1]]++
		if due := payable.FindStringSubmatch(string(text)); bytes.Contains(text, []byte("PrepaidAmount")) && due[1] != "0.00" {
			written["paid in part"]++
		}
		file := fmt.Sprintf("%s %03d %s.xml", sort, written[sort], strings.ReplaceAll(name, "/", " "))
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	computed(t, func(name string, text []byte) { write("computed", name, text) })
	for _, mode := range []tax.Mode{tax.Single, tax.Seller, tax.OSS} {
		lived(t, mode, func(name string, text []byte) { write("lived", string(mode)+", "+name, text) })
	}
	if written["lived"] < 60 {
		t.Errorf("the stories made %d documents only", written["lived"])
	}
	for _, sort := range []string{"S", "AE", "O", "E", "Z", "L", "M"} {
		if written["of category "+sort] == 0 {
			t.Errorf("no document is of category %s", sort)
		}
	}
	if written["paid in part"] == 0 {
		t.Error("no document was paid in part when it was issued")
	}
	t.Logf("%d documents of stories, %d computed: %v", written["lived"], written["computed"], written)
	rules := os.Getenv("EN16931_SEF")
	if rules == "" {
		t.Log("not tried: the published schematron of EN 16931 is not here")
		return
	}
	var out, told bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", "check.mjs", rules, folder)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "testdata/einvoices", &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &told)
	}
	var report struct {
		Documents, Rules int
		Broken           []struct{ Document, Rule, Text string }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err, &out)
	}
	if report.Documents != written["lived"]+written["computed"] || report.Rules < 40 {
		t.Errorf("%d documents were read, and %d contexts of rules met one of them", report.Documents, report.Rules)
	}
	for _, b := range report.Broken {
		t.Errorf("%s breaks %s: %s", b.Document, b.Rule, b.Text)
	}
	t.Logf("tried: %d documents, %d contexts of rules", report.Documents, report.Rules)
}

// computed are documents of the commands that bill, for each sort of buyer in each mode, with
// currencies, periods, fees and sellers in turn.
func computed(t *testing.T, write func(name string, text []byte)) {
	t.Helper()
	rates := tax.European().Overruled(tax.Table{
		{Country: "ES-CN", Percent: decimal.NewFromInt(7)},
		{Country: "ES-CE", Percent: decimal.NewFromInt(10)},
		{Country: "CH", Percent: decimal.RequireFromString("8.1")},
		{Country: "AU"},
	})
	exempt, unknown, island := invoiceSeller, invoiceSeller, invoiceSeller
	exempt.Exemption, unknown.TaxID, island.PostalCode = "Exento: artículo 20 de la Ley 37/1992", "", "35001"
	policies := map[string]struct {
		policy tax.Policy
		single string
		seller billing.Seller
	}{
		"single": {tax.Policy{}, "21", invoiceSeller}, "zero": {tax.Policy{}, "0", invoiceSeller}, "exempt": {tax.Policy{}, "0", exempt},
		"without a tax id": {tax.Policy{}, "0", unknown}, "IGIC": {tax.Policy{}, "7", island},
		"seller": {tax.Policy{Mode: tax.Seller, Home: "ES", Rates: tax.European()}, "", invoiceSeller},
		"oss":    {tax.Policy{Mode: tax.OSS, Home: "ES", Rates: rates}, "", invoiceSeller},
	}
	currencies, n := slices.Sorted(maps.Keys(money.Currencies())), 0
	currencies = slices.DeleteFunc(currencies, func(code string) bool { return code == "STN" }) // refused: the rules do not know it yet
	for _, named := range slices.Sorted(maps.Keys(policies)) {
		p := policies[named]
		for _, of := range slices.Sorted(maps.Keys(invoiceBuyers())) {
			n++
			single, _ := decimal.NewFromString(p.single)
			currency, setup, buyer := currencies[n%len(currencies)], decimal.NewFromInt(int64(n%2*5)), invoiceBuyers()[of]
			decided := p.policy.Decide(single, buyer, sagastest.Noon, "system:storefront")
			cost := decided.Totals(decimal.NewFromInt(12), setup, currency, n%3 == 0)
			line := billing.Line{
				Text: "Basic", PeriodStart: sagastest.Noon, PeriodEnd: sagastest.Noon.AddDate(0, 1, 0), Total: cost.Total,
			}
			sold := billing.Issue{
				ID: uuid.New(), Order: uuid.New(), Tenant: 17, SubjectID: uuid.New(), Name: "Ana Ruiz", Company: "Ruiz & Ñandú SL",
				Buyer: buyer, Seller: p.seller, Lines: []billing.Line{line}, Total: cost.Total, Subtotal: cost.Subtotal, Tax: cost.Tax,
				TaxRate: decided.Rate, Treatment: decided.Treatment, Currency: currency, At: sagastest.Noon,
			}
			if n%2 == 0 {
				sold.DueAt = sagastest.Noon.AddDate(0, 0, 14)
				sold.Prepaid = map[int]decimal.Decimal{2: decimal.NewFromInt(3), 4: cost.Total}[n%6] // a part, or all, from the balance
			}
			history, err := billing.Invoices.Decide(billing.Invoice{}, sold)
			if err != nil {
				t.Fatal(named, of, err)
			}
			terms := document.Terms{Language: []string{"en", "es"}[n%2], Due: sold.DueAt, Order: "ORD-1"}
			own := document.OfInvoice(history[0].(billing.InvoiceIssued), terms) //nolint:forcetypeassert // it is the first one
			write(fmt.Sprintf("%s, %s, %s", named, of, currency), xmlOf(t, own))
			notes, err := billing.Invoices.Decide(billing.Invoices.Replay(history...), billing.Credit{
				Invoice: sold.ID, Order: sold.Order, Refund: "re_1", Amount: decimal.NewFromInt(4), At: sagastest.Noon,
			})
			if err != nil {
				t.Fatal(named, of, err)
			}
			if len(notes) == 0 {
				continue // nothing was paid that could go back
			}
			if note, is := notes[0].(billing.CreditNoteIssued); is {
				write(fmt.Sprintf("%s, %s, %s, credit note", named, of, currency), xmlOf(t, document.OfCreditNote(note, own, "")))
			}
		}
	}
}

func xmlOf(t *testing.T, d document.Document) []byte {
	t.Helper()
	text, err := document.XML(d)
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	return text
}

// lived are documents of stories: sold, renewed, paid in part from the balance, waived, refunded,
// and changed to a larger plan, for each sort of buyer.
func lived(t *testing.T, mode tax.Mode, write func(name string, text []byte)) {
	t.Helper()
	rates := tax.European().Overruled(tax.Table{{Country: "ES-CN", Percent: decimal.NewFromInt(7)}})
	policy := tax.Policy{Mode: mode, Home: "ES", Rates: rates}
	w := sagastest.WithPlans(t, plainly, func(o *assembly.Options) { o.Policy.Tax, o.Policy.Seller = policy, invoiceSeller })
	buyers, services, changed := invoiceBuyers(), map[string]uuid.UUID{}, 0
	for n, of := range slices.Sorted(maps.Keys(buyers)) {
		form := sagastest.OrderForm{Kind: "saas", Details: buyers[of], Taxes: policy, Company: []string{"", "Ruiz & Ñandú SL"}[n%2]}
		if n%3 == 0 {
			form.Setup = "5.00"
		}
		id := w.Place(form)
		w.Pay.Pay(id, func(p *order.Payment) { p.Minor = w.Order(id).Minor })
		w.Must(w.Webhook("evt_"+id.String(), id))
		w.Becomes(id, order.StatusActive)
		services[of] = id
		if n%4 == 0 && w.Changes(id, 5, "monthly") == nil {
			w.PaysChange(id)
			changed++
		}
		if n%4 == 1 {
			w.Books(id, "5.00", "ST-"+of)
		}
	}
	if changed == 0 {
		t.Error("no plan was changed")
	}
	for n, of := range slices.Sorted(maps.Keys(services)) {
		id := services[of]
		w.Until(id, "billing.period_invoiced", 1)
		switch open := w.Subscription(id).Open; {
		case open == uuid.Nil || w.Invoice(open).Status != billing.Open:
		case n%4 == 2:
			w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), open, "an outage"))
		case n%4 == 3:
			page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: open})
			w.Must(err)
			paysRest(w, page.ID)
			w.Becomes(page.ID, order.StatusActive)
			w.Must(w.Back(page.ID, "3.00"))
			w.Eventually("the refund is credited", func() bool { return w.Invoice(open).Credited.Total.IsPositive() })
		}
	}
	w.Eventually("every document is stored", func() bool {
		_, err := w.Billing.MakeDocuments(t.Context())
		w.Must(err)
		return w.Count(`select count(*) from invoices where id not in (select invoice from invoice_documents)`) == 0
	})
	for _, of := range slices.Sorted(maps.Keys(services)) {
		for _, i := range w.Invoices(services[of]) {
			stored(w, i, func(number string, text []byte) { write(of+", "+number, text) })
		}
	}
}

// stored reads the XML of an invoice and of its credit notes, as customers fetch it.
func stored(w *sagastest.Renewals, i projections.Invoice, write func(number string, text []byte)) {
	w.T.Helper()
	numbers := []string{i.Number}
	notes, err := w.Tables.For(projections.System).Billing().CreditNotesOfInvoice(w.T.Context(), i.ID)
	w.Must(err)
	for _, n := range notes {
		numbers = append(numbers, n.Number)
	}
	for _, number := range numbers {
		text, err := w.Billing.Document(w.T.Context(), i.ID, number, "xml")
		if err != nil {
			w.T.Errorf("%s: %v", number, err)
			continue
		}
		write(number, text)
	}
}
