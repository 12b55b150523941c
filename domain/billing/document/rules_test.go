package document

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
)

func amountOf(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// sound is an open invoice that keeps all rules.
func sound() Document {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return Document{
		Kind: Invoice, Number: "INV-2026-000001", Issued: at, Due: at.AddDate(0, 0, 14), Currency: "EUR", Language: "en",
		Seller: billing.Seller{Name: "Hoster SL", Country: "ES", TaxID: "ESB12345678"}, Buyer: Buyer{Name: "Ana Ruiz", Country: "ES"},
		Lines: []Line{{
			billing.Line{Text: "Basic", PeriodStart: at, PeriodEnd: at.AddDate(0, 1, 0), Total: amountOf("12.10")},
			amountOf("10"),
		}},
		TaxRate: amountOf("21"), Total: amountOf("12.10"), Subtotal: amountOf("10"), Tax: amountOf("2.10"),
	}
}

func TestADocumentThatBreaksARuleIsRefusedWithItsName(t *testing.T) {
	if err := sound().Check(); err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string]func(*Document){
		"BR-02": func(d *Document) { d.Number = "" },
		"BR-03": func(d *Document) { d.Issued = time.Time{} },
		"BR-05": func(d *Document) { d.Currency = "ZZZ" },
		"BR-06": func(d *Document) { d.Seller.Name = " " },
		"BR-07": func(d *Document) { d.Buyer.Name = "" },
		"BR-09": func(d *Document) { d.Seller.Country = "UK" },
		"BR-11": func(d *Document) { d.Buyer.Country = "" },
		"BR-16": func(d *Document) { d.Lines, d.Subtotal, d.Total, d.Tax = nil, decimal.Zero, decimal.Zero, decimal.Zero },
		"BR-25": func(d *Document) { d.Lines[0].Text = "" },
		"BR-27": func(d *Document) {
			d.Lines = append(d.Lines, d.Lines[0])
			d.Lines[0].Net, d.Lines[1].Net = amountOf("-1"), amountOf("11")
		},
		"BR-55":    func(d *Document) { d.Kind, d.Paid = CreditNote, true },
		"BR-CO-10": func(d *Document) { d.Lines[0].Net = amountOf("9.99") },
		"BR-CO-15": func(d *Document) { d.Total = amountOf("12.11") },
		"BR-CO-17": func(d *Document) { d.Tax, d.Total = amountOf("3.10"), amountOf("13.10") },
		"BR-CO-26": func(d *Document) {
			d.Seller.TaxID, d.TaxRate, d.Tax, d.Total = "", decimal.Zero, decimal.Zero, amountOf("10")
		},
		"BR-S-02": func(d *Document) { d.Seller.TaxID, d.Seller.Register = "", "Madrid, T 1, F 2" },
		"BR-Z-09": func(d *Document) { d.TaxRate, d.Tax, d.Total = decimal.Zero, amountOf("0.30"), amountOf("10.30") },
	} {
		d := sound()
		spoil(&d)
		if err := d.Check(); domain.CodeOf(err) != domain.Conflict || strings.Count(err.Error(), "BR-") != 1 ||
			!strings.Contains(err.Error(), " "+rule+": ") {
			t.Errorf("%s: %v", rule, err)
		}
		if _, err := XML(d); domain.CodeOf(err) != domain.Conflict {
			t.Errorf("%s: written all the same: %v", rule, err)
		}
	}
}

// reversedCharge is an open invoice under reverse charge that keeps all rules.
func reversedCharge() Document {
	d := sound()
	d.TaxKind, d.Buyer.Country, d.Buyer.TaxID = tax.ReverseCharge, "FR", "FR12345678901"
	d.TaxRate, d.Tax, d.Total, d.Lines[0].Total = decimal.Zero, decimal.Zero, amountOf("10"), amountOf("10")
	return d
}

