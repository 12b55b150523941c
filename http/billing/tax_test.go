package billing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/tax"
	"hostpanel/http/web"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// What an order costs, and why, follows from where the buyer is. The price of the plan is
// the same for all.
func TestAnOrderIsTaxedByItsBuyer(t *testing.T) {
	t.Parallel()
	const reversed, spanish = "reverse_charge FR 0: 2.47 + 0.00, system:storefront", "standard ES 21: 2.47 + 0.52, "
	for mode, sold := range map[tax.Mode]map[string]string{
		tax.Single: {
			``: "  21: 2.47 + 0.52, ",
			`"customer_country":"FR","customer_tax_id":"FR12345678901",`: "  21: 2.47 + 0.52, ",
		},
		tax.Seller: {
			``: spanish, `"customer_country":"FR",`: spanish,
			`"customer_country":"fr","customer_tax_id":"fr 12 345678901",`: reversed,
		},
		tax.OSS: {
			``: spanish, `"customer_country":"FR",`: "oss FR 20: 2.49 + 0.50, ",
			`"customer_country":"FR","customer_tax_id":"FR12345678901",`: reversed,
			`"customer_country":"ES","customer_tax_id":"no-form",`:       spanish,
		},
	} {
		s := paneltest.Open(t).Stock(t).TaxedBy(mode)
		for buyer, want := range sold {
			a := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(paneltest.HostingOrder, "{", "{"+buyer, 1)))
			o, err := s.For(projections.System).Orders().OrderByNumber(t.Context(), a.Number)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s %s %s: %s + %s, %s", o.TaxKind, o.TaxCountry, o.TaxRate, o.Subtotal.StringFixed(2),
				o.Tax.StringFixed(2), o.TaxIDAcceptedBy)
			if got != want || !o.Price.Equal(paneltest.Price("2.99")) || o.Minor != o.Total.Shift(2).IntPart() {
				t.Errorf("%s, %s: %s, %d at the provider; want %s", mode, buyer, got, o.Minor, want)
			}
			view := s.Call(http.MethodGet, "/storefront/api/orders/"+o.ID.String()+"/", "", "X-API-Key", s.Known["key"])
			paneltest.Has(t, view.Body.String(), `"price":"2.9900"`, `"tax_rate":"`+o.TaxRate.StringFixed(2)+`"`,
				`"subtotal":"`+o.Subtotal.StringFixed(2)+`"`, `"total":"`+o.Total.StringFixed(2)+`"`)
		}
	}
}

// A tax id on which the tax depends has the form of its country. Of others no form is asked.
func TestATaxIDThatDecidesHasTheFormOfItsCountry(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).TaxedBy(tax.Seller)
	for _, id := range []string{"12345678901", "DE123456789", "FR1234567890"} {
		w := s.Order(t, http.StatusBadRequest,
			strings.Replace(paneltest.HostingOrder, "{", `{"customer_country":"FR","customer_tax_id":"`+id+`",`, 1))
		const want = `{"customer_tax_id":["Enter a valid VAT identification number of FR, such as FR12345678901."]}`
		if w.Body.String() != want {
			t.Errorf("%s: %s", id, w.Body)
		}
	}
	s.TaxedBy(tax.Single).Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"customer_country":"FR","customer_tax_id":"12345678901",`, 1))
}

// Superusers see with an order how it is taxed, and who took the tax id for proof.
func TestOperatorsSeeHowAnOrderIsTaxed(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).People(t).TaxedBy(tax.Seller)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"customer_country":"FR","customer_tax_id":"FR12345678901",`, 1)))
	w := s.Call(http.MethodGet, "/operations/api/v1/orders/"+a.ID+"/", "", paneltest.Bearer(s.Known["root"])...)
	paneltest.Has(t, w.Body.String(), `"tax_rate":"0.00","tax_kind":"reverse_charge","tax_country":"FR",`+
		`"tax_id_accepted_by":"system:storefront","subtotal":"2.47"`, `"total":"2.47"`)
}