func TestReverseChargeHasItsOwnRules(t *testing.T) {
	if err := reversedCharge().Check(); err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string]func(*Document){
		"BR-AE-02": func(d *Document) { d.Buyer.TaxID = "" },
		"BR-AE-09": func(d *Document) { d.Tax, d.Total = amountOf("0.30"), amountOf("10.30") },
	} {
		d := reversedCharge()
		spoil(&d)
		if err := d.Check(); domain.CodeOf(err) != domain.Conflict || strings.Count(err.Error(), "BR-") != 1 ||
			!strings.Contains(err.Error(), " "+rule+": ") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	sellerless := reversedCharge()
	sellerless.Seller.TaxID, sellerless.Seller.Register = "", "Madrid, T 1, F 2"
	if err := sellerless.Check(); err == nil || !strings.Contains(err.Error(), "EN 16931. BR-AE-02: ") {
		t.Error(err)
	}
	for rule, spoil := range map[string]func(*ubl){
		"BR-AE-05": func(u *ubl) { u.InvoiceLines[0].Category.Percent = "21" },
		"BR-AE-08": func(u *ubl) { u.Tax.Taxable = amount{"EUR", "9.99"} },
		"BR-AE-10": func(u *ubl) { u.Tax.Category.Exempt = "" },
	} {
		u := ublOf(reversedCharge())
		spoil(&u)
		if broken := brokenBy(u); len(broken) != 1 || !strings.HasPrefix(broken[0], rule+": ") {
			t.Errorf("%s: %v", rule, broken)
		}
	}
}

// Some values of the XML are never wrong today. Their rules guard against changes of it.
func TestRulesReadWhatTheXMLHolds(t *testing.T) {
	other := amount{"EUR", "1.23"}
	for rule, spoil := range map[string]func(*ubl){
		"BR-30": func(u *ubl) { u.InvoiceLines[0].Period.Last = "2026-11-20" },
		"BR-CO-13": func(u *ubl) {
			u.Sums.Net, u.Sums.Gross, u.Sums.Due, u.Tax.Taxable = amount{"EUR", "9"}, amount{"EUR", "11.10"},
				amount{"EUR", "11.10"}, amount{"EUR", "9"}
		},
		"BR-CO-14": func(u *ubl) { u.Tax.Part = amount{"EUR", "2.11"} },
		"BR-CO-16": func(u *ubl) { u.Sums.Prepaid = &other },
		"BR-CO-25": func(u *ubl) { u.DueDate = "" },
		"BR-S-08":  func(u *ubl) { u.Tax.Taxable = amount{"EUR", "9.99"} },
	} {
		u := ublOf(sound())
		spoil(&u)
		if broken := brokenBy(u); len(broken) != 1 || !strings.HasPrefix(broken[0], rule+": ") {
			t.Errorf("%s: %v", rule, broken)
		}
	}
}

// The published rules allow a tax that differs by less than one unit of the currency.
func TestATaxMayDifferByLessThanOneUnit(t *testing.T) {
	for tax, kept := range map[string]bool{"1.10": false, "1.11": true, "2.10": true, "3.09": true, "3.10": false} {
		d := sound()
		d.Tax, d.Total = amountOf(tax), d.Subtotal.Add(amountOf(tax))
		if err := d.Check(); (err == nil) != kept {
			t.Errorf("a tax of %s: %v", tax, err)
		}
	}
}

func TestIdentifiersOfVATAreToldFromOtherTaxIDs(t *testing.T) {
	for id, want := range map[string]taxID{
		"ESB12345678":     {"ESB12345678", vat},
		"es-b 1234.5678":  {"ESB12345678", vat},
		"EL123456789":     {"EL123456789", vat},
		"XI123456789":     {"XI123456789", vat},
		"B12345678":       {"B12345678", "TAX"},
		"ZZ123456789":     {"ZZ123456789", "TAX"},
		"UK123456789":     {"UK123456789", "TAX"},
		"12/345/67890":    {"12/345/67890", "TAX"},
		"CHE-123.456.788": {"CHE123456788", vat},
	} {
		if got := taxIDOf(id); *got != want {
			t.Errorf("%s: %v", id, *got)
		}
	}
}