// A business sees in the browser, in the API and in each form of the document that it owes
// the tax itself.
func TestAnInvoiceUnderReverseChargeSaysSo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	bought, _ := s.Billed(t, 1)
	id := uuid.New()
	s.Do(t, billing.Issue{
		ID: id, Order: bought, Tenant: 1, SubjectID: uuid.New(), Name: "Ana Ruiz", Company: "Ruiz SARL",
		Seller: paneltest.Hoster,
		Buyer:  buyer.Details{City: "Lyon", Country: "FR", TaxID: "FR12345678901"},
		Lines:  []billing.Line{{Text: "Start", Total: paneltest.Price("10")}},
		Total:  paneltest.Price("10"), Subtotal: paneltest.Price("10"), Tax: paneltest.Price("0"),
		TaxRate: paneltest.Price("0"), Currency: "EUR", At: paneltest.BilledAt,
		Treatment: tax.Treatment{
			TaxKind: tax.ReverseCharge, TaxCountry: "FR", TaxRemoved: paneltest.Price("21"),
			TaxIDAcceptedBy: "system:storefront",
		},
	})
	s.Do(t, billing.Credit{
		Invoice: id, Order: bought, Refund: "re_9", Amount: paneltest.Price("4"),
		At: paneltest.BilledAt,
	})
	s.Documented(t)
	var note uuid.UUID
	if err := s.Owner.QueryRow(t.Context(), `select id from credit_notes where refund = 're_9'`).Scan(&note); err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		return s.Call(http.MethodGet, path, "", paneltest.Bearer(s.Known["ben"])...).Body.String()
	}
	for _, path := range []string{"invoices/" + id.String() + "/", "credit-notes/" + note.String() + "/"} {
		paneltest.Has(t, get(billingAPI+path),
			`"tax":"0.00","tax_rate":"0.00","tax_kind":"reverse_charge","tax_country":"FR","tax_id_accepted_by":"system:storefront"`)
		paneltest.Has(t, get(billingAPI+path+"document/?format=html"), "Inversión del sujeto pasivo", "ESB12345678",
			"FR12345678901")
		paneltest.Has(t, get(billingAPI+path+"document/?format=xml"), "<cbc:ID>AE</cbc:ID>", "VATEX-EU-AE", "FR12345678901")
	}
	s.Do(t, paneltest.Speaks(paneltest.Ben, "en"))
	paneltest.Has(t, s.Visiting(t, paneltest.Ben).Get(web.InvoicesPath+id.String()+"/").Body.String(), "Tax note",
		"Reverse charge", "Tax (0%)", "€10.00")
}

// A buyer outside the union reads in the browser and in each form of the document why there is no
// tax. The XML has no VAT identifier.
func TestAnInvoiceOutsideTheUnionSaysWhyItBearsNoTax(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	bought, _ := s.Billed(t, 1)
	id := uuid.New()
	s.Do(t, billing.Issue{
		ID: id, Order: bought, Tenant: 1, SubjectID: uuid.New(), Name: "Ann Lee", Seller: paneltest.Hoster,
		Buyer: buyer.Details{City: "Belfast", Country: "GB", TaxID: "XI123456789"},
		Lines: []billing.Line{{Text: "Start", Total: paneltest.Price("10")}},
		Total: paneltest.Price("10"), Subtotal: paneltest.Price("10"), Tax: paneltest.Price("0"),
		TaxRate: paneltest.Price("0"), Currency: "EUR", At: paneltest.BilledAt,
		Treatment: tax.Treatment{TaxKind: tax.Outside, TaxCountry: "GB", TaxRemoved: paneltest.Price("21")},
	})
	s.Documented(t)
	get := func(path string) string {
		return s.Call(http.MethodGet, path, "", paneltest.Bearer(s.Known["ben"])...).Body.String()
	}
	invoice := billingAPI + "invoices/" + id.String() + "/"
	paneltest.Has(t, get(invoice), `"tax":"0.00","tax_rate":"0.00","tax_kind":"outside","tax_country":"GB"`)
	paneltest.Has(t, get(invoice+"document/?format=html"), "No sujeto a IVA", "2006/112/CE")
	xml := get(invoice + "document/?format=xml")
	paneltest.Has(t, xml, "<cbc:ID>O</cbc:ID>", "VATEX-EU-O", "No sujeto a IVA", "<cbc:CompanyID>B12345678</cbc:CompanyID>")
	for _, absent := range []string{"PartyTaxScheme", "ESB12345678", "XI123456789", "<cbc:Percent>"} {
		if strings.Contains(xml, absent) {
			t.Errorf("the XML has %s:\n%s", absent, xml)
		}
	}
	s.Do(t, paneltest.Speaks(paneltest.Ben, "en"))
	paneltest.Has(t, s.Visiting(t, paneltest.Ben).Get(web.InvoicesPath+id.String()+"/").Body.String(), "Tax note",
		"Not subject to VAT", "€10.00")
}
